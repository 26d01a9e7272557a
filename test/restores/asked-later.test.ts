import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { reconcile } from '../../src/payouts/statements/reconcile.js';
import { settlePayoutsOf } from '../../src/restores/hold-payouts.js';
import { lastRestore } from '../../src/restores/begin-restore.js';
import { askRails, findingsOf } from '../../src/restores/rails.js';
import { run } from '../ops/ops.js';
import { ScriptedRail } from '../payouts/scripted-rail.js';
import {
  openPayoutBank,
  paidTimes,
  type PayoutBank,
  railsOf,
  resolve,
  rowOf,
} from '../payouts/support.js';
import { answered, idLiteral, LEAST } from '../support/bank.js';
import { type TestDatabase } from '../support/database.js';
import { balanceOf, TEST_ACTOR } from '../support/world.js';
import { idsOf, RestoredService } from './support.js';

describe('a rail that is asked only after the ledger was opened', () => {
  let service: RestoredService;
  let db: TestDatabase;
  let own: PayoutBank;

  before(async () => {
    service = await RestoredService.open();
    ({ db } = service);
  });
  beforeEach(async () => {
    own = await openPayoutBank(service.api);
    await own.guard();
  });
  after(() => service.stop());

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

  it('a rail that is asked only after the ledger was opened gives nothing back that it has paid: what was approved meanwhile is in progress, and goes on', async () => {
    const paid = await own.pend();
    await openWithout();
    await service.paidThere(paid);
    await approve(paid);
    answered(await own.act('cancel', paid), 409, 'invalid_state');
    const later = await service.finish('--json');
    assert.deepEqual([later.code, idsOf(later)], [0, []], later.stderr);
    await assertGoesOn(paid);
  });

  it('a rail that is asked only after the ledger was opened gives nothing back that it does not answer about: what was approved meanwhile is in progress, and goes on', async () => {
    const unclear = await own.pend();
    await openWithout();
    await approve(unclear);
    const deps = { database: db.database, clock: systemClock };
    const restore = (await lastRestore(db.database.reader))!;
    await askRails(
      { ...deps, restore, onProgress: () => undefined },
      new Map([[SIMULATED, new ScriptedRail()]]),
    );
    await settlePayoutsOf(deps, restore, [SIMULATED]);
    await assertGoesOn(unclear);
  });

  it('a rail that is asked only after the ledger was opened lets members end what was approved meanwhile and it does not know', async () => {
    const unknown = await own.pend();
    await openWithout();
    await approve(unknown);
    assert.equal((await service.finish()).code, 0);
    assert.equal((await rowOf(db, unknown)).stuckSince, null);
    answered(await own.act('cancel', unknown), 200);
  });

  it('a rail that is asked only after the ledger was opened lets members end what it contradicted long before, if that was settled and it does not know it now', async () => {
    const id = await own.pend();
    const { calls } = railsOf(db);
    const said = { status: 'completed', reference: 'S-1', failureCode: null } as const;
    await calls.report(await rowOf(db, id), 'inquiry', said);
    await resolve(railsOf(db), db, id, 'unchanged');
    await db.change(
      `UPDATE payout_rail_events SET at=at-INTERVAL 1 HOUR WHERE payout_id=${idLiteral(id)}`,
    );
    await openWithout();
    answered(await own.act('cancel', id), 409, 'invalid_state');
    assert.equal((await service.finish()).code, 0);
    answered(await own.act('cancel', id), 200);
  });

  it('a rail that is asked only after the ledger was opened does not end the alarm of a payout that a statement has listed as paid since', async () => {
    const id = await own.pend();
    await openWithout();
    await approve(id);
    const { submissions, writer, callbacks } = railsOf(db, { rail: new ScriptedRail('silent') });
    await submissions.submit(id);
    const day = dayOf(systemClock());
    const line = {
      number: 2,
      payoutKey: id,
      status: 'completed',
      raw: LEAST,
      asset: 'COPM',
    } as const;
    const statement = { rail: SIMULATED, day, lines: [{ ...line, reference: 'BA-1', at: null }] };
    await reconcile(
      { database: db.database, writer, delayMs: 0 },
      statement,
      TEST_ACTOR,
      systemClock(),
    );
    assert.equal((await service.finish()).code, 0);
    assert.equal((await rowOf(db, id)).stuckReason, 'contradiction');
    const said = { status: 'failed', reference: 'BA-1', failureCode: 'account_closed' } as const;
    assert.equal(
      await callbacks.report(SIMULATED, { key: id, ...said, callbackId: `late-${id}` }),
      'conflict',
    );
    assert.deepEqual(await balanceOf(db.database, own.source.id), {
      available: 9_999n * LEAST,
      held: LEAST,
    });
  });

  it('a rail that is asked only after the ledger was opened contradicts nothing that is handed over while it is being asked', async () => {
    const ids = [await own.pend(), await own.pend()];
    await openWithout();
    const { submissions, simulated } = railsOf(db);
    // The first one before the rail answers, the second one right after.
    const rail = Object.assign(new ScriptedRail(), {
      status: async (key: Uuid) => {
        const isFirst = key === ids[0];
        const early = isFirst ? null : await simulated.status(key);
        if (ids.includes(key)) {
          answered(await own.act('approve', key), 200);
          await submissions.submit(key);
        }
        return isFirst ? simulated.status(key) : early;
      },
    });
    const deps = { database: db.database, clock: systemClock };
    const restore = (await lastRestore(db.database.reader))!;
    await askRails({ ...deps, restore, onProgress: () => undefined }, new Map([[SIMULATED, rail]]));
    assert.deepEqual(await Promise.all(ids.map(statusOf)), ['completed', 'completed']);
    const found = await findingsOf(db.database.reader, restore.id);
    assert.deepEqual(
      found.filter(({ payoutId }) => ids.includes(payoutId)),
      [],
    );
    await settlePayoutsOf(deps, restore, [SIMULATED]);
  });

  it('a rail that is asked only after the ledger was opened is asked for an earlier restore too when a later one is finished, which shows what is then found', async () => {
    const [paid, unknown] = [await own.pend(), await own.pend()];
    await service.paidThere(paid);
    await openWithout();
    const earlier = (await lastRestore(db.database.reader))!;
    const lost = await service.paidThere();
    await service.done('restore', 'begin', '--reason', 'a move', '--nothing-lost', '--as', 'maria');
    assert.ok((await service.shown()).earlier_not_asked.includes(earlier.id));
    const still = await service.finish('--leave-out', SIMULATED);
    assert.equal(still.code, 0, still.stderr);
    for (const id of [paid, unknown]) answered(await own.act('cancel', id), 409, 'invalid_state');

    await service.done('restore', 'begin', '--reason', 'a move', '--nothing-lost', '--as', 'maria');
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
