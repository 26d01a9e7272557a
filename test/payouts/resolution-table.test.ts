import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { type Clock, instant, type Instant, systemClock } from '../../src/core/instant.js';
import type { PayoutResolution } from '../../src/db/entities/payouts.js';
import { approveResolution } from '../../src/payouts/resolution/approve.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import { DEFAULT_RETURN_WINDOW_MS } from '../../src/payouts/rules.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { reconcile } from '../../src/payouts/statements/reconcile.js';
import { answered, idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { balanceOf, someone, TEST_ACTOR } from '../helpers/world.js';
import { type Answer, say, ScriptedRail } from './scripted-rail.js';
import { type PayoutBank, railsOf, resolve, rowOf, seen, usePayouts } from './support.js';

const RAIL = 'http:table';
const DAY_MS = 86_400_000;

type Word = Parameters<typeof say>;
/** A payout that its rail has not received; without one, it has been submitted to a silent rail. */
const STARTS = ['pending', 'approved', 'rejected', 'canceled'] as const;
type Start = (typeof STARTS)[number];
type Step = Start | 'line completed' | 'staff completed' | 'staff returned' | Word;
const ACCEPTED: Word = ['accepted'];
const COMPLETED: Word = ['completed'];
const FAILED: Word = ['failed', 'account_closed'];
const RETURNED: Word = ['returned', 'account_closed'];
/** A second payment. */
const SECOND: Word = ['completed', null, 'R-2'];

/** The rail's answers to a void, in the order of the results in the table. */
const ANSWERS: readonly Answer[] = [
  'silent',
  null,
  say('accepted'),
  say('completed'),
  say('returned'),
  say(...FAILED),
  say('voided'),
  say('voided', null, null),
  say('failed', 'account_closed', 'R-9'),
  say('voided', null, 'R-9'),
];

/**
 * F, R, C, U: the proposal was applied, as failed, returned, completed or unchanged. f, r, c: instead,
 * the rail's answer was. -: nothing happened. x: it cannot be proposed. !: a contradiction is flagged.
 * One result alone: the rail is not asked.
 */
const TABLE: readonly (readonly [PayoutResolution['outcome'], readonly Step[], string])[] = [
  ['failed', [], '- F - c r F F F F F'],
  ['failed', [ACCEPTED], '- F - c r F F F -! -!'],
  ['failed', [ACCEPTED, SECOND], '-! -! -! c! r! F F F -! -!'],
  ['failed', [ACCEPTED, SECOND, FAILED], '-! -! -! c! r! F F F -! -!'],
  ['failed', ['line completed'], '- - - c r F F F -! -!'],
  ['failed', ['line completed', FAILED], '-! -! -! c! r! F F F -! -!'],
  ['failed', [COMPLETED], 'x'],
  ['failed', ['staff completed'], 'x'],
  ['failed', [FAILED], 'x'],
  ['failed', [RETURNED], 'x'],
  ['failed', ['staff completed', 'staff returned'], 'x'],
  ['returned', [], '- R - c r f f f f f'],
  ['returned', [ACCEPTED], '- R - c r f f f -! -!'],
  ['returned', [COMPLETED], 'R'],
  ['returned', [COMPLETED, FAILED], '-! R -! -! r! R R R -! -!'],
  ['returned', [FAILED, COMPLETED, 'staff completed'], 'R'],
  ['returned', ['staff completed'], '- R - - r R R R R R'],
  ['returned', ['staff completed', COMPLETED], 'R'],
  ['returned', ['staff completed', 'line completed'], '- R - - r R R R -! -!'],
  ['returned', [ACCEPTED, 'staff completed'], '- R - - r R R R -! -!'],
  ['returned', [ACCEPTED, 'staff completed', COMPLETED], 'R'],
  ['returned', ['line completed'], '- R - c r -! -! -! -! -!'],
  ['returned', [ACCEPTED, SECOND], '-! R -! c! r! -! -! -! -! -!'],
  ['returned', [FAILED], 'x'],
  ['returned', [RETURNED], 'x'],
  ['returned', [COMPLETED, 'staff returned'], 'x'],
  ['completed', [], 'C'],
  ['completed', [ACCEPTED], 'C'],
  ['completed', [FAILED], 'C'],
  ['completed', ['line completed'], 'C'],
  ['completed', [COMPLETED], 'x'],
  ['completed', [RETURNED], 'x'],
  ['completed', [ACCEPTED, SECOND], 'C'],
  ['completed', [FAILED, COMPLETED], 'C'],
  ['unchanged', [FAILED, COMPLETED], 'U'],
  ['unchanged', [COMPLETED, FAILED], 'U'],
  ['unchanged', [RETURNED, FAILED], 'U'],
  ['unchanged', ['staff completed', 'staff returned', COMPLETED], 'U'],
  ['unchanged', [ACCEPTED], 'x'],
  ['unchanged', [ACCEPTED, SECOND], 'x'],
  ['unchanged', [COMPLETED], 'x'],
  ...STARTS.flatMap((start) => [
    ...(['failed', 'returned', 'completed'] as const).flatMap((outcome) => [
      [outcome, [start], 'x'] as const,
      [outcome, [start, COMPLETED], 'x'] as const,
    ]),
    ['unchanged', [start], 'x'] as const,
    ['unchanged', [start, COMPLETED], 'U'] as const,
  ]),
];

const textOf = (steps: readonly Step[]): string =>
  steps.length === 0 ? 'silence' : steps.map((step) => [step].flat().join(' ')).join(', ');

describe('two people and the rail of a payout', () => {
  let db: TestDatabase;
  let own: PayoutBank;
  let day: Instant = instant(dayOf(systemClock()) - DAY_MS);
  const { given, over, standing, tell } = usePayouts((opened) => void ({ db, own } = opened), {
    rail: RAIL,
    settings: {
      PAYOUT_RAILS: `*=${RAIL}`,
      PAYOUT_RAIL_URLS: 'table=http://127.0.0.1:1',
      PAYOUT_RAIL_KEYS: `table=k1:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });

  /** Each line on a day of its own. */
  const list = async (payoutKey: Uuid) => {
    day = instant(day - DAY_MS);
    const money = { raw: LEAST, asset: 'COPM' } as const;
    const line = { number: 2, payoutKey, status: 'completed', reference: 'R-1', at: null } as const;
    const deps = { database: db.database, writer: over().writer, delayMs: 0 };
    await reconcile(
      deps,
      { rail: RAIL, day, lines: [{ ...line, ...money }] },
      TEST_ACTOR,
      systemClock(),
    );
  };
  const starts: Readonly<Record<Start, () => Promise<Uuid>>> = {
    approved: () => own.pay(),
    canceled: async () => {
      const id = await own.pay();
      answered(await own.act('cancel', id, own.bank.token), 200);
      return id;
    },
    pending: async () => {
      await own.guard();
      return own.createPending();
    },
    rejected: async () => {
      const id = await starts.pending();
      answered(await own.act('reject', id), 200);
      return id;
    },
  };
  const startOf = (steps: readonly Step[]) => STARTS.find((start) => start === steps[0]);
  const prepare = async (steps: readonly Step[]): Promise<Uuid> => {
    const start = startOf(steps);
    const id = await (start === undefined ? given() : starts[start]());
    for (const step of start === undefined ? steps : steps.slice(1))
      if (step === 'line completed') await list(id);
      else if (step === 'staff completed') await resolve(over(), db, id, 'completed');
      else if (step === 'staff returned') await resolve(over(say('voided')), db, id, 'returned');
      else await tell(id, ...(step as Word));
    return id;
  };
  const total = async () => {
    const { available, held } = await balanceOf(db.database, own.source.id);
    return available + held;
  };
  const decide = async (id: Uuid, outcome: PayoutResolution['outcome'], rail: ScriptedRail) => {
    const { writer, calls } = railsOf(db, { rails: new Map([[RAIL, rail]]) });
    const proposal = { outcome, reason: 'asked at the bank', by: someone('maria') };
    const succeeds = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      );
    if (!(await succeeds(proposeResolution(writer, await seen(db, id), proposal)))) return 'x';
    const [before] = await standing(id);
    const isApplied = await succeeds(
      approveResolution({ calls, quietMs: () => 0 }, await seen(db, id), someone('leo')),
    );
    const [status, reason] = await standing(id);
    const isSame = !isApplied && status === before;
    const letter = isApplied
      ? outcome.slice(0, 1).toUpperCase()
      : isSame
        ? '-'
        : status.slice(0, 1);
    return `${letter}${reason === 'contradiction' ? '!' : ''}`;
  };

  for (const [outcome, steps, expected] of TABLE)
    it(`two people who propose ${outcome} after ${textOf(steps)} release money only if the rail denies this very payment`, async () => {
      const before = await total();
      let paid = 0n;
      const results = expected.split(' ');
      for (const [index, answer] of ANSWERS.slice(0, results.length).entries()) {
        const id = await prepare(steps);
        const rail = new ScriptedRail(answer);
        assert.equal(await decide(id, outcome, rail), results[index], JSON.stringify(answer));
        assert.equal(rail.voided.length, results.length === 1 ? 0 : 1);
        if ((await rowOf(db, id)).status === 'completed') paid += LEAST;
      }
      assert.equal(await total(), before - paid);
    });

  for (const [steps, effects] of [
    [
      [ACCEPTED, 'staff completed', 'staff returned'],
      ['conflict', 'conflict', 'duplicate', 'duplicate', 'duplicate'],
    ],
    [
      ['staff completed', 'staff returned'],
      ['conflict', 'conflict', 'duplicate', 'duplicate', 'duplicate'],
    ],
    [
      [COMPLETED, 'staff returned'],
      ['duplicate', 'duplicate', 'conflict', 'conflict', 'duplicate'],
    ],
  ] as const)
    it(`after ${textOf(steps)}, a report of the rail is a contradiction unless it agrees with what the rail has reported`, async () => {
      for (const [index, word] of (
        ['accepted', 'completed', 'failed', 'voided', 'returned'] as const
      ).entries()) {
        const id = await prepare(steps);
        assert.equal(await tell(id, word), effects[index], word);
        const flag = effects[index] === 'conflict' ? 'contradiction' : null;
        assert.deepEqual(await standing(id), ['returned', flag], word);
      }
    });

  it('a report of payment after two people gave the money back is settled only once two people have decided about it', async () => {
    const id = await prepare([ACCEPTED, SECOND]);
    await decide(id, 'failed', new ScriptedRail(say('voided')));
    assert.deepEqual(await standing(id), ['failed', null]);
    // They knew this report, but not that it would be repeated after the void.
    assert.equal(await tell(id, ...SECOND), 'conflict');
    assert.deepEqual(await standing(id), ['failed', 'contradiction']);
    assert.equal(await decide(id, 'unchanged', new ScriptedRail()), 'U');
    assert.equal(await tell(id, ...SECOND), 'settled');
    assert.equal(await tell(id, 'accepted'), 'conflict');
  });

  it('a report that two people settled before the submission is a contradiction again once the payout has failed', async () => {
    await own.guard();
    const id = await own.createPending();
    assert.equal(await tell(id, ...COMPLETED), 'conflict');
    await resolve(over(), db, id, 'unchanged');
    await own.act('approve', id);
    await over(say(...FAILED)).submissions.submit(id);
    assert.deepEqual(await standing(id), ['failed', null]);
    assert.equal(await tell(id, ...COMPLETED), 'conflict');
  });

  it('a line that lists a return of which only two people know as paid flags the payout', async () => {
    const [unpaid, paid] = [
      await prepare(['staff completed', 'staff returned']),
      await prepare([COMPLETED, 'staff returned']),
    ];
    for (const id of [unpaid, paid]) await list(id);
    assert.deepEqual(await standing(unpaid), ['returned', 'contradiction']);
    assert.deepEqual(await standing(paid), ['returned', null]);
  });

  it('a return that only two people know is polled until the rail confirms it, or its window ends, after which a silent rail is asked until it answers', async () => {
    await db.change('UPDATE payouts SET next_poll_at=NULL WHERE next_poll_at IS NOT NULL');
    let now: Clock = systemClock;
    const rail = new ScriptedRail();
    const { poller } = railsOf(db, { rails: new Map([[RAIL, rail]]), clock: () => now() });
    const nextPoll = async (id: Uuid) => (await rowOf(db, id)).nextPollAt;
    const pollAt = async (id: Uuid, moment: number, answer: Answer) => {
      now = () => instant(moment);
      await db.change(
        `UPDATE payouts SET next_poll_at=FROM_UNIXTIME(${moment / 1_000}) WHERE id=${idLiteral(id)}`,
      );
      rail.willSay(answer);
      assert.equal(await poller.pollDue(RAIL, 10), 1);
      return nextPoll(id);
    };
    const id = await prepare(['staff completed', 'staff returned']);
    const { returnedAt } = await rowOf(db, id);
    const end = returnedAt! + DEFAULT_RETURN_WINDOW_MS;
    assert.equal((await nextPoll(id))! - returnedAt!, 3_600_000);
    assert.equal(await pollAt(id, end - 1, say('voided')), end);
    let at = end;
    for (const minutes of [10, 20, 40, 80, 160]) {
      at = (await pollAt(id, at, 'silent'))!;
      assert.equal(at - end, minutes * 60_000);
    }
    assert.equal(await pollAt(id, at, say('voided')), null);

    const confirmed = await prepare(['staff completed', 'staff returned']);
    assert.equal(await pollAt(confirmed, returnedAt! + 3_600_000, say('returned')), null);
    assert.deepEqual(await standing(confirmed), ['returned', null]);
  });
});
