import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ts from 'typescript';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { object, text } from '../helpers/bank.js';
import { DemoWorld } from '../helpers/demo-world.js';
import { freePorts } from '../helpers/service-process.js';
import { newNamespace, sharedAddress, temporalEnvironment } from '../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { type Block, blockOf, blocksOf, difference, isHere, WRITTEN_PAGES } from './blocks.js';

const WRITTEN_URL = 'http://127.0.0.1:8080';
const WRITTEN_PORT = '9999';
const SETUP = 'docs/guides/first-transfer.md';
const WEBHOOKS = 'docs/webhooks.md';
const BATCHES = 'docs/guides/batches.md';
/** The languages that this file runs, of every page; `text` is not run. */
const RUN_HERE = ['sh', 'json', 'csv', 'sql', 'text'];
/** Blocks that other tests run: documented-receivers.test.ts, guide-programs.test.ts and samples.test.ts. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  [WEBHOOKS]: ['ts', 'python', 'go', 'php', 'java'],
  'docs/guides/idempotency.md': ['ts', 'python'],
  'docs/guides/reconciliation.md': ['ts', 'python'],
  'docs/guides/clients.md': ['ts'],
};
/** Between what two blocks print. */
const END = '\u001e';
/** The tools that a bare machine may lack, and the page needs. */
const TOOLS = `command -v uuidgen >/dev/null || uuidgen() { "$NODE" -p 'crypto.randomUUID()'; }`;

const MISSING = ['curl', 'jq'].filter((tool) => !isHere(tool));
const title = 'what the pages of the site show';

