import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { type Clock, instant, systemClock } from '../../src/core/instant.js';
import type { PayoutResolution } from '../../src/db/entities/payouts.js';
import { restores } from '../../src/db/entities/restores.js';
import { insertSql } from '../../src/db/statements.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import { proposeResolution, rejectResolution } from '../../src/payouts/resolution/resolutions.js';
import { newRestore } from '../../src/restores/begin-restore.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, balanceOf, someone } from '../helpers/world.js';
import { type Answer, say, ScriptedRail } from './scripted-rail.js';
import {
  assertSameStory,
  openPayoutBank,
  type PayoutBank,
  railsOf,
  resolve,
  rowOf,
  railEventsOf,
  seen,
} from './support.js';

const VOIDED = { status: 'voided', reference: null, failureCode: null } as const;
const HELD = { available: 9_999n * LEAST, held: LEAST };
const FREE = { available: 10_000n * LEAST, held: 0n };

const db = await testDatabase();
const api = await startTestApi(db);
// A restore that disappears would close the ledger.
api.core.rollbackGuard.stop();

describe('an outcome that releases money', () => {
  let own: PayoutBank;
  let id: Uuid;

  beforeEach(async () => {
    own = await openPayoutBank(api);
    id = await own.pay();
  });

  after(async () => {
    await assertLedgerSound(db.database);
  });

  /** Handed over without an answer; what the rail says next. */
  const silent = async (...next: Answer[]) => {
    const rail = new ScriptedRail('silent', ...next);
    const rails = railsOf(db, { rail });
    await rails.submissions.submit(id);
    return { rail, rails };
  };
  const balance = () => balanceOf(db.database, own.source.id);
  type Rails = ReturnType<typeof railsOf>;
  const tell = ({ callbacks }: Rails, ...word: Parameters<typeof say>) =>
    callbacks.report('simulated', { key: id, ...say(...word), callbackId: `${word.join()}-${id}` });
  const propose = async (
    { writer }: Rails,
    outcome: PayoutResolution['outcome'],
    looked?: Awaited<ReturnType<typeof seen>>,
  ) => {
    const wanted = { outcome, reason: 'asked at the bank', by: someone('maria') };
    return proposeResolution(writer, looked ?? (await seen(db, id)), wanted);
  };
  const approve = async ({ calls }: Rails, quietMs = 0, who = 'leo') =>
    approveResolution({ calls, quietMs: () => quietMs }, await seen(db, id), someone(who));
  const reject = async ({ writer }: Rails, who = 'leo') =>
    rejectResolution(writer, await seen(db, id), someone(who));
  const words = async () =>
    (await railEventsOf(db, id)).map(
      ({ kind, reported, effect }) => `${kind} ${reported ?? '-'} ${effect}`,
    );

  it("requires the rail's recorded confirmation that it will never pay", async () => {
    const { rail, rails } = await silent(VOIDED);
    assert.equal((await resolve(rails, db, id, 'failed')).status, 'failed');
    assert.deepEqual(rail.voided, [id]);
    assert.deepEqual(await balance(), FREE);
    assert.deepEqual(await words(), [
      'submission - sent',
      'submission - no_answer',
      'void voided applied',
      'resolution failed applied',
    ]);
    const acts = await db.sql(
      `SELECT action, actor_claimed FROM audit_log WHERE subject_id='${id}' ORDER BY id`,
    );
    assert.deepEqual(
      acts.map(({ action, actor_claimed: actor }) => `${String(action)} ${String(actor)}`),
      ['payout.resolve_propose maria', 'payout.void leo', 'payout.resolve_approve leo'],
    );
    await assertSameStory(own, id);
  });

  it("no proposed outcome is applied after a report of the rail, even if the proposer's clock was ahead", async () => {
    const { rails } = await silent();
    await propose(railsOf(db, { clock: () => instant(Date.now() + 3_000) }), 'completed');
    await tell(rails, 'failed', 'account_closed');
    await assert.rejects(approve(rails), /has become failed since it was proposed as completed/);
    assert.deepEqual(await balance(), FREE);
    await reject(rails);
    await assertSameStory(own, id);
  });

  it('cannot be proposed after the rail has reported the end or a contradiction', async () => {
    const { rails } = await silent();
    const inProgress = await seen(db, id);
    await tell(rails, 'failed', 'account_closed');
    await assert.rejects(
      propose(rails, 'completed', inProgress),
      /has become failed since you looked at it/,
    );
    assert.equal(await tell(rails, 'completed'), 'conflict');
    const contradicted = await seen(db, id);
    assert.equal(await tell(rails, 'returned'), 'conflict');
    await assert.rejects(
      propose(rails, 'unchanged', contradicted),
      /said something new about it since you looked at it/,
    );
    assert.deepEqual(await balance(), FREE);
    await propose(rails, 'unchanged');
  });

  it('is not applied if the rail does not respond', async () => {
    const { rails } = await silent('silent', VOIDED);
    await assert.rejects(
      resolve(rails, db, id, 'failed'),
      /the rail did not confirm that it will never pay this/,
    );
    assert.equal((await rowOf(db, id)).status, 'in_progress');
    assert.deepEqual(await balance(), HELD);
    await approve(rails);
    assert.deepEqual(await balance(), FREE);
  });

  it('if the rail reports another outcome than a proposed release of money, the report is applied instead', async () => {
    for (const [word, proposed, status] of [
      [say('accepted'), 'failed', 'in_progress'],
      [say('completed'), 'failed', 'completed'],
      [say('returned'), 'failed', 'returned'],
      [VOIDED, 'returned', 'failed'],
    ] as const) {
      id = await own.pay();
      const { rails } = await silent(word);
      await assert.rejects(
        resolve(rails, db, id, proposed),
        new RegExp(`the rail says that it is ${word.status}`),
      );
      assert.equal((await rowOf(db, id)).status, status);
      await assertSameStory(own, id);
    }
  });

  it('a second person applies only the proposal that they have seen, even if it is replaced while the rail is called', async () => {
    const { rails } = await silent();
    await propose(rails, 'failed');
    const answer = async (): Promise<typeof VOIDED> => {
      await reject(rails, 'maria');
      await propose(rails, 'completed');
      return VOIDED;
    };
    const swapping = railsOf(db, { rail: Object.assign(new ScriptedRail(), { void: answer }) });
    await assert.rejects(approve(swapping), /another resolution is proposed in its place/);
    assert.equal((await rowOf(db, id)).status, 'failed', 'as the rail said meanwhile');
    assert.deepEqual(await balance(), FREE);
    await assertSameStory(own, id);
  });

  it('is not applied if the rail reports a second payment during the poll: the money stays on hold', async () => {
    const rail = new ScriptedRail(say('accepted'));
    const answer = async (): Promise<typeof VOIDED> => {
      const second = { key: id, ...say('completed', null, 'R-2'), callbackId: `second-${id}` };
      assert.equal(await rails.callbacks.report('simulated', second), 'conflict');
      return VOIDED;
    };
    const rails = railsOf(db, { rail: Object.assign(rail, { void: answer }) });
    await rails.submissions.submit(id);
    await assert.rejects(
      resolve(rails, db, id, 'failed'),
      /said something new about it since it was proposed as failed/,
    );
    const { status, stuckReason } = await rowOf(db, id);
    assert.deepEqual([status, stuckReason], ['in_progress', 'contradiction']);
    await reject(rails);
    const voiding = railsOf(db, { rail: new ScriptedRail(VOIDED) });
    assert.equal((await resolve(voiding, db, id, 'failed')).status, 'failed');
    await assertSameStory(own, id);
  });

  it('a process without the rail does not release money while a worker has the rail configured, or had it configured within the last day', async () => {
    const { rails } = await silent(VOIDED);
    const gone = railsOf(db, { rails: new Map() });
    const leasedUntil = (moment: string): Promise<unknown> =>
      db.change(
        `INSERT INTO sweep_leases (name,holder,acquired_at,lease_until)
         VALUES ('probes simulated',UNHEX(REPLACE(UUID(),'-','')),UTC_TIMESTAMP(3),UTC_TIMESTAMP(3)${moment})
         ON DUPLICATE KEY UPDATE lease_until=VALUES(lease_until)`,
      );
    for (const moment of ['+INTERVAL 1 HOUR', '-INTERVAL 23 HOUR']) {
      await leasedUntil(moment);
      await assert.rejects(
        resolve(gone, db, id, 'failed', 0),
        /the rail simulated is not configured here/,
      );
      assert.deepEqual(await balance(), HELD);
      await reject(rails);
    }
    await leasedUntil('-INTERVAL 25 HOUR');
    assert.equal((await resolve(gone, db, id, 'failed', 0)).status, 'failed');
    await db.change('DELETE FROM sweep_leases');
  });

  describe('on a rail that cannot void', () => {
    it('a release of money waits for a period without attempts, and the message names its end', async () => {
      let now: Clock = systemClock;
      const rail = new ScriptedRail('silent', null, 'silent', null, null);
      const rails = railsOf(db, { rail, clock: () => now() });
      const { payout: first } = await rails.submissions.submit(id);
      now = () => instant(Date.now() + 3_000_000);
      const { attemptedAt, attempts } = (await rails.submissions.poll(id)).payout;
      assert(attemptedAt !== null && first.attemptedAt !== null && attemptedAt > first.attemptedAt);
      assert.equal(attempts, 2);
      const until = new Date(attemptedAt + 3_600_000).toISOString();
      now = () => instant(attemptedAt + 3_599_999);
      await assert.rejects(
        resolve(rails, db, id, 'failed', 3_600_000),
        new RegExp(`before ${until}`),
      );
      assert.deepEqual(await balance(), HELD);
      now = () => instant(attemptedAt + 3_600_000);
      assert.equal((await approve(rails, 3_600_000)).status, 'failed');
      await assertSameStory(own, id);
    });

    it('the wait before money is released counts from the end of the period that a restore lost', async () => {
      let now: Clock = systemClock;
      const rails = railsOf(db, {
        rail: new ScriptedRail('silent', null, null),
        clock: () => now(),
      });
      const { createdAt } = (await rails.submissions.submit(id)).payout;
      const lostUntil = instant(createdAt + 1_800_000);
      const [lost, before] = [lostUntil, instant(createdAt - 1)].map((until, index) => ({
        ...newRestore('operator', instant(createdAt + index)),
        ...{ restoredTo: createdAt, lostUntil: until, finishedAt: until },
      }));
      await db.database.withTransaction((work) =>
        work.execute(insertSql(restores, [lost!, before!])),
      );
      now = () => instant(lostUntil + 3_599_999);
      const until = new Date(lostUntil + 3_600_000).toISOString();
      await assert.rejects(
        resolve(rails, db, id, 'failed', 3_600_000),
        new RegExp(`before ${until}`),
      );
      assert.deepEqual(await balance(), HELD);
      now = () => instant(lostUntil + 3_600_000);
      assert.equal((await approve(rails, 3_600_000)).status, 'failed');
      await db.change('DELETE FROM restores');
    });
  });

  it('a payout with a proposed resolution is not submitted again, but still polled', async () => {
    const rail = new ScriptedRail('silent', null, null, say('accepted'));
    const rails = railsOf(db, { rail });
    await rails.submissions.submit(id);
    await propose(rails, 'failed');
    await rails.submissions.poll(id);
    assert.deepEqual([rail.given.length, rail.asked.length], [1, 1]);
    await reject(rails);
    await rails.submissions.poll(id);
    assert.deepEqual([rail.given.length, rail.asked.length], [2, 2]);
  });
});
