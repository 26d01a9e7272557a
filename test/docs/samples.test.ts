import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import ts from 'typescript';
import { MoneyClient } from '../../packages/client/src/index.js';
import { describeApi } from '../../scripts/docs/described-api.js';
import type { Route } from '../../src/http/route.js';
import { EXAMPLE } from '../../src/http/zod.js';
import { type Sample, samplesOf } from '../../scripts/docs/site/reference/samples.js';
import { LiveService } from '../client/live.js';
import { ROOT } from '../helpers/service-process.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { blockOf, isHere, WRITTEN_PAGES } from './blocks.js';
import { LossyGateway } from './lossy-gateway.js';

const LOCAL = 'http://127.0.0.1:9'; // Resolves on every machine.
const CSV = 'recipient,amount,asset\n$bruno,150000,COPM\n';
const SUPPLIERS = `country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset
CO,0007,savings,4567891234099,Luz Rojas,79456123,150000,COPM
`;
const GUARDED = { raw: 1_000_000n, asset: 'COPM' } as const; // Needs an approval.
const BANK_ACCOUNT = {
  type: 'bank_account',
  country: 'CO',
  bank_code: '0007',
  account_type: 'savings',
  account_number: '456789123400',
  holder_name: 'Luz Rojas',
  holder_document: '79456123',
} as const;
/** Fails on an error of the API, and replaces what a bare machine may lack. */
const SHELL = `set -euo pipefail
command -v uuidgen >/dev/null || uuidgen() { "$NODE" -p 'crypto.randomUUID()'; }
curl() { command curl -sS --fail-with-body "$@"; }
`;

const run = promisify(execFile);
const api = await describeApi({});
const document = api.openApi;
const methodOf = ({ method }: Route) => method.toLowerCase() as Lowercase<Route['method']>;
const samples = new Map<string, readonly Sample[]>(
  api.routes.map((route) => {
    const operation = document.paths[route.path]?.[methodOf(route)];
    assert.ok(operation !== undefined);
    return [route.operationId, samplesOf(route, operation, document.components.schemas)] as const;
  }),
);

