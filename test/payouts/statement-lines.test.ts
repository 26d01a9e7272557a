import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { instant, type Instant, systemClock } from '../../src/core/instant.js';
import type { Payout } from '../../src/db/entities/payouts.js';
import { LINE_STATUSES } from '../../src/db/entities/rails.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import type { RailReport } from '../../src/payouts/rails/rail.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { type Reconciled, reconcile } from '../../src/payouts/statements/reconcile.js';
import type { LineInput } from '../../src/payouts/statements/store.js';
import { answered, LEAST } from '../helpers/bank.js';
import { type TestDatabase } from '../helpers/database.js';
import { balanceOf, someone, TEST_ACTOR } from '../helpers/world.js';
import { type Answer, say } from './scripted-rail.js';
import { type PayoutBank, usePayouts, resolve, rowOf, railEventsOf, seen } from './support.js';

const RAIL = 'http:lines';
const DAY_MS = 86_400_000;

type Word = RailReport['status'];
type Line = LineInput['status'];
type Effect = 'noted' | 'applied' | 'conflict' | 'duplicate';

/** The effect of a report with the line's reference, or about a line without one, on a payout in progress. */
const AFTER_LINE: Readonly<Record<Line, Readonly<Record<Word, Effect>>>> = {
  completed: {
    accepted: 'noted',
    completed: 'applied',
    failed: 'conflict',
    returned: 'applied',
    voided: 'conflict',
  },
  failed: {
    accepted: 'conflict',
    completed: 'conflict',
    failed: 'applied',
    returned: 'conflict',
    voided: 'applied',
  },
  returned: {
    accepted: 'noted',
    completed: 'applied',
    failed: 'conflict',
    returned: 'applied',
    voided: 'conflict',
  },
};
const ENDS: Readonly<Record<Word, Payout['status']>> = {
  accepted: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  returned: 'returned',
  voided: 'failed',
};
/** How a payout is flagged when a line with its reference, or with none, follows the report that ended it. */
const AFTER_END: Readonly<Record<Line, Readonly<Record<Line, Payout['stuckReason']>>>> = {
  completed: { completed: null, failed: 'contradiction', returned: 'no_outcome' },
  failed: { completed: 'contradiction', failed: null, returned: 'contradiction' },
  returned: { completed: null, failed: 'contradiction', returned: null },
};
const WORDS = Object.keys(ENDS) as Word[];

