import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PAGES, shellBlocks } from '../operating/pages.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { object } from '../support/bank.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { forgetCodes } from '../support/staff.js';
import { makeDemoWorld, TEST_KEYS } from './ops.js';
import { OPS_IN_SHELL, OpsForShells } from './shell-ops.js';

const DEMO_CODE = fileURLToPath(new URL('../../scripts/demo-code.js', import.meta.url));
const PRINTED_URL = 'http://127.0.0.1:8080';
/** `npm run ops -- …` and `npm run --silent demo:code -- …` without npm, and no time for what nobody does here. */
const SHELL = `${OPS_IN_SHELL}
npm() {
  if [ "$2" = --silent ]; then shift 4; "$NODE" "$DEMO_CODE" "$@"; else shift 3; ops "$@"; fi
}; sleep() { :; };`;

/** The commands as a person pastes them, against an API and the demo world, without worker and Temporal. */
describe('the commands of the pages', () => {
  let test: TestDatabase;
  let api: TestApi;
  let folder: string;
  let ops: OpsForShells;

  before(async () => {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    test = await freshDatabase(
      adminUrl,
      `money_pages_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    folder = mkdtempSync(join(tmpdir(), 'pages-'));
    ops = await OpsForShells.open();
    mkdirSync(join(folder, '.run'));
    const world = await makeDemoWorld(test.url, folder);
    writeFileSync(join(folder, '.run/demo.json'), world);
    api = await startTestApi(test, {}, { receiver: 'real' });
  });
  after(async () => {
    await api.stop();
    await ops.close();
    rmSync(folder, { recursive: true });
    await test.sql(`DROP DATABASE ${test.name}`);
    await test.sql(`DROP USER '${test.name}'@'%'`);
    await test.close();
  });
  beforeEach(() => forgetCodes(test.sql));

  /** What they print when they run one after the other in one shell. Fails when one of them does. */
  async function printed(...blocks: readonly string[]): Promise<string> {
    const script = blocks.join('\n').replaceAll(PRINTED_URL, api.baseUrl);
    const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', `${SHELL}\n${script}`], {
      cwd: folder,
      env: {
        ...{ PATH: process.env.PATH, MYSQL_URL: test.url, ENCRYPTION_KEYS: TEST_KEYS },
        ...{ NODE: process.execPath, DEMO_CODE, DEMO_STAFF_FILE: join(folder, 'staff.json') },
        ...{ OPS_SESSIONS: join(folder, 'sessions.json'), ...ops.environment },
      },
    });
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (piece: string) => (text[name] += piece));
    const code = await new Promise<number | null>((resolve, reject) =>
      child.on('error', reject).on('close', resolve),
    );
    assert.equal(code, 0, `${text.stdout}\n${text.stderr}`);
    return text.stdout;
  }

  const walkthrough = (heading: string): string[] => shellBlocks('docs/walkthrough.md', heading);

  it('the commands of the pages send a first transfer, which sent again moves nothing', async () => {
    const [send = '', ...look] = shellBlocks('README.md', 'A first transfer');
    const output = await printed(send, send.slice(send.indexOf('curl')), ...look);
    assert.match(output, /HTTP\/1\.1 201 [\s\S]*HTTP\/1\.1 200 /);
    assert.match(output, /"asset":"COPM","available":"150000"/);
    assert.match(output, /transfer\.completed/);
  });

  it('the commands of the pages let a transfer wait, and approve it', async () => {
    const output = await printed(
      ...walkthrough('Shorthands'),
      ...walkthrough('A transfer that waits'),
    );
    assert.match(output, /pending_approval[\s\S]*HTTP\/1\.1 200 [\s\S]*"status":"completed"/);
  });

  it('the commands of the pages register, show and steer a webhook endpoint', async () => {
    const output = await printed(...walkthrough('Shorthands'), ...walkthrough('Webhooks'));
    assert.match(output, /"secret":"whsec_/);
    assert.match(output, /paused/);
    assert.doesNotMatch(output, /"error"/);
  });

  it('the commands of the pages set up a second tenant that can send', async () => {
    const output = await printed(...walkthrough('Shorthands'), ...walkthrough('A second tenant'));
    assert.match(output, /svc_live_/);
    const ready = await test.sql(
      `SELECT b.available, a.verified_at IS NOT NULL AS is_verified FROM accounts a
       JOIN balances b ON b.account_id=a.id AND b.asset='COPM' WHERE a.alias='$umbrella'`,
    );
    assert.deepEqual(
      ready.map(({ available, is_verified: isVerified }) => [available, String(isVerified)]),
      [['500000000', '1']],
    );
  });

  it('the commands of the pages name paths of the API that its document describes, and pages that are served', async () => {
    const { json } = await api.request('GET', '/openapi.json');
    const routes = Object.keys(object(json.paths)).map((path) => path.split('/'));
    const isDescribed = (path: string): boolean => {
      const words = path.split('/');
      const fits = (route: readonly string[]): boolean =>
        route.length === words.length &&
        route.every(
          (word, at) =>
            word === words[at] || (word.startsWith('{') && /^[{$<]|[A-Z…]/.test(words[at] ?? '')),
        );
      return routes.some(fits);
    };
    let seen = 0;
    for (const page of PAGES) {
      const text = readFileSync(page, 'utf8').replaceAll('$base/', '/v1/');
      for (const [, path = ''] of text.matchAll(/(\/v1\/[\w/{}$<>…-]+)/g)) {
        seen += 1;
        assert.ok(isDescribed(path), `${page}: ${path}`);
      }
      for (const [, path = ''] of text.matchAll(/<http:\/\/127\.0\.0\.1:8080(\/[\w/]*)>/g))
        assert.equal((await api.request('GET', path)).status, 200, `${page}: ${path}`);
    }
    assert.ok(seen > 30, `only ${seen} paths were found`);
  });
});
