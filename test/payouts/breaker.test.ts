import assert from 'node:assert/strict';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import { outbox } from '../../src/db/entities/outbox.js';
import { railBreakers } from '../../src/db/entities/rails.js';
import { RailBreakers, RESUMES_AFTER_MS } from '../../src/payouts/breaker.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { balanceOf, TEST_ACTOR } from '../helpers/world.js';
import { ScriptedRail, say } from './scripted-rail.js';
import {
  assertSameStory,
  forgetRails,
  openPayoutBank,
  type PayoutBank,
  railsOf,
  rowOf,
  railEventsOf,
} from './support.js';

const DECIDED = { actor: TEST_ACTOR, reason: null };

const db = await testDatabase();
const api = await startTestApi(db);

describe('a rail that does not answer', () => {
  const OPTIONS = { opensAfter: 3, probeAfterMs: 1_000 };
  let own: PayoutBank;
  let now: () => Instant;

  beforeEach(async () => {
    await forgetRails(db);
    own = await openPayoutBank(api);
    now = systemClock;
  });

  const over = (...words: ConstructorParameters<typeof ScriptedRail>) => {
    const rail = new ScriptedRail(...words);
    return { rail, ...railsOf(db, { rail, clock: () => now(), breaker: OPTIONS }) };
  };
  const breaker = async () => (await db.database.reader.find(railBreakers, { rail: 'simulated' }))!;
  const pay = (count: number): Promise<Uuid[]> =>
    Promise.all(Array.from({ length: count }, () => own.pay()));
  const silent = (count: number) => Array.from({ length: count }, () => 'silent' as const);
  const later = (ms: number) => {
    const from = now();
    now = () => instant(from + ms);
  };

  it('the breaker of a rail opens after several payouts in a row had no response: further payouts wait without an attempt', async () => {
    const { rail, submitter } = over(...silent(3));
    const ids = await pay(4);
    for (const id of ids.slice(0, 3)) assert.equal((await submitter.submit(id)).isHeld, false);
    assert.equal((await breaker()).state, 'open');
    const last = ids[3]!;
    const { payout, isHeld } = await submitter.submit(last);
    assert.deepEqual([isHeld, payout.status, payout.attempts], [true, 'approved', 0]);
    assert.equal((await submitter.poll(ids[0]!)).isHeld, true);
    assert.equal(rail.given.length, 3);
    assert.equal(rail.asked.length, 0);
    assert.deepEqual(await railEventsOf(db, last), []);
    assert.equal((await balanceOf(db.database, own.source.id)).held, 4n * LEAST);
  });

  it('the breaker of a rail stays closed if only one payout has no response, even repeatedly', async () => {
    const { submissions } = over(...silent(8));
    const [id] = await pay(1);
    await submissions.submit(id!);
    for (let times = 0; times < 7; times += 1) await submissions.poll(id!);
    const { state, failures } = await breaker();
    assert.deepEqual([state, failures], ['closed', 1]);
  });

  it('two first failures of a rail at the same time both count', async () => {
    const breakers = new RailBreakers(db.database, systemClock, { opensAfter: 2 });
    for (let round = 0; round < 20; round += 1) {
      const rail = `http:first-${round}`;
      await Promise.all([1, 2].map(() => breakers.recordFailure(rail, newId(), 'no answer')));
      assert.equal(await breakers.isClosed(rail), false, rail);
    }
  });

  it('a response of a rail resets the count of payouts without a response', async () => {
    const { submissions } = over('silent', 'silent', say('completed'), 'silent', 'silent');
    for (const id of await pay(5)) await submissions.submit(id);
    const { state, failures } = await breaker();
    assert.deepEqual([state, failures], ['closed', 2]);
  });

  it('a rail that does not respond is probed by one worker with one payout at a time, at growing intervals', async () => {
    const words = silent(3);
    const { rail, submissions, recovery } = over(...words, ...silent(9));
    for (const id of await pay(3)) await submissions.submit(id);
    await recovery.probeDue('simulated');
    assert.equal(rail.asked.length, 0, 'it is not time');
    const pauses: number[] = [];
    for (let times = 1; times <= 5; times += 1) {
      const before = (await breaker()).probeAt!;
      now = () => before;
      const workers = [recovery, over().recovery, over().recovery];
      await Promise.all(workers.map((worker) => worker.probeDue('simulated')));
      const { state, probeAt, probes } = await breaker();
      assert.deepEqual([state, probes], ['open', times]);
      pauses.push(probeAt! - before);
    }
    assert.deepEqual(pauses, [2_000, 4_000, 6_000, 6_000, 6_000]);
  });

  it('an open breaker probes its rail with a payout that the rail knows; when it responds, waiting payouts continue', async () => {
    const { rail, submissions, submitter, recovery } = over(
      say('accepted', null, 'R-known'),
      ...silent(3),
      say('accepted', null, 'R-known'),
      say('completed', null, 'R-waited'),
    );
    const ids = await pay(5);
    for (const id of ids.slice(0, 4)) await submissions.submit(id);
    const waiting = ids[4]!;
    assert.equal((await submitter.submit(waiting)).isHeld, true);
    await db.change(`DELETE FROM outbox`);
    later(1_001);
    await recovery.probeDue('simulated');
    assert.deepEqual(rail.asked, [ids[0]]);
    const { state, failures, resumeAt } = await breaker();
    assert.deepEqual([state, failures], ['closed', 0]);
    assert.notEqual(resumeAt, null);
    // Another worker may take it for silent for some moments more, and hold what comes in them.
    const [held] = await pay(1);
    await db.change(`DELETE FROM outbox`);
    await recovery.resumeDue('simulated', new AbortController().signal);
    assert.deepEqual(await db.sql('SELECT resource_id FROM outbox'), []);
    later(RESUMES_AFTER_MS + 500);
    await recovery.resumeDue('simulated', new AbortController().signal);
    const told = await db.sql('SELECT resource_id FROM outbox ORDER BY resource_id');
    assert.deepEqual(
      told.map((row) => uuid.parse(row.resource_id)),
      [...ids.slice(1), held].toSorted(),
    );
    assert.equal((await breaker()).resumeAt, null);
    later(1_000);
    assert.equal((await submitter.submit(waiting)).isHeld, false);
    assert.equal((await rowOf(db, waiting)).status, 'completed');
    await assertSameStory(own, waiting);
  });

  it('a rail without any probe gets a waiting payout as a trial, and the attempt counts', async () => {
    const { rail, submitter, recovery, submissions } = over(...silent(3), say('completed'));
    const ids = await pay(4);
    for (const id of ids.slice(0, 3)) await submissions.submit(id);
    assert.equal((await submitter.submit(ids[3]!)).isHeld, true);
    later(1_001);
    await recovery.probeDue('simulated');
    assert.deepEqual(
      rail.given.map(({ key }) => key),
      ids,
    );
    const { status, attempts } = await rowOf(db, ids[3]!);
    assert.deepEqual([status, attempts], ['completed', 1]);
    assert.equal((await breaker()).state, 'closed');
  });

  it('payouts of a rail that does not respond stay approved and flagged until they are submitted or canceled', async () => {
    const { stuck, submissions } = over(say('completed'));
    const [handed, canceled] = await pay(2);
    await stuck.flagUnsubmitted(300_000, 100);
    assert.equal((await rowOf(db, handed!)).stuckSince, null, 'five minutes have not passed');
    await stuck.flagUnsubmitted(-1_000, 100);
    assert.equal((await rowOf(db, handed!)).stuckSince, null, 'their workflows have not started');
    await db.sql('DELETE FROM outbox');
    await stuck.flagUnsubmitted(-1_000, 100);
    for (const id of [handed!, canceled!]) {
      const { status, stuckReason } = await rowOf(db, id);
      assert.deepEqual([status, stuckReason], ['approved', 'no_outcome']);
    }
    assert.equal((await submissions.submit(handed!)).payout.status, 'completed');
    assert.equal((await own.act('cancel', canceled!, own.bank.token)).status, 200);
    const rows = await db.sql(
      `SELECT stuck_since FROM payouts WHERE id IN (${[handed!, canceled!].map(idLiteral).join(',')})`,
    );
    assert.deepEqual(rows, [{ stuck_since: null }, { stuck_since: null }]);
  });
});

