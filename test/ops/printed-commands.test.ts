import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PAGES, shellBlocks } from '../operating/pages.js';
import { startTestApi } from '../helpers/api.js';
import { object } from '../helpers/bank.js';
import { DemoWorld } from '../helpers/demo-world.js';
import { forgetCodes } from '../helpers/staff.js';
import { OPS_IN_SHELL, OpsForShells } from './shell-ops.js';

const PRINTED_URL = 'http://127.0.0.1:8080';
/** Runs `npm run ops -- …` and `npm run --silent demo:code -- …` without npm, which takes time. */
const SHELL = `${OPS_IN_SHELL}
npm() {
  if [ "$2" = --silent ]; then shift 4; "$NODE" "$DEMO_CODE" "$@"; else shift 3; ops "$@"; fi
}; sleep() { :; };`;

const ops = await OpsForShells.open();
const world = await DemoWorld.make('pages');
const api = await startTestApi(world.db, {}, { receiver: 'real' });

/** The commands as a person pastes them, against an API and the demo world, without worker and Temporal. */
describe('the commands in the documentation', () => {
  after(async () => {
    await api.stop();
    await ops.close();
    await world.remove();
  });
  beforeEach(() => forgetCodes(world.db.sql));

  /** Returns the output of the commands in one shell. Throws if one of them fails. */
  const printed = (...blocks: readonly string[]): Promise<string> =>
    world.shell(
      `${SHELL}\n${blocks.join('\n').replaceAll(PRINTED_URL, api.baseUrl)}`,
      ops.environment,
    );

  const walkthrough = (heading: string): string[] => shellBlocks('docs/walkthrough.md', heading);

  it('send a first transfer, whose repetition moves nothing', async () => {
    const [send = '', ...look] = shellBlocks('README.md', 'A first transfer');
    const output = await printed(send, send.slice(send.indexOf('curl')), ...look);
    assert.match(output, /HTTP\/1\.1 201 [\s\S]*HTTP\/1\.1 200 /);
    assert.match(output, /"asset":"COPM","available":"150000"/);
    assert.match(output, /transfer\.completed/);
  });

  it('create a transfer that waits, and approve it', async () => {
    const output = await printed(
      ...walkthrough('Shorthands'),
      ...walkthrough('A transfer that waits for approval'),
    );
    assert.match(output, /pending_approval[\s\S]*HTTP\/1\.1 200 [\s\S]*"status":"completed"/);
  });

  it('register, show, pause and resume a webhook endpoint', async () => {
    const output = await printed(...walkthrough('Shorthands'), ...walkthrough('Webhooks'));
    assert.match(output, /"secret":"whsec_/);
    assert.match(output, /paused/);
    assert.doesNotMatch(output, /"error"/);
  });

  it('set up a second tenant that can send', async () => {
    const output = await printed(...walkthrough('Shorthands'), ...walkthrough('A second tenant'));
    assert.match(output, /svc_live_/);
    const ready = await world.db.sql(
      `SELECT b.available, a.verified_at IS NOT NULL AS is_verified FROM accounts a
       JOIN balances b ON b.account_id=a.id AND b.asset='COPM' WHERE a.alias='$umbrella'`,
    );
    assert.deepEqual(
      ready.map(({ available, is_verified: isVerified }) => [available, String(isVerified)]),
      [['500000000', '1']],
    );
  });

  it('use documented paths of the API, and pages that are served', async () => {
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
