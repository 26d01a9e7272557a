import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { newId } from '../../src/core/ids.js';
import { instant, type Instant, systemClock } from '../../src/core/instant.js';
import type { Payout } from '../../src/db/entities/payouts.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { newPayoutCommand } from '../../src/payouts/commands.js';
import { attemptPayout } from '../../src/payouts/attempts.js';
import type { Rail } from '../../src/payouts/rails/rail.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { type Reconciled, reconcile } from '../../src/payouts/statements/reconcile.js';
import type { LineInput } from '../../src/payouts/statements/store.js';
import { startTestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { ScriptedRail } from './scripted-rail.js';
import { openPayoutBank, type PayoutBank, railsOf, rowOf, railEventsOf } from './support.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A rail for each test: what statements of it were taken before matters. */
const COUNTRIES = 'AR BO BR CL CR CU DO EC GT HN MX NI'.split(' ');
const railOf = (country: string): string => `http:bank-${country.toLowerCase()}`;

const db = await testDatabase();
const names = COUNTRIES.map((one) => [one, railOf(one)] as const);
const gateways = names.map(([, rail]) => rail.slice('http:'.length));
const api = await startTestApi(db, {
  PAYOUT_RAILS: names.map(([one, rail]) => `*/${one}=${rail}`).join(','),
  PAYOUT_RAIL_URLS: gateways.map((name) => `${name}=http://127.0.0.1:1`).join(','),
  PAYOUT_RAIL_KEYS: gateways
    .map((name) => `${name}=k1:${Buffer.alloc(32, 7).toString('base64')}`)
    .join(','),
});
const simulated = names.map(([, rail]): [string, Rail] => [
  rail,
  new SimulatedRail(db.database, systemClock, rail),
]);
const rails = new Map(simulated);
const deps = railsOf(db, { rails });

describe('the statements of a rail', () => {
  let own: PayoutBank;
  let country: string;
  const left = [...COUNTRIES];

  beforeEach(async () => {
    own = await openPayoutBank(api);
    country = left.shift() ?? assert.fail('there are more tests than countries');
  });

  /** A payout that its rail was given. */
  const paid = async (ending?: string): Promise<Payout> => {
    const id = await own.pay(ending, { destination: { country } });
    await deps.submissions.submit(id);
    return rowOf(db, id);
  };
  const lineOf = (
    { id, raw, asset, status, railReference }: Payout,
    more: Partial<LineInput> = {},
  ): LineInput => {
    const outcome = status === 'failed' ? 'failed' : 'completed';
    return {
      number: 2,
      payoutKey: id,
      status: outcome,
      raw,
      asset,
      reference: railReference,
      at: null,
      ...more,
    };
  };
  /** Takes the statement of a day, as an operator does the day after. */
  const take = (
    day: Instant,
    given: readonly LineInput[],
    {
      delayMs = 0,
      at = instant(day + DAY_MS + HOUR_MS),
    }: { readonly delayMs?: number; readonly at?: Instant } = {},
  ): Promise<Reconciled> => {
    const lines = given.map((line, index) => ({ ...line, number: index + 2 }));
    return reconcile(
      { database: db.database, writer: deps.writer, delayMs },
      { rail: railOf(country), day, lines },
      TEST_ACTOR,
      at,
    );
  };
  const endedOn = ({ endedAt }: Payout, days = 0): Instant => {
    assert(endedAt !== null);
    return instant(dayOf(endedAt) + days * DAY_MS);
  };
  /** A line may be dated this late, so that it may be on the next day. */
  const overMidnight = (payout: Payout): number => endedOn(payout, 1) + HOUR_MS - payout.endedAt!;
  const words = ({ differences }: Reconciled): string[] =>
    differences.map(({ difference, payoutId }) => `${difference} ${payoutId ?? 'day'}`);
  const stuck = async (id: Uuid) => (await rowOf(db, id)).stuckReason;
  const fromStatements = async (id: Uuid): Promise<string[]> =>
    (await railEventsOf(db, id))
      .filter(({ kind }) => kind === 'statement')
      .map(({ reported, effect, railReference }) => `${reported} ${effect} ${railReference}`);
  const stored = async () => {
    const named = `rail='${railOf(country)}'`;
    const [statements] = await db.sql(`SELECT COUNT(*) AS n FROM payout_statements WHERE ${named}`);
    const [lines] = await db.sql(`SELECT COUNT(*) AS n FROM payout_statement_lines WHERE ${named}`);
    return [Number(statements?.n), Number(lines?.n)];
  };

  it('are stored line by line, and the same file again changes nothing', async () => {
    const [done, failed] = [await paid(), await paid('01')];
    const day = endedOn(done);
    const first = await take(day, [lineOf(done), lineOf(failed)]);
    assert.deepEqual([words(first), first.isUnchanged, await stored()], [[], false, [1, 2]]);
    const again = await take(day, [lineOf(done), lineOf(failed)]);
    assert.deepEqual([words(again), again.isUnchanged, await stored()], [[], true, [1, 2]]);
  });

  it('may list an outcome on the next day, and nothing is missing before that day is loaded', async () => {
    const payout = await paid();
    const delayMs = overMidnight(payout);
    assert.deepEqual(words(await take(endedOn(payout), [], { delayMs })), []);
    assert.deepEqual(words(await take(endedOn(payout, 1), [lineOf(payout)], { delayMs })), []);
    assert.deepEqual(words(await take(endedOn(payout), [], { delayMs })), []);
  });

  it('report an outcome as missing once the last day that may list it is loaded', async () => {
    const payout = await paid();
    const delayMs = overMidnight(payout);
    await take(endedOn(payout), [], { delayMs });
    assert.deepEqual(words(await take(endedOn(payout, 1), [], { delayMs })), [
      `missing_there ${payout.id}`,
    ]);
    assert.deepEqual(words(await take(endedOn(payout, 2), [], { delayMs })), []);
    assert.equal(await stuck(payout.id), null);
  });

  it('need not list what the rail voided: it had no outcome there', async () => {
    const payout = await paid('03');
    const rail = rails.get(railOf(country)) ?? assert.fail('there is no such rail');
    const report = (await rail.void(payout.id)) ?? assert.fail('the rail cannot void');
    await deps.callbacks.report(railOf(country), {
      ...report,
      key: payout.id,
      callbackId: `cb-${payout.id}`,
    });
    const failed = await rowOf(db, payout.id);
    assert.equal(failed.status, 'failed');
    assert.deepEqual(words(await take(endedOn(failed), [])), []);
  });

  it('show that a payout may be paid twice by a second completed line on another day, or with another reference on the same day', async () => {
    const [payout, other] = [await paid(), await paid()];
    const first = await take(endedOn(payout), [
      lineOf(payout),
      lineOf(other),
      lineOf(other, { reference: 'OTHER-1' }),
    ]);
    assert.deepEqual(words(first), [`paid_twice ${other.id}`]);
    assert.match(first.differences[0]!.there, new RegExp(`OTHER-1 and ${other.railReference} on `));
    const nextDay = [lineOf(payout), lineOf(await paid())];
    const next = await take(endedOn(payout, 1), nextDay);
    assert.deepEqual([words(next), next.flagged], [[`paid_twice ${payout.id}`], 1]);
    for (const { id } of [payout, other]) assert.equal(await stuck(id), 'contradiction');
    const again = await take(endedOn(payout, 1), nextDay);
    assert.deepEqual([words(again), again.flagged], [[`paid_twice ${payout.id}`], 0]);
    assert.deepEqual(await fromStatements(payout.id), [
      `completed conflict ${payout.railReference}`,
    ]);
  });

  it('flag a payout listed with another reference or amount, but not one with the same line twice', async () => {
    const [renamed, less, twice] = [await paid(), await paid(), await paid()];
    const lines = [
      lineOf(renamed, { reference: 'OTHER-2' }),
      lineOf(less, { raw: less.raw - 1n }),
      lineOf(twice),
      lineOf(twice),
    ];
    assert.deepEqual(words(await take(endedOn(renamed), lines)).sort(), [
      `amount ${less.id}`,
      `reference ${renamed.id}`,
      `twice ${twice.id}`,
    ]);
    for (const { id } of [renamed, less]) assert.equal(await stuck(id), 'contradiction');
    assert.equal(await stuck(twice.id), null);
    assert.deepEqual(await fromStatements(renamed.id), ['completed conflict OTHER-2']);
  });

  it('a payout that a statement lists is never submitted again, even if its rail later denies it', async () => {
    for (const status of ['completed', 'failed'] as const) {
      const id = await own.pay(undefined, { destination: { country } });
      const scripted = new ScriptedRail('silent', null, null);
      const { submissions, writer } = railsOf(db, {
        rails: new Map([[railOf(country), scripted]]),
      });
      const { payout } = await submissions.submit(id);
      await take(dayOf(systemClock()), [lineOf(payout, { status, reference: `R-${status}` })]);
      await submissions.poll(id);
      assert.deepEqual([scripted.given.length, scripted.asked.length], [1, 1]);
      assert.deepEqual(
        [(await rowOf(db, id)).status, await stuck(id)],
        ['in_progress', 'contradiction'],
      );
      const refused = await writer.submit(attemptPayout, newPayoutCommand(payout));
      assert(!refused.outcome.done && refused.outcome.refusal.code === 'invalid_state');
    }
  });

  it('a corrected statement of a rail replaces the lines of the earlier version, which stays stored', async () => {
    const [payout, other] = [await paid(), await paid()];
    const stranger = { ...lineOf(payout), payoutKey: newId() };
    const day = endedOn(payout);
    const wrong = await take(day, [lineOf(payout), lineOf(other), stranger]);
    assert.deepEqual(words(wrong), [`missing_here ${stranger.payoutKey}`]);
    const right = await take(day, [lineOf(payout), lineOf(other)]);
    assert.deepEqual([words(right), right.statement.version, await stored()], [[], 2, [2, 5]]);
    const less = await take(day, [lineOf(other)]);
    assert.deepEqual([words(less), less.statement.version], [[`missing_there ${payout.id}`], 3]);
  });

  it('a missing day in the statements of a rail is reported as long as outcomes wait for it, which are compared when it arrives', async () => {
    const [payout, lost] = [await paid(), await paid()];
    await take(endedOn(payout, -1), []);
    for (const days of [1, 2]) {
      const skipped = await take(endedOn(payout, days), []);
      assert.deepEqual(words(skipped), ['no_statement day']);
      assert.equal(skipped.differences[0]?.day, endedOn(payout));
      assert.equal(skipped.differences[0].here, '2 outcome(s) wait for it');
    }
    assert.deepEqual(words(await take(endedOn(payout), [lineOf(payout)])), [
      `missing_there ${lost.id}`,
    ]);
    assert.deepEqual(words(await take(endedOn(payout, 2), [])), []);
  });

  it('cover a day up to the moment they were taken, and no further', async () => {
    const payout = await paid();
    const before = instant(payout.endedAt! - 1);
    assert.deepEqual(words(await take(endedOn(payout), [], { at: before })), []);
    assert.deepEqual(words(await take(endedOn(payout, 1), [])), ['no_statement day']);
    assert.deepEqual(words(await take(endedOn(payout), [])), [`missing_there ${payout.id}`]);
    assert.deepEqual(await stored(), [2, 0]);
  });

  it('are taken once by two operators at the same moment', async () => {
    const payout = await paid();
    const taken = await Promise.all([1, 2, 3].map(() => take(endedOn(payout), [lineOf(payout)])));
    assert.deepEqual(taken.map(words), [[], [], []]);
    assert.deepEqual(
      [taken.filter(({ isUnchanged }) => !isUnchanged).length, await stored()],
      [1, [1, 1]],
    );
  });
});
