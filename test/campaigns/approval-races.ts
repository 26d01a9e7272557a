import assert from 'node:assert/strict';
import { DateTime } from 'luxon';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { request, startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  approvalsOf,
  assertEnds,
  assertMonths,
  endOf,
  type GuardedBank,
  moveExpiry,
  newSignature,
  openGuardedBank,
  readTransfer,
  REASON,
} from '../helpers/temporal-world.js';
import { assertLedgerSound } from '../helpers/world.js';
import { randomFrom } from './approval-activities.js';
import { signalsOf } from '../helpers/staff.js';
import type { TransferApprovals } from '../../src/transfers/approval-outcomes.js';

interface RacesCampaign {
  readonly db: TestDatabase;
  readonly api: TestApi;
  /** Where other API processes of the database are. */
  readonly others?: readonly string[];
  readonly rounds: number;
  readonly seed: number;
}

/** Rounds at a time: they share the source account's lock. */
const AT_ONCE = 4;
/** An expiry may come this much before or after the actions. */
const AROUND_MS = 30;
const NOT_DUE_MS = 3_600_000;
const ENDS = ['completed', 'rejected', 'canceled', 'expired'];
/** Each action wins one race in this many, and two of them win: a race that one action always wins shows nothing. */
const LEAST_SHARE = 100;

/**
 * Approve, reject, cancel (by members over HTTP, by the staff as a signal does) and expiry come at the same moment. One of
 * them ends the transfer; the others are told. What is given back goes to the month before, in which it was taken.
 */
export async function racesCampaign(campaign: RacesCampaign): Promise<string> {
  const { db, api, rounds, seed } = campaign;
  const guarded = await openGuardedBank(api, { funds: LEAST * BigInt(rounds) });
  const ids = await pendLastMonth(db, guarded, rounds);
  const random = randomFrom(seed);
  const contest: Contest = { ...campaign, guarded, random, service: approvalsOf(db) };
  const ends = new Map<Uuid, string>();
  const waiting = ids.values();
  const lane = async (): Promise<void> => {
    for (const id of waiting) ends.set(id, await race(contest, id));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  await assertEnds(db, ends);
  const count = (end: string): number => [...ends.values()].filter((one) => one === end).length;
  assert.equal(await guarded.bank.available(guarded.target), LEAST * BigInt(count('completed')));
  assert.equal(
    await guarded.bank.available(guarded.source),
    LEAST * BigInt(rounds - count('completed')),
  );
  await assertMonths(db, guarded.source);
  const months = await db.sql(
    `SELECT DISTINCT month FROM month_totals WHERE account_id=${idLiteral(guarded.source.id)} AND used<>0`,
  );
  assert(months.length <= 1, 'a month was given back to another');
  await assertLedgerSound(db.database);
  const told = ENDS.map((end) => `${count(end)} ${end}`);
  assert.equal(
    ENDS.reduce((sum, end) => sum + count(end), 0),
    rounds,
  );
  assert(new Set(ends.values()).size > 1, told.join(', '));
  for (const end of ENDS)
    assert(
      count(end) >= Math.floor(rounds / LEAST_SHARE),
      `hardly a race ends as ${end}: ${told.join(', ')}`,
    );
  return `${rounds} races of approve, reject, cancel and expiry (seed ${seed}): ${told.join(', ')}; each with one final state, one event and one release of its hold, in its own month`;
}

/** Made by a clock of the month before, so that the settlement falls into another month. */
async function pendLastMonth(
  db: TestDatabase,
  guarded: GuardedBank,
  count: number,
): Promise<Uuid[]> {
  const then = DateTime.utc().minus({ months: 1 }).set({ day: 15 }).toMillis();
  const past = await startTestApi(db, {}, { clock: () => instant(then) });
  try {
    // Its funds came just now, and no account's time runs backwards.
    await db.change(
      `UPDATE balances SET last_posted_at='2000-01-01' WHERE account_id=${idLiteral(guarded.source.id)}`,
    );
    await db.change(
      `UPDATE balances SET last_posted_at='2000-01-01' WHERE account_id=${idLiteral(guarded.target.id)}`,
    );
    const { bank, source, target } = guarded;
    const body = {
      source_account: source.id,
      destination: { type: 'account', account_id: target.id },
      amount: { raw: LEAST.toString(), asset: 'COPM' },
    };
    const answers: TestAnswer[] = [];
    const lane = async (): Promise<void> => {
      while (answers.length < count) {
        const place = answers.push(undefined as never) - 1;
        answers[place] = await past.request('POST', '/v1/transfers', { token: bank.token, body });
      }
    };
    await Promise.all(Array.from({ length: 16 }, lane));
    const ids = answers.map((answer) => {
      assert.equal(answer.status, 202, answer.text);
      return String(answer.json.id) as Uuid;
    });
    // Due since weeks ago, the first race would end them all.
    for (const id of ids) await moveExpiry(db, id, Date.now() + NOT_DUE_MS);
    return ids;
  } finally {
    await past.stop();
  }
}

interface Contest extends RacesCampaign {
  readonly guarded: GuardedBank;
  readonly service: TransferApprovals;
  readonly random: (below: number) => number;
}

/** One transfer, whose end each of them wants. Answers its end, which is what each of them was told. */
async function race(contest: Contest, id: Uuid): Promise<string> {
  const { db, api, others = [], guarded, random, service } = contest;
  const { bank, approvers } = guarded;
  const baseUrls = [api.baseUrl, ...others];
  const ask = (action: string, token: string, body?: object): Promise<TestAnswer> =>
    request(baseUrls[random(baseUrls.length)]!, 'POST', `/v1/transfers/${id}/${action}`, {
      token,
      body,
    });
  const [signature, signals] = [await newSignature(db.database), signalsOf(db.database)];
  const bySignal = (['approve', 'reject', 'cancel'] as const)[random(3)]!;
  // In a third of the races its time is over in the middle, else long before or after.
  const dueIn = random(3) === 0 ? random(AROUND_MS) : NOT_DUE_MS;
  await moveExpiry(db, id, Date.now() + dueIn);
  const steps: (() => Promise<unknown>)[] = [
    () => ask('approve', approvers[0]),
    () => ask('reject', approvers[1], { reason: REASON }),
    () => ask('cancel', bank.token),
    () =>
      service.performSignal(
        { resourceId: id, action: bySignal, ...signature, number: 1, actionId: newId() },
        signals,
      ),
    () => service.expire(id),
    () => service.expireDue(10),
  ];
  const shuffled = steps
    .map((step) => ({ step, order: random(1_000) }))
    .sort((one, other) => one.order - other.order);
  const results = await Promise.all(
    shuffled.map(async ({ step }) => {
      if (dueIn < AROUND_MS) await new Promise((resolve) => setTimeout(resolve, random(AROUND_MS)));
      return step();
    }),
  );
  const transfer = await readTransfer(db, id);
  const answers = results.filter(
    (result): result is TestAnswer => result !== undefined && isAnswer(result),
  );
  const done = answers.filter(({ status }) => status === 200);
  assert(done.length <= 1, `${done.length} of them ended it`);
  for (const answer of answers) {
    if (answer.status === 200) assert.equal(answer.json.status, transfer.status);
    else
      assert.deepEqual(
        [answer.status, answer.details?.current],
        [409, transfer.status],
        answer.text,
      );
  }
  return endOf(transfer);
}

function isAnswer(result: unknown): result is TestAnswer {
  return typeof result === 'object' && result !== null && 'headers' in result;
}