describe('a line of a statement', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  let day: Instant = instant(dayOf(systemClock()) + DAY_MS);
  const { given, over, standing, tell } = usePayouts((opened) => void ({ db, own } = opened), {
    rail: RAIL,
    settings: {
      PAYOUT_RAILS: `*=${RAIL}`,
      PAYOUT_RAIL_URLS: 'lines=http://127.0.0.1:1',
      PAYOUT_RAIL_KEYS: `lines=k1:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });

  const poll = (id: Uuid, answer: Answer) => over(answer).submissions.poll(id);
  const lineOf = (payoutKey: Uuid, status: Line, reference: string | null = 'BA-1'): LineInput => ({
    number: 2,
    payoutKey,
    status,
    raw: LEAST,
    asset: 'COPM',
    reference,
    at: null,
  });
  const load = (of: Instant, ...given: readonly LineInput[]): Promise<Reconciled> => {
    const lines = given.map((line, index) => ({ ...line, number: index + 2 }));
    const { writer } = over();
    return reconcile(
      { database: db.database, writer, delayMs: 0 },
      { rail: RAIL, day: of, lines },
      TEST_ACTOR,
      systemClock(),
    );
  };
  /** Each on a day of its own, each day before the last: what others loaded is neither replaced nor missed. */
  const list = (...lines: readonly LineInput[]): Promise<Reconciled> => {
    day = instant(day - DAY_MS);
    return load(day, ...lines);
  };
  const held = async () => (await balanceOf(db.database, own.source.id)).held;

  for (const line of LINE_STATUSES)
    it(`that lists a payout in progress as ${line} decides what each report does to the payout`, async () => {
      for (const [word, listed] of [
        ...WORDS.map((one) => [one, 'BA-1'] as const),
        [line, null],
        [line, 'BA-2'],
      ] as const) {
        const id = await given();
        const before = await held();
        await list(lineOf(id, line, listed));
        const effect = listed === 'BA-2' ? 'conflict' : AFTER_LINE[line][word];
        assert.equal(await tell(id, word, null, 'BA-1'), effect, `${word} ${listed}`);
        const status = effect === 'conflict' ? 'in_progress' : ENDS[word];
        const isOpen = status === 'in_progress' || (line === 'returned' && status === 'completed');
        const flag = effect === 'conflict' ? 'contradiction' : isOpen ? 'no_outcome' : null;
        assert.deepEqual(await standing(id), [status, flag], `${word} ${listed}`);
        assert.equal(await held(), status === 'in_progress' ? before : before - LEAST);
      }
    });

  for (const end of LINE_STATUSES)
    it(`that follows the report that a payout was ${end} flags the payout unless both agree`, async () => {
      for (const [line, listed] of [
        ...LINE_STATUSES.map((one) => [one, 'BA-1'] as const),
        [end, null],
        [end, 'BA-2'],
      ] as const) {
        const flag = listed === 'BA-2' ? 'contradiction' : AFTER_END[end][line];
        const id = await given();
        assert.equal(await tell(id, end, null, 'BA-1'), 'applied');
        const { flagged } = await list(lineOf(id, line, listed));
        assert.deepEqual([...(await standing(id)), flagged], [end, flag, flag === null ? 0 : 1]);
      }
    });

  it('keeps the money on hold against a poll, a void and the response to an order', async () => {
    const id = await given(say('accepted', null, 'BA-1'));
    await list(lineOf(id, 'completed'));
    await poll(id, say('failed', 'account_closed', 'BA-1'));
    assert.deepEqual(await standing(id), ['in_progress', 'contradiction']);
    const { calls } = over();
    await calls.report(await rowOf(db, id), 'void', say('voided', null, null));
    await calls.report(await rowOf(db, id), 'submission', say('failed', 'account_closed', 'BA-1'));
    assert.deepEqual(await standing(id), ['in_progress', 'contradiction']);
    answered(await own.act('cancel', id, own.bank.token), 409, 'invalid_state');
    assert.equal(await held(), LEAST);
  });

  it('lines of two days with different outcomes flag the payout, with the other day named', async () => {
    const id = await given();
    await list(lineOf(id, 'failed'));
    assert.deepEqual(await standing(id), ['in_progress', 'no_outcome']);
    assert.equal((await list(lineOf(id, 'completed'))).flagged, 1);
    assert.deepEqual(await standing(id), ['in_progress', 'contradiction']);
    for (const word of ['failed', 'completed'] as const)
      assert.equal(await tell(id, word, null, 'BA-1'), 'conflict');
    assert.equal(await held(), LEAST);
  });

  it('a line that a payout was completed and a line that it was returned agree, in any order', async () => {
    for (const order of [
      ['completed', 'returned'],
      ['returned', 'completed'],
    ] as const) {
      const id = await given();
      for (const status of order) await list(lineOf(id, status));
      assert.deepEqual(await standing(id), ['in_progress', 'no_outcome']);
      assert.equal(await tell(id, 'returned', 'account_closed', 'BA-1'), 'applied');
      assert.deepEqual(await standing(id), ['returned', null]);
    }
  });

  it('does not count once a corrected statement of its day has another line, or none', async () => {
    for (const corrected of [['failed'], []] as const) {
      const id = await given();
      await list(lineOf(id, 'completed'));
      await load(day, ...corrected.map((status) => lineOf(id, status)));
      assert.equal(await tell(id, 'failed', 'account_closed', 'BA-1'), 'applied');
      assert.deepEqual(await standing(id), ['failed', null]);
    }
    assert.equal(await held(), 0n);
  });

  it('stops counting when two people have settled the payout against it', async () => {
    const id = await given();
    await list(lineOf(id, 'completed'));
    await tell(id, 'failed', 'account_closed', 'BA-1');
    await resolve(over(say('voided', null, null)), db, id, 'failed');
    assert.deepEqual(await standing(id), ['failed', null]);
    assert.equal(await held(), 0n);
    assert.equal((await load(day, lineOf(id, 'completed'))).flagged, 0);
    assert.deepEqual(await standing(id), ['failed', null]);
  });

  it('that two people have settled does not settle what the rail itself reports afterwards', async () => {
    const id = await given();
    await list(lineOf(id, 'failed'));
    await resolve(over(), db, id, 'completed');
    assert.equal(await tell(id, 'failed', 'account_closed', 'BA-1'), 'conflict');
    assert.deepEqual(await standing(id), ['completed', 'contradiction']);
  });

  it('that two people have settled does not settle an equal line of another day', async () => {
    const id = await given();
    await list(lineOf(id, 'failed'));
    await resolve(over(), db, id, 'completed');
    // With a line of its own: a day without one is a day that was mistaken.
    await list(lineOf(id, 'failed'), lineOf(await given(say('completed')), 'completed', 'R-1'));
    assert.equal(await tell(id, 'returned', 'account_closed', 'BA-1'), 'conflict');
    assert.deepEqual(await standing(id), ['completed', 'contradiction']);
  });

  it("a proposal made before a statement's line was loaded is refused", async () => {
    const id = await given();
    const proposal = { outcome: 'failed', reason: 'not seen', by: someone('maria') } as const;
    await proposeResolution(over().writer, await seen(db, id), proposal);
    await list(lineOf(id, 'completed'));
    const { calls } = over(say('voided', null, null));
    await assert.rejects(
      approveResolution({ calls, quietMs: () => 0 }, await seen(db, id), someone('leo')),
      /said something new about it since it was proposed as failed/,
    );
    assert.deepEqual((await rowOf(db, id)).status, 'in_progress');
    assert(
      !(await railEventsOf(db, id)).some(({ kind }) => kind === 'void'),
      'the rail was asked to void',
    );
  });
});
