import assert from 'node:assert/strict';
import { uuid } from '../../src/db/columns.js';
import type { Account } from '../../src/db/entities/parties.js';
import { audit } from '../../src/auditor/audit.js';
import { racingStorm } from '../campaigns/storms.js';
import { startTestApi } from '../helpers/api.js';
import { during } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import {
  assertLedgerSound,
  makeAccount,
  makeTenant,
  openWriter,
  type TestTenant,
} from '../helpers/world.js';

/** More than the auditor's slices hold: 10,000 entries, 900 of everything else. */
const TRANSFERS = 5_050;

describe('the auditor', () => {
  let db: TestDatabase;

  // A database of its own: the audits of the other tests need not read all this.
  before(async () => {
    db = await ownDatabase('audit');
  });

  after(() => db.remove());

  it('reports no finding while money moves', async () => {
    const api = await startTestApi(db);
    const state = { audits: 0 };
    await during(racingStorm({ api, clients: 32, rounds: 8 }), async () => {
      assert.deepEqual((await audit(db.database)).findings, []);
      state.audits += 1;
    });
    assert(state.audits > 1, 'nothing was audited while money moved');
    await api.stop();
  });

  describe('over more than one slice', () => {
    let tenant: TestTenant;
    let payer: Account;

    before(async () => {
      const deps = {
        database: db.database,
        writer: openWriter(db.database, { maxQueue: 10_000 }).writer,
      };
      tenant = await makeTenant(db.database);
      payer = await makeAccount(deps, tenant, { funds: { COPM: BigInt(TRANSFERS) } });
      const receiver = await makeAccount(deps, tenant);
      for (let done = 0; done < TRANSFERS; done += 1_010)
        await Promise.all(
          Array.from({ length: 1_010 }, () =>
            deps.writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n })),
          ),
        );
    });

    after(() => assertLedgerSound(db.database));

    it('an audit of more than one slice reads every row of the tenant, and reports its progress', async () => {
      const progress: { done: number; total: number }[] = [];
      const { findings, checked } = await audit(db.database, {
        tenantId: tenant.tenant.id,
        onProgress: (done, total) => progress.push({ done, total }),
      });
      assert.deepEqual(findings, []);
      assert.deepEqual(
        [
          checked.entries,
          checked.ledger_transactions,
          checked.transfers,
          checked.events,
          checked.idempotency_keys,
        ],
        [2 * TRANSFERS + 2, TRANSFERS + 1, TRANSFERS, TRANSFERS, TRANSFERS + 1],
      );
      assert.equal(checked['differing ranges'], undefined, 'compared although nothing is wrong');
      assert(progress.length > 20);
      for (const { done, total } of progress) assert(done <= total);
      assert.deepEqual(progress.at(-1)?.done, progress.at(-1)?.total);
      assert.deepEqual(
        progress.map(({ done }) => done),
        progress.map(({ done }) => done).sort((a, b) => a - b),
      );
    });

    // Each is far from the beginning of its table's walk; the second statement puts it right again.
    const far = TRANSFERS - 3;
    const damages: Readonly<
      Record<string, (of: { account: string; tenant: string }) => readonly [string, string]>
    > = {
      entry_total: ({ account }) =>
        change('entries', 'total_after', `account_id=${account} AND seq=${far}`),
      event_body: ({ tenant: own }) => [
        `UPDATE events SET body=CONCAT('!', body) WHERE tenant_id=${own} AND sequence=${far}`,
        `UPDATE events SET body=SUBSTR(body, 2) WHERE tenant_id=${own} AND sequence=${far}`,
      ],
      account_seq: ({ account }) =>
        change('balances', 'seq', `account_id=${account} AND asset='COPM'`),
      month_total: ({ account }) => change('month_totals', 'used', `account_id=${account}`),
    };
    for (const [check, statements] of Object.entries(damages))
      it(`an audit of more than one slice finds ${check} once for each place`, async () => {
        const own = { account: uuid.literal(payer.id), tenant: uuid.literal(tenant.tenant.id) };
        const [damage, repair] = statements(own);
        await db.change(damage);
        const { findings } = await audit(db.database, { tenantId: tenant.tenant.id });
        await db.change(repair);
        assert.deepEqual([...new Set(findings.map((finding) => finding.check))], [check]);
        assert(findings.length <= 2);
      });
  });
});

function change(table: string, column: string, where: string): readonly [string, string] {
  return [
    `UPDATE ${table} SET ${column}=${column}+1 WHERE ${where}`,
    `UPDATE ${table} SET ${column}=${column}-1 WHERE ${where}`,
  ];
}
