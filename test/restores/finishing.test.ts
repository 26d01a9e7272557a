import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { migrate } from '../../src/db/migrate.js';
import { restores } from '../../src/db/entities/restores.js';
import { insertSql } from '../../src/db/statements.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { type Rail, type RailPage, RailSilent } from '../../src/payouts/rails/rail.js';
import { openLedger, raiseContradictions } from '../../src/restores/finish-restore.js';
import { lastRestore, newRestore, openRestore } from '../../src/restores/begin-restore.js';
import { askRails } from '../../src/restores/rails.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import { payoutWaitsFor, stuckText } from '../../src/support/reading/payouts.js';
import { run } from '../ops/ops.js';
import { ScriptedRail } from '../payouts/scripted-rail.js';
import { openPayoutBank, paidTimes, railsOf, rowOf, saidOf } from '../payouts/support.js';
import type { TestApi } from '../support/api.js';
import { answered, idLiteral, LEAST } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { addStaff, proven } from '../support/staff.js';
import { until } from '../support/temporal.js';
import { balanceOf } from '../support/world.js';
import { idsOf, RestoredService } from './support.js';

describe('finishing a restore', () => {
  let service: RestoredService;
  let db: TestDatabase;
  let api: TestApi;

  before(async () => {
    service = await RestoredService.open();
    ({ db, api } = service);
  });
  after(() => service.stop());

  const proveLeo = async (): Promise<StaffIdentity> =>
    proven(await addStaff(db.database, { name: 'leo', rights: ['manage'] }));

  it('finishing a restore is for the restore that is open, or else the youngest, whatever their ids are', async () => {
    const { database } = db;
    const finished = (id: string, beganAt: Instant) => ({
      ...newRestore('migration', beganAt),
      ...{ id: id as Uuid, finishedAt: instant(beganAt + 1) },
    });
    await database.withTransaction(async (work) => {
      await work.execute(
        insertSql(restores, [finished('ffffffff-0000-1000-8000-000000000000', instant(1_000))]),
      );
      await work.execute(
        insertSql(restores, [finished('00000000-0000-1000-8000-000000000000', instant(2_000))]),
      );
    });
    assert.equal((await lastRestore(database.reader))?.beganAt, 2_000);
    await service.begin();
    const open = await openRestore(database.reader);
    assert.equal((await service.shown()).id, open?.id);
    const ran = await service.finish();
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(
      [(await service.shown()).id, (await service.shown()).ledger],
      [open?.id, 'open'],
    );
  });

  it('finishing a restore continues with a copy that the migrations closed, and said so, whose id is ordered by time like any other', async () => {
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
    await service.done('restore', 'begin', '--reason', 'a test', '--nothing-lost', '--as', 'maria');
    assert.equal((await service.finish()).code, 0);
  });

  it('finishing a restore asks a rail that was left out when it is repeated without that option, before and after the ledger is open', async () => {
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
    assert.equal((await service.shown()).rails_asked_at, null);
    const second = await service.finish('--json');
    assert.equal(second.code, 0, second.stderr);
    assert.deepEqual(idsOf(second), keys);

    await service.begin();
    keys.push(await service.paidThere());
    const without = await service.finish('--leave-out', SIMULATED, '--json');
    assert.deepEqual([without.code, idsOf(without)], [0, []], without.stderr);
    assert.match(without.stderr, /Not asked: simulated/);
    assert.deepEqual(
      [(await service.shown()).ledger, (await service.shown()).rails_asked_at],
      ['open', null],
    );
    const later = await service.finish('--json');
    assert.deepEqual([later.code, idsOf(later).sort()], [0, [...keys].sort()], later.stderr);
    assert.notEqual((await service.shown()).rails_asked_at, null);
    const left = await db.sql(
      `SELECT JSON_VALUE(details, '$.left_out') AS rails FROM audit_log WHERE action='restore.finish' ORDER BY at DESC LIMIT 2`,
    );
    assert.deepEqual(
      left.map(({ rails }) => rails),
      [SIMULATED, ''],
    );
  });

  it("finishing a restore opens the ledger with the rail's payments out of reach: neither time nor anybody gives back what was paid", async () => {
    const own = await openPayoutBank(api);
    const approved = await own.pay();
    await own.guard();
    const [late, waiting] = [await own.pend(), await own.pend()];
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
    await askRails({ ...deps, restore, onProgress: () => undefined }, rails);
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
    assert.ok((await raiseContradictions(deps, restore.id, calls)) > 0);
    assert.equal(await raiseContradictions(deps, restore.id, calls), 0);
    assert.deepEqual(
      (await saidOf(db, late)).map(({ kind, effect }) => [kind, effect]),
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

  it('finishing a restore lets nobody end what a rail that was left out may have, until it is asked and does not know it', async () => {
    const own = await openPayoutBank(api);
    const approved = [await own.pay(), await own.pay()];
    await own.guard();
    const [late, waiting] = [await own.pend(), await own.pend()];
    for (const key of [approved[0]!, late]) await service.paidThere(key);
    await db.change(
      `UPDATE payouts SET approval_expires_at='2020-01-01' WHERE id IN (${[late, waiting].map(idLiteral).join(',')})`,
    );
    await service.begin();
    assert.equal((await service.finish('--leave-out', SIMULATED)).code, 0);
    const { approvals, submissions } = railsOf(db);
    assert.equal(await approvals.expireDue(100), 0);
    for (const id of [late, waiting]) answered(await own.act('reject', id), 409, 'invalid_state');
    for (const id of approved)
      answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
    const held = await rowOf(db, waiting);
    assert.equal(
      stuckText(held),
      'its rail knows of it, or was not asked when the database was restored',
    );
    assert.equal(payoutWaitsFor(held, systemClock()), '1 more approval');
    const statuses = async () =>
      Promise.all([...approved, late, waiting].map(async (id) => (await rowOf(db, id)).status));
    assert.deepEqual(await statuses(), [
      'in_progress',
      'in_progress',
      'pending_approval',
      'pending_approval',
    ]);

    const later = await service.finish('--json');
    assert.deepEqual(
      [later.code, idsOf(later).includes(late), idsOf(later).includes(waiting)],
      [0, true, false],
    );
    assert.equal(await approvals.expireDue(100), 1);
    answered(await own.act('reject', late), 409, 'invalid_state');
    answered(await own.act('approve', late), 200);
    for (const id of [...approved, late]) await submissions.submit(id);
    assert.deepEqual(await statuses(), ['completed', 'completed', 'completed', 'canceled']);
    assert.deepEqual(await paidTimes(db, [...approved, late]), [1, 1, 1]);
  });

  it('finishing a restore does not open the ledger while payouts take a rail that is not configured, unless that is left out', async () => {
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
      [(await service.shown()).ledger, (await service.shown()).rails_asked_at],
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

  it('finishing a restore does not open the ledger before every rail that was ever used is configured or left out, even if all its payouts are ended or lost', async () => {
    const own = await openPayoutBank(api);
    const id = await own.pay();
    answered(await own.act('cancel', id, own.bank.token), 200);
    await db.change(`UPDATE payouts SET rail='http:ended' WHERE id=${idLiteral(id)}`);
    await db.change(
      `INSERT INTO sweep_leases (name,taken_at,lease_until) VALUES ('probes http:lost','2026-01-01','2026-01-01')`,
    );
    // Where nothing is lost, they cannot have anything.
    await service.done('restore', 'begin', '--reason', 'a move', '--nothing-lost', '--as', 'maria');
    await service.done('restore', 'finish', '--as', 'leo');
    await service.begin();
    for (const left of [[], ['http:ended'], ['http:lost']]) {
      const refused = await service.finish(...left.flatMap((rail) => ['--leave-out', rail]));
      const missing = ['http:ended', 'http:lost'].filter((rail) => !left.includes(rail)).join(', ');
      assert.deepEqual(
        [refused.code, refused.stderr.includes(`payouts used ${missing},`)],
        [2, true],
        refused.stderr,
      );
      assert.equal((await service.shown()).ledger, 'closed');
    }
    const without = await service.finish('--leave-out', 'http:ended,http:lost');
    assert.equal(without.code, 0, without.stderr);
    await db.change(`UPDATE payouts SET rail='${SIMULATED}' WHERE id=${idLiteral(id)}`);
    await db.change('DELETE FROM sweep_leases');
    assert.equal((await service.finish()).code, 0);
  });

  it('finishing a restore names the rails that it asks before it does anything: one that was first used in the lost time is in no row', async () => {
    await service.begin();
    const args = await service.people.withCode(['restore', 'finish', '--as', 'leo']);
    const unsure = await run('src/ops/main.js', args, service.people.env);
    assert.deepEqual(
      [unsure.code, /Ask simulated,.*first used/.test(unsure.stderr)],
      [1, true],
      unsure.stderr,
    );
    assert.equal((await service.shown()).rails_asked_at, null);
    assert.equal((await service.finish()).code, 0);
  });

  it('finishing a restore lets nobody cancel what was approved and its rail does not answer about', async () => {
    const own = await openPayoutBank(api);
    const id = await own.pay();
    await service.begin();
    const deps = { database: db.database, clock: systemClock };
    const restore = (await openRestore(db.database.reader))!;
    const silent = new Map([[SIMULATED, new ScriptedRail()]]);
    await askRails({ ...deps, restore, onProgress: () => undefined }, silent);
    await openLedger(deps, restore, await proveLeo(), [], {});
    answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
    await railsOf(db).submissions.submit(id);
    assert.deepEqual([(await rowOf(db, id)).status, await paidTimes(db, [id])], ['completed', [1]]);
  });

  it('finishing a restore keeps payouts from ending before it opens the ledger, however many they are, not in that moment', async () => {
    const own = await openPayoutBank(api);
    const approved = await own.pay();
    await own.guard();
    const waiting = await own.pend();
    await service.begin();
    const restore = (await openRestore(db.database.reader))!;
    const deps = { database: db.database, clock: systemClock };
    // Nothing can open the ledger.
    const locked = await db.database.withTransaction(async (transaction) => {
      await transaction.select(restores, { id: restore.id }, { forUpdate: true });
      const opening = openLedger(deps, restore, await proveLeo(), [SIMULATED], {});
      await until(
        'the payouts are kept from ending',
        async () => {
          const [one, other] = [await rowOf(db, approved), await rowOf(db, waiting)];
          return one.status === 'in_progress' && other.stuckReason === 'contradiction'
            ? true
            : null;
        },
        { limitMs: 10_000 },
      );
      return { opening };
    });
    await locked.opening;
    assert.equal((await service.finish()).code, 0);
    assert.equal((await rowOf(db, waiting)).stuckSince, null);
    answered(await own.act('cancel', waiting), 200);
    await railsOf(db).submissions.submit(approved);
    assert.deepEqual(
      [(await rowOf(db, approved)).status, await paidTimes(db, [approved])],
      ['completed', [1]],
    );
  });

  it('finishing a restore ends with a rail whose list does not advance, as with one that does not answer', async () => {
    const [low, high] = [
      '11111111-1111-7111-8111-111111111111',
      '22222222-2222-7222-8222-222222222222',
    ] as Uuid[];
    for (const then of [high!, low!]) {
      let asked = 0;
      const pages: RailPage[] = [{ items: [], next: high! }];
      const rail = {
        status: () => Promise.resolve(null),
        list: () => {
          asked += 1;
          return Promise.resolve(
            asked > 5 ? { items: [], next: null } : (pages.shift() ?? { items: [], next: then }),
          );
        },
      } as unknown as Rail;
      const restore = newRestore('operator', systemClock());
      const deps = {
        database: db.database,
        clock: systemClock,
        restore,
        onProgress: () => undefined,
      };
      await assert.rejects(askRails(deps, new Map([['looping', rail]])), RailSilent);
      assert.equal(asked, 2);
    }
  });
});
