import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { migrate } from '../../src/db/migrate.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { openLedger, flagContradictions } from '../../src/restores/finish-restore.js';
import { lastRestore, openRestore } from '../../src/restores/begin-restore.js';
import { queryRails } from '../../src/restores/rails.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import { run } from '../ops/ops.js';
import {
  openPayoutBank,
  paidTimes,
  type PayoutBank,
  railsOf,
  rowOf,
  railEventsOf,
} from '../payouts/support.js';
import { answered, idLiteral, LEAST } from '../helpers/bank.js';
import { addStaff, proven } from '../helpers/staff.js';
import { balanceOf } from '../helpers/world.js';
import { idsOf, RestoredService } from './support.js';

const service = await RestoredService.open();
const { db, api } = service;

describe('finishing a restore', () => {
  after(() => service.stop());

  const proveLeo = async (): Promise<StaffIdentity> =>
    proven(await addStaff(db.database, { name: 'leo', rights: ['manage'] }));

  it('also works for a copy that the migrations closed', async () => {
    const name = `${db.name}_new`;
    await db.change(`CREATE USER '${name}'@'%' IDENTIFIED BY 'test-only'`);
    const url = new URL(db.url);
    url.username = name;
    let told = 0;
    // Only the first time: from then on its user has rights there.
    for (let times = 0; times < 2; times += 1)
      await migrate({ adminUrl: db.adminUrl, url: url.href, onClosed: () => (told += 1) });
    assert.equal(told, 1);
    await db.change(`DROP USER '${name}'@'%'`);
    const closed = await openRestore(db.database.reader);
    assert.deepEqual([closed?.noticedBy, closed?.id[14]], ['migration', '7']);
    await service.beginWithoutLoss('a test');
    assert.equal((await service.finish()).code, 0);
  });

  it('asks a rail that was left out when it is repeated without that option, before and after the ledger is open', async () => {
    await service.begin();
    const keys = [await service.paidThere()];
    // The audit holds it up.
    await db.change('UPDATE balances SET available=available+1');
    const first = await service.finish('--leave-out', SIMULATED);
    assert.deepEqual(
      [first.code, /ledger stays closed/.test(first.stderr)],
      [1, true],
      first.stderr,
    );
    await db.change('UPDATE balances SET available=available-1');
    assert.equal((await service.shown()).rails_queried_at, null);
    const second = await service.finish('--json');
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(idsOf(second), keys);

    await service.begin();
    keys.push(await service.paidThere());
    const without = await service.finish('--leave-out', SIMULATED, '--json');
    assert.deepEqual([without.code, idsOf(without)], [0, []], without.stderr);
    assert.match(without.stderr, /Not asked: simulated/);
    assert.deepEqual(
      [(await service.shown()).ledger, (await service.shown()).rails_queried_at],
      ['open', null],
    );
    const later = await service.finish('--json');
    assert.deepEqual([later.code, idsOf(later).sort()], [0, [...keys].sort()], later.stderr);
    assert.notEqual((await service.shown()).rails_queried_at, null);
    const left = await db.sql(
      `SELECT JSON_VALUE(details, '$.left_out') AS rails FROM audit_log WHERE action='restore.finish' ORDER BY at DESC LIMIT 2`,
    );
    assert.deepEqual(
      left.map(({ rails }) => rails),
      [SIMULATED, ''],
    );
  });

  it('holds payouts that the rail has paid, so that neither an expiry nor a person gives their money back', async () => {
    const own = await openPayoutBank(api);
    const approved = await own.pay();
    await own.guard();
    const [late, waiting] = [await own.createPending(), await own.createPending()];
    // What was done with them in the lost time is known to the rail alone.
    for (const key of [approved, late]) await service.paidThere(key);
    await db.change(
      `UPDATE payouts SET approval_expires_at='2020-01-01' WHERE id IN (${[late, waiting].map(idLiteral).join(',')})`,
    );
    await service.begin();
    const { approvals, submissions, calls, silent } = railsOf(db);
    const restore = (await openRestore(db.database.reader))!;
    const deps = { database: db.database, clock: systemClock };
    const rails = new Map([[SIMULATED, new SimulatedRail(db.database, systemClock, SIMULATED)]]);
    await queryRails({ ...deps, restore, onProgress: () => undefined }, rails);
    const leo = await proveLeo();
    await openLedger(deps, restore, leo, [], {});
    // Before anything else is done.
    assert.equal(await approvals.expireDue(100), 1);
    answered(await own.act('reject', late), 409, 'invalid_state');
    answered(await own.act('cancel', late), 409, 'invalid_state');
    answered(await own.act('cancel', approved, own.bank.token), 409, 'invalid_state');
    const statuses = async () =>
      Promise.all([approved, late, waiting].map(async (id) => (await rowOf(db, id)).status));
    assert.deepEqual(await statuses(), ['in_progress', 'pending_approval', 'canceled']);
    assert.ok((await flagContradictions(deps, restore.id, calls)) > 0);
    assert.equal(await flagContradictions(deps, restore.id, calls), 0);
    assert.deepEqual(
      (await railEventsOf(db, late)).map(({ kind, effect }) => [kind, effect]),
      [['inquiry', 'conflict']],
    );
    answered(await own.act('approve', late), 200);
    for (const id of [approved, late]) await submissions.submit(id);
    assert.deepEqual(await statuses(), ['completed', 'completed', 'canceled']);
    assert.deepEqual(await paidTimes(db, [approved, late]), [1, 1]);
    assert.deepEqual(silent, []);
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 9_998n * LEAST,
      held: 0n,
    });
  });

  it('does not open the ledger while payouts use a rail that is not configured, unless the rail is left out', async () => {
    const own = await openPayoutBank(api);
    const id = await own.pay();
    await db.change(`UPDATE payouts SET rail='http:elsewhere' WHERE id=${idLiteral(id)}`);
    await service.begin();
    const refused = await service.finish();
    assert.deepEqual(
      [refused.code, /payouts used http:elsewhere/.test(refused.stderr)],
      [2, true],
      refused.stderr,
    );
    assert.deepEqual(
      [(await service.shown()).ledger, (await service.shown()).rails_queried_at],
      ['closed', null],
    );
    const without = await service.finish('--leave-out', 'http:elsewhere');
    assert.deepEqual(
      [without.code, /Not asked: http:elsewhere/.test(without.stderr)],
      [0, true],
      without.stderr,
    );
    answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
    await db.change(`UPDATE payouts SET rail='${SIMULATED}' WHERE id=${idLiteral(id)}`);
    assert.equal((await service.finish()).code, 0);
    await railsOf(db).submissions.submit(id);
    assert.equal((await rowOf(db, id)).status, 'completed');
  });

  it('names the rails that it will ask before it does anything, because a rail that was first used in the lost time is in no row', async () => {
    await service.begin();
    const args = await service.people.withCode(['restore', 'finish', '--as', 'leo']);
    const unsure = await run('src/ops/main.js', args, service.people.env);
    assert.deepEqual(
      [unsure.code, /Ask simulated,.*first used/.test(unsure.stderr)],
      [2, true],
      unsure.stderr,
    );
    assert.equal((await service.shown()).rails_queried_at, null);
    assert.equal((await service.finish()).code, 0);
  });

  describe('with a rail that is queried only after the ledger was opened', () => {
    let own: PayoutBank;

    beforeEach(async () => {
      own = await openPayoutBank(api);
      await own.guard();
    });

    const statusOf = async (id: Uuid) => (await rowOf(db, id)).status;
    /** The ledger is open and the rail was left out; no worker hands over what members approve. */
    const openWithout = async (): Promise<void> => {
      await service.begin();
      const { code, stderr } = await service.finish('--leave-out', SIMULATED);
      assert.equal(code, 0, stderr);
    };
    const approve = async (id: Uuid): Promise<void> => {
      answered(await own.act('approve', id), 200);
      await db.change(`DELETE FROM outbox WHERE resource_id=${idLiteral(id)}`);
    };
    const assertGoesOn = async (id: Uuid): Promise<void> => {
      assert.equal(await statusOf(id), 'in_progress');
      answered(await own.act('cancel', id), 409, 'invalid_state');
      const told = await db.sql(`SELECT 1 FROM outbox WHERE resource_id=${idLiteral(id)}`);
      assert.equal(told.length, 1, 'its workflow is told');
      assert.deepEqual(
        [(await rowOf(db, id)).stuckReason, (await rowOf(db, id)).attempts],
        [null, 0],
      );
      await railsOf(db).submissions.poll(id);
      assert.deepEqual([await statusOf(id), await paidTimes(db, [id])], ['completed', [1]]);
      assert.deepEqual(await balanceOf(db.database, own.source.id), {
        available: 9_999n * LEAST,
        held: 0n,
      });
    };

    it('if a rail is queried only after the ledger was opened, payouts that it has paid continue, and no money is given back', async () => {
      const paid = await own.createPending();
      await openWithout();
      await service.paidThere(paid);
      await approve(paid);
      answered(await own.act('cancel', paid), 409, 'invalid_state');
      const later = await service.finish('--json');
      assert.deepEqual([later.code, idsOf(later).includes(paid)], [0, false], later.stderr);
      await assertGoesOn(paid);
    });

    it('if a rail is queried only after the ledger was opened, members can end payouts that it does not know', async () => {
      const unknown = await own.createPending();
      await openWithout();
      await approve(unknown);
      assert.equal((await service.finish()).code, 0);
      assert.equal((await rowOf(db, unknown)).stuckSince, null);
      answered(await own.act('cancel', unknown), 200);
    });

    it('a rail that was left out of a restore is queried for it when a later restore is finished, which shows the findings', async () => {
      const [paid, unknown] = [await own.createPending(), await own.createPending()];
      await service.paidThere(paid);
      await openWithout();
      const earlier = (await lastRestore(db.database.reader))!;
      const lost = await service.paidThere();
      await service.beginWithoutLoss('a move');
      assert.ok((await service.shown()).earlier_not_asked.includes(earlier.id));
      const still = await service.finish('--leave-out', SIMULATED);
      assert.equal(still.code, 0, still.stderr);
      for (const id of [paid, unknown]) answered(await own.act('cancel', id), 409, 'invalid_state');

      await service.beginWithoutLoss('a move');
      const finished = await service.finish('--json');
      assert.equal(finished.code, 0, finished.stderr);
      for (const id of [paid, lost])
        assert.equal(idsOf(finished).filter((found) => found === id).length, 1);
      const listed = await run(
        'src/ops/main.js',
        ['restore', 'findings', '--json'],
        service.people.env,
      );
      assert.deepEqual(idsOf(listed), idsOf(finished));
      assert.deepEqual((await service.shown()).earlier_not_asked, []);
      answered(await own.act('cancel', paid), 409, 'invalid_state');
      answered(await own.act('cancel', unknown), 200);
      answered(await own.act('approve', paid), 200);
      await railsOf(db).submissions.submit(paid);
      assert.deepEqual([await statusOf(paid), await paidTimes(db, [paid])], ['completed', [1]]);
    });
  });
});
