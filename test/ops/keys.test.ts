import assert from 'node:assert/strict';
import { z } from 'zod';
import { startTestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';
import { countByFingerprintKey } from '../../src/ops/fingerprint-keys.js';
import { commandLine, TEST_KEYS } from './ops.js';

const ROWS = z.array(
  z.object({
    keyring: z.string(),
    made_with_it: z.number().nullable(),
    made_with_others: z.array(z.string()),
    next: z.array(z.string()),
  }),
);

const ring = `rolled:${Buffer.alloc(32, 5).toString('base64')},${TEST_KEYS}`;
const db = await testDatabase();
const api = await startTestApi(db, { FINGERPRINT_KEYS: ring });
const bank = await openBank(api);
const from = await bank.account({ funds: { COPM: 100n * LEAST } });
const to = await bank.account();
for (const _ of [1, 2, 3]) await bank.sent({ from, to, raw: LEAST });

describe('the commands keys list and keys roll', () => {
  after(() => assertLedgerSound(db.database));

  const { json: ops } = commandLine(() => ({ MYSQL_URL: db.url }));

  it("keys list counts each fingerprint under its key, except those of the service's own commands", async () => {
    const [counted] = await db.sql(
      `SELECT COUNT(*) AS all_keys, SUM(fingerprint_key_id='sha256') AS own FROM idempotency_keys`,
    );
    assert(Number(counted?.own) > 0);
    const seen: [number, number][] = [];
    const used = await countByFingerprintKey(db.database.reader, (done, total) =>
      seen.push([done, total]),
    );
    const sum = [...used.values()].reduce((all, one) => all + one, 0);
    assert.equal(sum, Number(counted?.all_keys) - Number(counted?.own));
    assert.equal(used.get('rolled'), 3);
    assert.equal(seen.at(-1)?.[0], seen.at(-1)?.[1]);
  });

  it('keys list shows how many fingerprints each key has', async () => {
    const rows = z
      .array(z.object({ key_id: z.string(), fingerprints: z.number() }))
      .parse(await ops('keys', 'list'));
    assert.equal(rows.find(({ key_id: id }) => id === 'rolled')?.fingerprints, 3);
    assert(!rows.some(({ key_id: id }) => id === 'sha256'));
  });

  it('keys roll explains that an unused key is put last in every process, and first only after that', async () => {
    const [fingerprints, cursors, sealed] = ROWS.parse(await ops('keys', 'roll', 'k9'));
    assert.deepEqual(
      [fingerprints?.made_with_it, cursors?.made_with_it, sealed?.made_with_it],
      [0, null, 0],
    );
    for (const row of [fingerprints, cursors, sealed]) {
      assert.match(row?.next[0] ?? '', /^1\. put k9 last in /);
      assert.match(
        row?.next[1] ?? '',
        /^2\. when keyring_keys\{.*id="k9"\} is 1 in each of them, put it first in each$/,
      );
    }
  });

  it('keys roll lists the other keys that must be kept after the key in use', async () => {
    const [fingerprints] = ROWS.parse(await ops('keys', 'roll', 'rolled'));
    assert.equal(fingerprints?.keyring, 'FINGERPRINT_KEYS');
    assert.equal(fingerprints.made_with_it, 3);
    for (const other of fingerprints.made_with_others.map((text) => text.split(':')[0] ?? ''))
      assert.match(fingerprints.next[1] ?? '', new RegExp(`^keep .*\\b${other}\\b.* for ever`));
  });
});
