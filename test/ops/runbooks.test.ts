import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asUuid } from '../../src/core/ids.js';
import { instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import { payoutBody, railsOf } from '../payouts/support.js';
import { request, startTestApi, type TestApi } from '../helpers/api.js';
import { answered, text } from '../helpers/bank.js';
import { DemoWorld } from '../helpers/demo-world.js';
import { forgetCodes } from '../helpers/staff.js';
import { OPS_IN_SHELL, OpsForShells } from './shell-ops.js';

const FOLDER = 'docs/runbooks';
/** Of the two people: the one at the keyboard gives the requested code, and says yes. */
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

describe('the runbooks in the demo world', () => {
  let world: DemoWorld;
  let api: TestApi;
  let ops: OpsForShells;
  let names: Readonly<Record<string, string>>;

  before(async () => {
    ops = await OpsForShells.open();
    world = await DemoWorld.make('runbooks');
    api = await startTestApi(world.db, {}, { receiver: 'real' });
    names = await incidents();
    await printed(blocksOf('README.md'));
  });
  after(async () => {
    await api.stop();
    await ops.close();
    await world.remove();
  });
  beforeEach(() => forgetCodes(world.db.sql));

  /** The objects of the pages: a payout with an unknown result, an endpoint, a token. */
  async function incidents(): Promise<Record<string, string>> {
    const token = world.token();
    const post = async (path: string, body: unknown) =>
      answered(await request(api.baseUrl, 'POST', path, { token, body }), 201).json;
    const payout = await post(
      '/v1/payouts',
      payoutBody({ from: { id: asUuid(world.account('treasury')) }, ending: '03' }),
    );
    await railsOf({ ...world.db, database: api.core.database }).submissions.submit(
      asUuid(text(payout.id)),
    );
    const endpoint = await post('/v1/webhook_endpoints', {
      url: 'http://127.0.0.1:9/hook',
      events: ['transfer.completed'],
    });
    const keyId = world.token('viewer').split('_')[2] ?? '';
    const since = toRfc3339(instant(systemClock() - 60_000));
    const ids = { PAYOUT: text(payout.id), ENDPOINT: text(endpoint.id), KEY_ID: keyId };
    return { ...ids, SINCE: since };
  }

  /** Returns the output of the commands in one shell. Throws if one of them fails. */
  const printed = (blocks: readonly string[]): Promise<string> =>
    world.shell(`${SHELL}\n${blocks.join('\n')}`, {
      ...ops.environment,
      ...names,
      RESTORED_TO: toRfc3339(systemClock()),
    });

  /** The visible results at the end, besides that each command has ended with 0. */
  const OVER: Readonly<Record<string, RegExp>> = {
    'stuck-payout': /The ledger is sound/,
    'wrong-fee-schedule': /The ledger is sound/,
    restore: /ledger +open[^]*The ledger is sound/,
    'leaked-token': /revoked/,
    'receiver-fails': /paused/,
  };

  for (const page of readdirSync(FOLDER).filter((name) => name !== 'README.md'))
    it(`the runbook ${page} has commands that work in order`, async () => {
      const blocks = blocksOf(page);
      assert.ok(blocks.length > 0);
      assert.match(await printed(blocks), OVER[page.replace('.md', '')] ?? /./);
    });

  it('the index lists every runbook, and all runbooks have the same sections', () => {
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
        ['Symptoms', 'What it means for money', 'Steps', 'Resolved when'],
        page,
      );
    }
  });
});
