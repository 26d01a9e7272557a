import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testDatabase, type TestDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';
import { TEST_KEYS } from './ops.js';

const PROGRAM = fileURLToPath(new URL('../../src/ops/main.js', import.meta.url));

/** The block of README.md that begins with these words. */
function blockOf(beginning: string): string {
  const readme = readFileSync('README.md', 'utf8');
  const block = readme.split('```sh\n').find((part) => part.startsWith(beginning));
  assert.ok(block !== undefined, `README.md has no block that begins with ${beginning}`);
  return block.split('```')[0] ?? '';
}

describe('README.md', function () {
  this.timeout(60_000);
  let test: TestDatabase;

  before(async () => {
    test = await testDatabase();
  });
  after(() => assertLedgerSound(test.database));

  it('has a second tenant that works as printed', async () => {
    const commands = blockOf('npm run ops -- tenants add');
    const ran = spawnSync(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', commands.replaceAll('npm run ops --', '"$NODE" "$PROGRAM"')],
      {
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          MYSQL_URL: test.url,
          ENCRYPTION_KEYS: TEST_KEYS,
          NODE: process.execPath,
          PROGRAM,
        },
      },
    );
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout, /svc_live_/);
    const ready = await test.sql(
      `SELECT b.available, a.verified_at IS NOT NULL AS is_verified FROM accounts a
       JOIN balances b ON b.account_id=a.id AND b.asset='COPM' WHERE a.alias='$umbrella'`,
    );
    assert.deepEqual(
      ready.map(({ available, is_verified: isVerified }) => [available, String(isVerified)]),
      [['500000000', '1']],
    );
  });
});