describe('a payout of a frozen account', () => {
  let own: PayoutBank;
  let id: Uuid;

  beforeEach(async () => {
    await forgetRails(db);
    own = await openPayoutBank(api);
    id = await own.pay();
  });

  const freeze = () => freezeAccount(db.deps, own.source.id, DECIDED);
  const unfreeze = () => unfreezeAccount(db.deps, own.source.id, DECIDED);
  const told = () => db.database.reader.select(outbox, { resourceType: 'payout', resourceId: id });
  const over = (...words: ConstructorParameters<typeof ScriptedRail>) => {
    const rail = new ScriptedRail(...words);
    return { rail, ...railsOf(db, { rail }) };
  };

  it('an approved payout of a frozen account is not submitted, and can be canceled', async () => {
    const { rail, submitter } = over(say('completed'));
    await freeze();
    for (let times = 0; times < 2; times += 1) {
      const { payout, isHeld, isFrozen } = await submitter.submit(id);
      assert.deepEqual(
        [payout.status, payout.attempts, isHeld, isFrozen],
        ['approved', 0, true, true],
      );
    }
    assert.equal(rail.given.length, 0);
    assert.equal((await balanceOf(db.database, own.source.id)).held, LEAST);
    answered(await own.act('cancel', id, own.bank.token), 200);
    assert.equal((await balanceOf(db.database, own.source.id)).held, 0n);
    await assertSameStory(own, id);
  });

  it('is submitted when the account may send again, and its workflow is notified at once', async () => {
    const { rail, submitter } = over(say('completed'));
    await freeze();
    await submitter.submit(id);
    const before = (await told()).length;
    await unfreeze();
    assert.equal((await told()).length, before + 1);
    const { payout, isHeld } = await submitter.submit(id);
    assert.deepEqual([payout.status, isHeld, rail.given.length], ['completed', false, 1]);
    await assertSameStory(own, id);
  });

  it('that was submitted before is polled, and not submitted again before the account may send', async () => {
    const { rail, submitter } = over('silent', null, null, say('completed'));
    await submitter.submit(id);
    await freeze();
    const { payout, isHeld, isFrozen } = await submitter.poll(id);
    assert.deepEqual([payout.status, isHeld, isFrozen], ['in_progress', true, true]);
    assert.deepEqual([rail.given.length, rail.asked.length], [1, 1]);
    const before = (await told()).length;
    await unfreeze();
    assert.equal((await told()).length, before + 1);
    assert.equal((await submitter.poll(id)).payout.status, 'completed');
    assert.deepEqual([rail.given.length, rail.asked.length], [2, 2]);
    await assertSameStory(own, id);
  });
});