/** As a tenant pastes it, against the service with its worker and the demo world. */
(MISSING.length === 0 ? describe : describe.skip)(
  MISSING.length === 0 ? title : `${title} (there is no ${MISSING.join(', no ')} on this machine)`,
  () => {
    let world: DemoWorld;
    let api: TestApi;
    let worker: TestWorker;
    let madeAt: number;

    before(async () => {
      world = await DemoWorld.make('site');
      madeAt = Date.now();
      const temporal = await newNamespace(sharedAddress(), world.db.name);
      worker = await startTestWorker(world.db, temporal);
      api = await startTestApi(world.db, temporalEnvironment(temporal), { receiver: 'real' });
    });
    after(async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await world.remove();
    });

    /** The text as a reader would paste it here. */
    function addressed(block: Block, port: number): string {
      return block.text
        .replaceAll(WRITTEN_URL, api.baseUrl)
        .replaceAll(WRITTEN_PORT, port.toString())
        .replace('now - 60', 'now - 16')
        .replace(/(?<=^account=)019a\S+/m, world.account('carla'))
        .replace(/(?<=^guarded=)019a\S+/m, world.account('guarded'))
        .replace('SVC_TOKEN=svc_live_…', `SVC_TOKEN=${world.token()}`)
        .replace('APPROVER_TOKEN=svc_live_…', `APPROVER_TOKEN=${world.token('approver')}`);
    }

    /** Returns the output of each block when they run in one shell. Throws if one of them fails. */
    async function printed(blocks: readonly string[]): Promise<string[]> {
      const script = [TOOLS, ...blocks.map((block) => `${block}\nprintf '\\036'`)].join('\n');
      const output = await world.shell(script);
      assert.doesNotMatch(output, /"error": ?\{/, output);
      return output.split(END);
    }

    /** Runs the receiver of the page until the shell ends. */
    function receiver(port: number): string {
      const source = blocksOf(WEBHOOKS).find(({ language }) => language === 'ts')?.text ?? '';
      const compilerOptions = {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
        verbatimModuleSyntax: true,
      };
      writeFileSync(
        join(world.folder, 'receiver.mjs'),
        ts.transpileModule(source, { compilerOptions }).outputText,
      );
      return `PORT=${port} "$NODE" receiver.mjs >received.txt & trap "kill $!" EXIT
        until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.1; done`;
    }

    /** The page's own blocks, and before them the one that every page needs. */
    async function outputs(page: string, blocks: readonly Block[]): Promise<Map<Block, string>> {
      const [port = 0] = await freePorts(1);
      const [setup] = blocksOf(SETUP);
      assert.ok(setup !== undefined);
      const shell = blocks.filter(
        ({ language, text: own }) => language === 'sh' && own !== setup.text,
      );
      const [first, ...others] = shell.map((block) => addressed(block, port));
      // It is to listen from when the page has its secret.
      const own =
        page === WEBHOOKS ? [`${first}\n${receiver(port)}`, ...others] : [first ?? '', ...others];
      const [, ...came] = await printed([addressed(setup, port), ...own]);
      return new Map(shell.map((block, index) => [block, came[index] ?? '']));
    }

    for (const page of WRITTEN_PAGES) {
      const blocks = blocksOf(page);
      const isRun = blocks.some(({ language }) => language === 'sh');
      it(`the shell code in ${page} ${isRun ? 'runs unchanged, and prints the output that the page shows' : 'has no command to run'}`, async () => {
        for (const { language, text: code } of blocks) {
          assert.ok(
            [...RUN_HERE, ...(RUN_ELSEWHERE[page] ?? [])].includes(language),
            `who runs ${language}?\n${code}`,
          );
          if (language === 'text') assert.match(code, /[─►▼]/, 'a picture');
          if (language === 'sql') await world.db.sql(code);
        }
        for (const { before, language, text: file } of blocks.filter(
          (block) => block.language === 'csv',
        )) {
          const [, name] = /Save this as `([\w.]+)`:\s*$/.exec(before) ?? [];
          assert.ok(name !== undefined, `a ${language} without a name`);
          writeFileSync(join(world.folder, name), file);
        }
        if (!isRun) return;
        // A statement ends 15 seconds ago at the latest, and after its account was opened.
        if (page === 'docs/guides/statements.md')
          await sleep(Math.max(0, madeAt + 20_000 - Date.now()));
        const came = await outputs(page, blocks);
        let compared = 0;
        blocks.forEach((block, index) => {
          const source = blocks[index - 1];
          const output = source === undefined ? undefined : came.get(source);
          if (block.language !== 'json' || output === undefined) return;
          // Of several things that come, such as accounts, it may be any.
          const values = JSON.parse(
            execFileSync('jq', ['-cs', '.'], { input: output, encoding: 'utf8' }),
          ) as unknown[];
          const faults = values.map((value) => difference(JSON.parse(block.text), value));
          assert.ok(faults.includes(null), `${faults.join('\n')}\n${output}`);
          compared += 1;
        });
        // What docs/webhooks.md shows first comes by a delivery: it is compared with the log.
        const shown = blocks.filter(({ language }) => language === 'json').length;
        assert.equal(compared, page === WEBHOOKS ? shown - 1 : shown);
        await assertToldRight(page, came);
      });
    }

    it('the shell code in the first transfer and the payroll runs with the names of any tenant', async () => {
      const blocks = [...blocksOf(SETUP), ...blocksOf(BATCHES)];
      const came = await printed(
        blocks
          .filter(({ language }) => language === 'sh')
          .map((block) =>
            addressed(block, 0)
              .replace('tenants.acme.', 'tenants.globex.')
              .replace('$acme-treasury', () => '$globex-treasury')
              .replace('$bruno', () => '$dora'),
          ),
      );
      assert.match(
        came.join('\n'),
        /\$globex-treasury[\s\S]*\$dora[\s\S]*"status":"completed"[\s\S]*"count": 1[\s\S]*executing/,
      );
    });

    it('the schedule for rent begins on the first of the next month, whatever the day', () => {
      const text = readFileSync('docs/guides/schedules.md', 'utf8');
      const [, rule = ''] = /starts_at: \(now \| (.*)\),/.exec(text) ?? [];
      const days = Array.from({ length: 1461 }, (_, day) => Date.UTC(2027, 0, 1 + day, 23, 59, 59));
      const input = JSON.stringify(days.map((day) => day / 1_000));
      const starts: unknown = JSON.parse(
        execFileSync('jq', ['-c', `map(${rule})`], { input, encoding: 'utf8' }),
      );
      const firsts = days.map((day) => {
        const date = new Date(day);
        const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1, 14);
        return new Date(first).toISOString().replace('.000', '');
      });
      assert.deepEqual(starts, firsts);
    });

    it('the loop for an unknown result prints no status once it has given up', () => {
      const loop = blockOf('docs/guides/idempotency.md', 'sh', 'pause=1').replace('86400', '0');
      const { status, stdout, stderr } = spawnSync('bash', [
        '-euc',
        `send() { echo 503; }\n${loop}`,
      ]);
      assert.deepEqual([status, stdout.toString()], [0, '']);
      assert.match(stderr.toString(), /unknown/);
    });

    /** The statements of a page about its outputs. */
    async function assertToldRight(page: string, came: ReadonlyMap<Block, string>): Promise<void> {
      const all = Array.from(came.values()).join('\n');
      if (page === SETUP) assert.match(all, /HTTP\/1\.1 200 [\s\S]*svc-idempotent-replayed: true/i);
      if (page === 'docs/guides/idempotency.md')
        assert.match(all, /201\n200\n[\s\S]*200 completed\n[\s\S]*\b1\n/);
      if (page === 'docs/guides/payouts.md') assert.match(all, /"approved"[\s\S]*"completed"/);
      if (page === 'docs/guides/events.md') assert.match(all, /^1 account\.verified$/m);
      if (page === BATCHES) {
        assert.match(all, /executing/);
        assert.match(
          readFileSync(join(world.folder, 'result.csv'), 'utf8'),
          /NOV-1,.*,paid,[\s\S]*NOV-2,.*,paid,/,
        );
        assert.match(all, /not_found[\s\S]*invalid_field/);
      }
      if (page !== WEBHOOKS) return;
      assert.match(all, /"\d{4}-\d\d-\d\dT.*Z"/, 'the receiver has answered the test');
      assert.match(readFileSync(join(world.folder, 'received.txt'), 'utf8'), /^webhook\.test /);
      const [shown] = blocksOf(page).filter(({ language }) => language === 'json');
      const example = object(JSON.parse(shown?.text ?? '{}'));
      const { json } = await api.request('GET', `/v1/events?type=${text(example.type)}&limit=1`, {
        token: world.token(),
      });
      const [event] = json.items as unknown[];
      const { data: shownData, ...shownRest } = example;
      const { data, ...rest } = object(event);
      assert.equal(difference(shownRest, rest), null);
      const resource = object(object(data).object);
      const names = Object.keys(object(object(shownData).object));
      assert.deepEqual(names, Object.keys(resource));
    }
  },
);