/** The programs of the guides, which run like those of the reference, and what each prints. */
const PROGRAMS: Readonly<Record<string, RegExp>> = {
  'first-transfer': /^[0-9a-f-]{36} completed$/m,
  approvals: /^([0-9a-f-]{36}) pending_approval\n\1 completed$/m,
  batches: /^[0-9a-f-]{36} completed\n[^]*,paid,/m,
  payouts: /^[0-9a-f-]{36} completed$/m,
  keys: /^Ana M\*\*\* P\*\*\*\n[0-9a-f-]{36} completed$/m,
  'payout-batches': /^[0-9a-f-]{36} ready 3,253\.2[0-9] COPM$/m,
  'payout-batches-execute': /[0-9a-f-]{36} completed [^]*completed['"]?: ?2\b/,
  statements: /^[0-9a-f-]{36} ready\n[^]*closing_balance/m,
  filters: /^[0-9a-f-]{36} \d+n?$/m,
  metadata: /^[0-9a-f-]{36} .*A-17.*yes/m,
  capture: /^[0-9a-f-]{36} held\ncompleted 350000n?$/m,
  schedules: /^[0-9a-f-]{36} active \d{4}-\d{2}-01T14:00:00/m,
  follow: /^\d+ [a-z_]+\.[a-z_]+ [0-9a-f-]{36}$/m,
  access: /^[0-9a-f-]{36} viewer 1$/m,
};
/** Programs that store one order, and the file that holds its key. */
const STORED: Readonly<Record<string, string>> = {
  'first-transfer': 'transfer-1042.key',
  approvals: 'order-1043.json',
  payouts: 'payout-1042.key',
  keys: 'payout-1043.json',
  metadata: 'invoice-A-17.key',
  schedules: 'rent.json',
};
const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
for (const program of Object.keys(PROGRAMS)) {
  const read = (ending: string) => readFileSync(`docs/site/programs/${program}.${ending}`, 'utf8');
  samples.set(program, [
    { name: 'TypeScript', language: 'typescript', text: read('mts') },
    { name: 'Python', language: 'python', text: read('py') },
    { name: 'Go', language: 'go', text: read('go') },
  ]);
}

function textOf(operation: string, name: Sample['name']): string {
  const sample = samples.get(operation)?.find((one) => one.name === name);
  assert.ok(sample !== undefined);
  return sample.text;
}

/** The samples of the guides' requests in TypeScript, by page and operation. */
function guideSamples(): (readonly [name: string, text: string])[] {
  return WRITTEN_PAGES.flatMap((page) => {
    const marked = readFileSync(page, 'utf8').matchAll(/^```sh (\w+)\n([^]*?)^```$/gm);
    return Array.from(marked, ([, id, command]) => {
      const route = api.routes.find(({ operationId }) => operationId === id);
      const operation = route && document.paths[route.path]?.[methodOf(route)];
      assert.ok(route !== undefined && operation !== undefined, id);
      const all = samplesOf(route, operation, document.components.schemas, command);
      const typeScript = all.find(({ name }) => name === 'TypeScript');
      return [`${basename(page, '.md')}-${id}`, typeScript?.text ?? ''] as const;
    });
  });
}

const packageOf = (operation: string): string => operation.replaceAll('-', '');

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString();

/** The samples of the reference run as programs, and the service accepts their requests. */
describe('the samples of the reference', () => {
  let live: LiveService;
  let owner: MoneyClient;
  let endpoint: string;
  let startedAt: number;

  before(async () => {
    live = await LiveService.start();
    startedAt = Date.now();
    owner = new MoneyClient({ baseUrl: live.baseUrl, token: live.token() });
    const hook = { url: `${LOCAL}/hooks`, events: ['transfer.completed' as const] };
    endpoint = (await owner.createWebhookEndpoint(hook)).id;
    writeFileSync(join(live.folder, 'payroll.csv'), CSV);
    writeFileSync(join(live.folder, 'suppliers.csv'), SUPPLIERS);
    writeFileSync(join(live.folder, 'package.json'), '{"type": "module"}');
  });
  after(async () => {
    await assertLedgerSound(live.db.database);
    await live.stop();
  });

  let names = 0;
  const transferFrom = async (
    source: string,
    amount: { raw: bigint; asset: 'COPM' },
    capture: 'automatic' | 'manual' = 'automatic',
  ) =>
    owner.createTransfer({
      source_account: live.account(source),
      destination: { type: 'account', account_id: live.account('ana') },
      amount,
      capture,
    });
  const transfer = async () =>
    (await transferFrom('treasury', { raw: 150_000n, asset: 'COPM' })).id;
  const bonus = async () => (await owner.listBonuses().page()).items[0]?.id ?? '';
  const newBonus = async () => {
    const payment = {
      source_account: live.account('treasury'),
      amount: { raw: 150_000n, asset: 'COPM' },
    } as const;
    const recipient = { account_id: live.account('ana') };
    return (await owner.createBonus({ ...payment, recipient })).id;
  };
  const heldTransfer = async () =>
    (await transferFrom('treasury', { raw: 150_000n, asset: 'COPM' }, 'manual')).id;
  const activeSchedule = async () => {
    const transfer = {
      source_account: live.account('treasury'),
      destination: { type: 'account' as const, account_id: live.account('ana') },
      amount: { raw: 150_000n, asset: 'COPM' as const },
    };
    return (await owner.createSchedule({ transfer, starts_at: tomorrow() })).id;
  };
  const pausedSchedule = async () => (await owner.pauseSchedule(await activeSchedule())).id;
  const pendingTransfer = async () => (await transferFrom('guarded', GUARDED)).id;
  const pendingPayout = async () => {
    const source = live.account('guarded');
    const order = { source_account: source, destination: BANK_ACCOUNT, amount: GUARDED };
    return (await owner.createPayout(order)).id;
  };
  const batchOf = async (text: string, status: string) => {
    const form = { source_account: live.account('treasury'), file: new Blob([text]) };
    const { id } = await owner.uploadBonusBatch(form);
    await until(`the batch is ${status}`, async () => {
      const batch = await owner.getBonusBatch(id);
      return batch.status === status || null;
    });
    return id;
  };
  const readyBatch = () => batchOf(CSV, 'ready');
  const paidBatch = async () => {
    const id = await readyBatch();
    await owner.executeBonusBatch(id);
    await until('the result exists', async () => (await owner.getBonusBatch(id)).files.result_url);
    return id;
  };
  const payoutBatchOf = async (text: string, status: string) => {
    const form = { source_account: live.account('treasury'), file: new Blob([text]) };
    // The member who runs the sample must not have uploaded the file.
    const uploader = new MoneyClient({ baseUrl: live.baseUrl, token: live.token('operator') });
    const { id } = await uploader.uploadPayoutBatch(form);
    await until(`the batch is ${status}`, async () => {
      const batch = await owner.getPayoutBatch(id);
      return batch.status === status || null;
    });
    return id;
  };
  const readySuppliers = () => payoutBatchOf(SUPPLIERS, 'ready');
  const paidSuppliers = async () => {
    const id = await readySuppliers();
    await owner.executePayoutBatch(id);
    await until('the result exists', async () => (await owner.getPayoutBatch(id)).files.result_url);
    return id;
  };
  const statement = async (): Promise<string> => {
    await sleep(Math.max(0, startedAt + 16_000 - Date.now()));
    const { id } = await owner.createStatement({
      ...{ account_id: live.account('treasury'), asset: 'COPM' },
      ...{
        from: new Date(startedAt - 86_400_000).toISOString(),
        to: new Date(startedAt).toISOString(),
      },
    });
    await until(
      'it is ready',
      async () => (await owner.getStatement(id)).status === 'ready' || null,
    );
    return id;
  };
  const requestId = async (): Promise<string> => {
    const response = await fetch(`${live.baseUrl}/v1/webhook_endpoints/${endpoint}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${live.token()}`, 'content-type': 'application/json' },
      body: '{"status": "enabled"}',
    });
    const id = response.headers.get('svc-request-id') ?? '';
    await until('it is recorded', () => owner.getRequest(id).catch(() => null));
    return id;
  };
  const member = async (): Promise<string> =>
    (await owner.createMember({ name: `member ${++names}` })).id;
  const theEndpoint = (): Promise<string> => Promise.resolve(endpoint);

  /** Makes the resource that an operation needs, and returns its id. */
  const RESOURCES: Readonly<Record<string, () => Promise<string>>> = {
    ...{ getTransfer: transfer, updateTransfer: transfer, updatePayout: pendingPayout },
    ...{ captureTransfer: heldTransfer, refundTransfer: transfer, refundBonus: newBonus },
    ...{ getSchedule: activeSchedule, pauseSchedule: activeSchedule },
    ...{ resumeSchedule: pausedSchedule, cancelSchedule: activeSchedule },
    ...{ approveTransfer: pendingTransfer, rejectTransfer: pendingTransfer },
    ...{ cancelTransfer: pendingTransfer, getPayout: pendingPayout, approvePayout: pendingPayout },
    ...{ rejectPayout: pendingPayout, cancelPayout: pendingPayout },
    ...{ getBonus: bonus, updateBonus: bonus },
    ...{ deleteMember: member, setRole: member, deleteRole: member, createToken: member },
    deleteToken: async () => {
      const request = { member_id: await member(), scopes: ['read' as const], name: 'a server' };
      return (await owner.createToken(request)).key_id;
    },
    ...{ getBonusBatch: readyBatch, listBonusBatchRows: readyBatch, executeBonusBatch: readyBatch },
    ...{ cancelBonusBatch: readyBatch, downloadBonusBatchResult: paidBatch },
    downloadBonusBatchErrors: () => batchOf('recipient,amount,asset\n$no,1,COPM\n', 'rejected'),
    ...{ getPayoutBatch: readySuppliers, listPayoutBatchRows: readySuppliers },
    ...{ executePayoutBatch: readySuppliers, cancelPayoutBatch: readySuppliers },
    downloadPayoutBatchResult: paidSuppliers,
    downloadPayoutBatchErrors: () => payoutBatchOf(SUPPLIERS.replace('0007', 'x'), 'rejected'),
    ...{
      statements: statement,
      createStatement: statement,
      getStatement: statement,
      downloadStatement: statement,
    },
    getApprovalPolicy: async () => setPolicy(),
    deleteApprovalPolicy: async () => setPolicy(),
    deleteAlias: async () => {
      const { alias } = await owner.setAlias(live.account('fees'), {
        alias: `$own-${++names}`,
      });
      return alias;
    },
    getRequest: requestId,
    ...{ getEvent: firstEvent, redeliverEvent: firstEvent },
    ...{ getWebhookEndpoint: theEndpoint, updateWebhookEndpoint: theEndpoint },
    ...{ rotateWebhookSecret: theEndpoint, testWebhookEndpoint: theEndpoint },
    ...{ recoverWebhookEndpoint: theEndpoint, listWebhookDeliveries: theEndpoint },
    deleteWebhookEndpoint: async () => {
      const hook = { url: `${LOCAL}/old`, events: ['payout.failed' as const] };
      return (await owner.createWebhookEndpoint(hook)).id;
    },
  };

  async function setPolicy(): Promise<string> {
    const policy = { threshold: 1_000_000_000n, approvals: 1 };
    return (await owner.setApprovalPolicy(live.account('treasury'), 'COPM', policy)).account_id;
  }
  async function firstEvent(): Promise<string> {
    const { items } = await owner.listEvents({ order: 'asc' }).page();
    return items[0]?.id ?? '';
  }

  /** Names the demo world's accounts, and moments that suit it, in place of those of the examples. */
  function inThisWorld(text: string, id: string): string {
    // The programs of the guides find the treasury by its alias.
    const source = /\/alias\b|Alias\(/.test(text) ? 'fees' : 'treasury';
    return text
      .replaceAll(EXAMPLE.source, live.account(source))
      .replaceAll(EXAMPLE.destination, live.account('ana'))
      .replaceAll(EXAMPLE.event, id)
      .replaceAll(EXAMPLE.member, id)
      .replaceAll(EXAMPLE.keyId, id)
      .replace('https://shop.example.com', LOCAL)
      .replace('$laespiga', () => `$own-${++names}`)
      .replace('2026-11-01T05:00:00.000Z', new Date(startedAt - 86_400_000).toISOString())
      .replace('2026-11-21T04:59:59.999Z', new Date(startedAt).toISOString())
      .replace(/(?<=- ?)60(?=_000|\)|\*time)/, '16') // The account is younger than a minute.
      .replace('2026-12-01T14:00:00.000Z', tomorrow())
      .replace('2026-11-20T00:00:00Z', new Date(startedAt - 3_600_000).toISOString());
  }

  const environment = (operation: string): NodeJS.ProcessEnv => ({
    ...process.env,
    NODE: process.execPath,
    SVC_URL: `${live.baseUrl}/v1`,
    SVC_TOKEN: live.token(/^(approve|reject)[A-Z]/.test(operation) ? 'approver' : 'owner'),
    APPROVER_TOKEN: live.token('approver'),
  });
  const resource = (operation: string): Promise<string> =>
    RESOURCES[operation]?.() ?? Promise.resolve('');

  type Run = (operation: string, id: string, env?: NodeJS.ProcessEnv) => Promise<string>;
  const start = async (
    operation: string,
    program: string,
    args: readonly string[],
    env = {},
  ): Promise<string> => {
    const own: NodeJS.ProcessEnv = { ...environment(operation), ...env };
    const started = run(program, args, { cwd: live.folder, env: own });
    started.child.stdin?.end(`${own.ANSWER ?? ''}\n`);
    return (await started).stdout;
  };
  const RUNS: Readonly<Record<Sample['name'], Run>> = {
    curl: (operation, id) =>
      start(operation, 'bash', ['-c', SHELL + inThisWorld(textOf(operation, 'curl'), id)]),
    TypeScript: (operation, id, env) => {
      const source = inThisWorld(textOf(operation, 'TypeScript'), id);
      return start(operation, process.execPath, [live.module(`${operation}.mjs`, source)], env);
    },
    Python: (operation, id, env) =>
      start(operation, 'python3', ['-c', inThisWorld(textOf(operation, 'Python'), id)], env),
    Go: async (operation, id, env) => {
      const args = [join(live.folder, 'go/samples'), [operation], { THE_ID: id, ...env }] as const;
      const printed = await start(operation, ...args);
      if (!(operation in PROGRAMS)) assert.match(printed, /^2\d\d /);
      return printed;
    },
  };

  /** Builds all programs as one, which runs the one that is named: linking each takes too long. */
  function buildGo(): void {
    const folder = join(live.folder, 'go');
    const operations = SHAPES;
    mkdirSync(folder);
    writeFileSync(join(folder, 'go.mod'), 'module samples\n\ngo 1.20\n');
    for (const operation of operations) {
      mkdirSync(join(folder, operation));
      const text = inThisWorld(textOf(operation, 'Go'), '"+os.Getenv("THE_ID")+"')
        .replace('package main', `package ${packageOf(operation)}`)
        .replace('func main()', 'func Main()');
      writeFileSync(join(folder, operation, 'sample.go'), text);
    }
    const imports = operations.map((name) => `\t${packageOf(name)} "samples/${name}"\n`).join('');
    const cases = operations.map((name) => `\t"${name}": ${packageOf(name)}.Main,\n`).join('');
    writeFileSync(
      join(folder, 'main.go'),
      `package main\n\nimport (\n\t"os"\n${imports})\n\nfunc main() {\n\tmap[string]func(){\n${cases}}[os.Args[1]]()\n}\n`,
    );
    const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod' };
    execFileSync('go', ['build', '-o', 'samples', '.'], { cwd: folder, env });
  }

  it('in TypeScript have types that fit the client', () => {
    const folder = join(live.folder, 'typed');
    mkdirSync(folder);
    const sources = [
      ...Array.from(samples.keys(), (name) => [name, textOf(name, 'TypeScript')] as const),
      ...guideSamples(),
      ...['clients', 'idempotency', 'reconciliation'].map(
        (page) => [page, blockOf(`docs/guides/${page}.md`, 'ts')] as const,
      ),
    ];
    const files = sources.map(([name, source]) => {
      const file = join(folder, `${name}.ts`);
      writeFileSync(file, `${source}\nexport {};\n`);
      return file;
    });
    const program = ts.createProgram(files, {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      types: ['node'],
      paths: { 'money-movement-client': [join(ROOT, 'packages/client/src/index.ts')] },
    });
    const faults = files.flatMap((file) =>
      program
        .getSemanticDiagnostics(program.getSourceFile(file))
        .map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
    );
    assert.deepEqual(faults, []);
  });

  /**
   * Operations of each shape: every kind of body, parameter and response. One generator writes the samples of all
   * operations; the programs of the guides are written one by one, so each runs.
   */
  const SHAPES = [
    ...['createTransfer', 'getTransfer', 'listTransfers', 'cancelTransfer', 'lookUpAccount'],
    ...['uploadBonusBatch', 'downloadBonusBatchResult', 'updateWebhookEndpoint', 'setAlias'],
    ...['deleteAlias', ...Object.keys(PROGRAMS)],
  ];
  const LANGUAGES = [
    ['curl', 'curl', '--version'],
    ['TypeScript', process.execPath, '--version'],
    ['Python', 'python3', '--version'],
    ['Go', 'go', 'version'],
  ] as const;
  /** By curl every operation runs, which shows that its request is accepted. */
  const isRun = (name: Sample['name'], operation: string): boolean =>
    name === 'curl' || SHAPES.includes(operation);
  /** Programs whose own tests run them. */
  const RUN_ABOVE = new Set([
    ...['batches', 'payout-batches', 'payout-batches-execute', 'capture'],
    ...Object.keys(STORED),
  ]);
  /** Writes a file that no other language uploads or pays. */
  const writePayroll = (reference: string, raw = 150_000n): void =>
    writeFileSync(
      join(live.folder, 'payroll.csv'),
      `recipient,amount,asset,reference\n$bruno,${raw},COPM,${reference}\n`,
    );
  const spent = async (): Promise<bigint> => {
    const { balances } = await owner.getBalances(live.account('treasury'));
    return balances.find(({ asset }) => asset === 'COPM')?.total ?? 0n;
  };
  const agreed = { ANSWER: 'yes' };

  async function paidOnce(name: Sample['name']): Promise<void> {
    const gateway = await LossyGateway.start(live.baseUrl);
    const pay = (): Promise<string> =>
      RUNS[name]('batches', '', { ...agreed, SVC_URL: `${gateway.url}/v1` });
    writePayroll(`ONCE-${name}`);
    const before = await spent();
    gateway.refused = '/execute';
    await assert.rejects(pay(), { code: 1, stderr: /unauthorized/ });
    gateway.refused = null;
    const printed = await pay();
    assert.match(printed, /^Pay 1 rows, .* for 1,501\.50 COPM\? /);
    const [result = ''] = PROGRAMS.batches?.exec(printed.replace(/^.*\(yes\) /, '')) ?? [];
    assert.match(result, /,paid,/);
    const after = await spent();
    assert.equal(before - after, 150_150n);
    const again = await pay();
    await gateway.stop();
    assert.ok(again.startsWith(result), again);
    assert.equal(await spent(), after);
    const keys = new Set(gateway.posts.map(({ key }) => key));
    assert.deepEqual([keys.size, gateway.posts.length > 4], [2, true]);
  }

  async function notPaid(name: Sample['name']): Promise<void> {
    const pay = (env = {}): Promise<string> => RUNS[name]('batches', '', { ...agreed, ...env });
    const before = await spent();
    writePayroll(`UNPAID-${name}`);
    await assert.rejects(pay({ ANSWER: 'no' }), { code: 1, stderr: /not confirmed/ });
    writePayroll(`UNPAID-${name}`, 150_001n);
    await assert.rejects(pay(), { code: 1, stderr: /rows were paid before/ });
    writePayroll(`LARGE-${name}`, 90_000_000_000n);
    await assert.rejects(pay(), { code: 1, stderr: /lacks \d/ });
    const known = `recipient,amount,asset\n$bruno,150000,COPM\n$bruno,${name.length}00000,COPM\n`;
    await batchOf(known, 'ready');
    writeFileSync(join(live.folder, 'payroll.csv'), known);
    await assert.rejects(pay(), { code: 1, stderr: /has the same file/ });
    writePayroll(`WRONG-${name}`, 1n);
    await assert.rejects(pay(), { code: 1, stderr: /2,amount,below_minimum/ });
    assert.equal(await spent(), before);
  }

  async function suppliersPaidOnce(name: Sample['name']): Promise<void> {
    const file = blockOf('docs/guides/payout-batches.md', 'sh', 'cat >suppliers.csv');
    const [, rows = ''] = /<<END\n([^]*?)END\n/.exec(file) ?? [];
    const suppliers = join(live.folder, 'suppliers.csv');
    const upload = (): Promise<string> => RUNS[name]('payout-batches', '');
    writeFileSync(suppliers, rows.replaceAll('INV-', `${name}-`).replace('0007', 'x'));
    await assert.rejects(upload(), { code: 1, stderr: /2,bank_code,/ });
    writeFileSync(suppliers, rows.replaceAll('INV-', `${name}-`));
    const uploaded = await upload();
    assert.match(uploaded, PROGRAMS['payout-batches'] ?? /$^/);
    assert.equal(await upload(), uploaded);
    const [BATCH] = uploaded.split(' ');
    const pay = (ANSWER: string): Promise<string> =>
      RUNS[name]('payout-batches-execute', '', { ANSWER, BATCH });
    await assert.rejects(pay('no'), { code: 1, stderr: /not confirmed/ });
    const printed = await pay('yes');
    assert.match(printed, PROGRAMS['payout-batches-execute'] ?? /$^/);
    const after = await spent();
    const again = await pay('yes');
    assert.ok(printed.endsWith(again), again);
    assert.match(await upload(), /^[0-9a-f-]{36} completed /);
    assert.equal(await spent(), after);
  }

  for (const [name, tool, argument] of LANGUAGES) {
    const here = isHere(tool, argument);
    const title = `in ${name} are accepted`;
    (here ? describe : describe.skip)(
      here ? title : `${title} (there is no ${tool} on this machine)`,
      () => {
        if (name === 'Go') before(buildGo);
        if (name !== 'curl') {
          it(`a payroll in ${name} is paid once, whatever is lost, interrupted and run again`, () =>
            paidOnce(name));
          it(`a payroll in ${name} that may be a mistake, or that nobody confirms, is not paid`, () =>
            notPaid(name));
          it(`suppliers in ${name} are paid once by the approver, however often both run their programs`, () =>
            suppliersPaidOnce(name));
        }
        if (name !== 'curl')
          it(`an order in ${name} that is run again is authorised and captured once`, async () => {
            rmSync(join(live.folder, 'order-1042.json'), { force: true });
            const [first, again] = [
              await RUNS[name]('capture', ''),
              await RUNS[name]('capture', ''),
            ];
            assert.match(first, PROGRAMS.capture!);
            assert.equal(again, first.replace('held', 'completed'));
          });
        for (const [program, stored] of Object.entries(STORED))
          if (name !== 'curl')
            it(`the order of ${program} in ${name} that is run again is made once`, async () => {
              rmSync(join(live.folder, stored), { force: true });
              const [first, again] = [await RUNS[name](program, ''), await RUNS[name](program, '')];
              assert.match(first, PROGRAMS[program]!);
              assert.equal(again.match(ID)?.[0], first.match(ID)?.[0]);
            });
        for (const [operation, all] of samples)
          if (
            !RUN_ABOVE.has(operation) &&
            all.some((sample) => sample.name === name) &&
            isRun(name, operation)
          )
            it(operation, async () => {
              const printed = await RUNS[name](operation, await resource(operation));
              assert.match(printed, PROGRAMS[operation] ?? /^/);
            });
      },
    );
  }
});
