import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asUuid } from '../../src/core/ids.js';
import { instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import { payoutBody, railsOf } from '../payouts/support.js';
import { request, startTestApi, type TestApi } from '../support/api.js';
import { answered, object, text } from '../support/bank.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { forgetCodes } from '../support/staff.js';
import { makeDemoWorld, TEST_KEYS } from './ops.js';
import { OPS_IN_SHELL, OpsForShells } from './shell-ops.js';

const FOLDER = 'docs/runbooks';
const DEMO_CODE = fileURLToPath(new URL('../../scripts/demo-code.js', import.meta.url));
/** Of the two people: whoever is at the keyboard gives the code that is asked for, and says yes. */
const SHELL = `
${OPS_IN_SHELL}
code() { "$NODE" "$DEMO_CODE" "$1"; }
npm() {
  shift 3
  local who=demo-support word previous=
  for word in "$@"; do if [ "$previous" = --as ]; then who=$word; fi; previous=$word; done
  case "$1 \${2:-}" in
    'login '*) ops "$@" --code "$(code "$2")" ;;
    'payouts resolve' | 'fees refund' | 'restore begin' | 'restore finish')
      ops "$@" --yes --code "$(code "$who")" ;;
    *) ops "$@" --yes ;;
  esac
}
sleep() { :; }
`;

/** The shell blocks of a page, those in lists too. */
function blocksOf(page: string): string[] {
  const written = readFileSync(join(FOLDER, page), 'utf8').matchAll(
    /^( *)\`\`\`sh\n([\s\S]*?)^ *\`\`\`$/gm,
  );
  return Array.from(written, ([, indent = '', block = '']) =>
    block
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n'),
  );
}

describe('the runbooks, in the demo world:', () => {
  let test: TestDatabase;
  let api: TestApi;
  let folder: string;
  let ops: OpsForShells;
  let names: Readonly<Record<string, string>>;

  before(async () => {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    test = await freshDatabase(
      adminUrl,
      `money_runbooks_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    folder = mkdtempSync(join(tmpdir(), 'runbooks-'));
    ops = await OpsForShells.open();
    mkdirSync(join(folder, '.run'));
    const world = await makeDemoWorld(test.url, folder);
    api = await startTestApi(test, {}, { receiver: 'real' });
    names = await incidents(object(object(object(JSON.parse(world)).tenants).acme));
    await printed(blocksOf('README.md'));
  });
  after(async () => {
    await api.stop();
    await ops.close();
    rmSync(folder, { recursive: true });
    await test.remove();
  });
  beforeEach(() => forgetCodes(test.sql));

  /** Something for each page to be done to: a payout that nobody knows of, an endpoint, a token. */
  async function incidents(
    acme: Readonly<Record<string, unknown>>,
  ): Promise<Record<string, string>> {
    const token = text(object(acme.tokens).owner);
    const treasury = object(object(acme.accounts).treasury);
    const post = async (path: string, body: unknown) =>
      answered(await request(api.baseUrl, 'POST', path, { token, body }), 201).json;
    const payout = await post(
      '/v1/payouts',
      payoutBody({ from: { id: asUuid(text(treasury.id)) }, ending: '03' }),
    );
    await railsOf({ ...test, database: api.core.database }).submissions.submit(
      asUuid(text(payout.id)),
    );
    const endpoint = await post('/v1/webhook_endpoints', {
      url: 'http://127.0.0.1:9/hook',
      events: ['transfer.completed'],
    });
    const keyId = text(object(acme.tokens).viewer).split('_')[2] ?? '';
    const since = toRfc3339(instant(systemClock() - 60_000));
    const ids = { PAYOUT: text(payout.id), ENDPOINT: text(endpoint.id), KEY_ID: keyId };
    return { ...ids, SINCE: since };
  }

  /** What they print when they run one after the other in one shell. Fails when one of them does. */
  async function printed(blocks: readonly string[]): Promise<string> {
    const child = spawn(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', `${SHELL}\n${blocks.join('\n')}`],
      {
        cwd: folder,
        env: {
          ...{ PATH: process.env.PATH, MYSQL_URL: test.url, ENCRYPTION_KEYS: TEST_KEYS },
          ...{ NODE: process.execPath, DEMO_CODE, DEMO_STAFF_FILE: join(folder, 'staff.json') },
          ...ops.environment,
          ...{
            OPS_SESSIONS: join(folder, 'sessions.json'),
            RESTORED_TO: toRfc3339(systemClock()),
            ...names,
          },
        },
      },
    );
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (piece: string) => (said[name] += piece));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.on('error', reject).on('close', resolve),
    );
    assert.equal(code, 0, `${said.stdout}\n${said.stderr}`);
    return said.stdout;
  }

  /** What one sees when it is over, besides that each command has ended with 0. */
  const OVER: Readonly<Record<string, RegExp>> = {
    'stuck-payout': /The ledger is sound/,
    'wrong-fee-schedule': /The ledger is sound/,
    restore: /ledger +open[^]*The ledger is sound/,
    'leaked-token': /revoked/,
    'receiver-fails': /paused/,
  };

  for (const page of readdirSync(FOLDER).filter((name) => name !== 'README.md'))
    it(`${page} has commands that do what it says, one after the other`, async () => {
      const blocks = blocksOf(page);
      assert.ok(blocks.length > 0);
      assert.match(await printed(blocks), OVER[page.replace('.md', '')] ?? /./);
    });

  it('the runbooks are each named by their index, with the same parts', () => {
    const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
    for (const page of readdirSync(FOLDER)) {
      if (page === 'README.md') continue;
      assert.ok(index.includes(`(${page})`), page);
      const parts = Array.from(
        readFileSync(join(FOLDER, page), 'utf8').matchAll(/^## (.+)$/gm),
        ([, part]) => part,
      );
      assert.deepEqual(
        parts,
        ['Symptoms', 'What it means for money', 'Steps', 'It is over when'],
        page,
      );
    }
  });
});
