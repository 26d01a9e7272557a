import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { instant, type Instant, systemClock } from '../../src/core/instant.js';
import { dayOf } from '../../src/payouts/statements/compare.js';
import { reconcile } from '../../src/payouts/statements/reconcile.js';
import { dayText, type LineInput } from '../../src/payouts/statements/store.js';
import { LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import { say } from './scripted-rail.js';
import { resolve, usePayouts } from './support.js';

const RAIL = 'http:wrong';
const DAY_MS = 86_400_000;

describe('a wrong statement', () => {
  let db: TestDatabase;
  /** A day that no other test uses, and the one after it. */
  let day: Instant = dayOf(systemClock());
  let next: Instant;
  const { given, over, standing, tell } = usePayouts((opened) => void ({ db } = opened), {
    rail: RAIL,
    settings: {
      PAYOUT_RAILS: `*=${RAIL}`,
      PAYOUT_RAIL_URLS: 'wrong=http://127.0.0.1:1',
      PAYOUT_RAIL_KEYS: `wrong=k1:${Buffer.alloc(32, 7).toString('base64')}`,
    },
  });

  beforeEach(() => {
    day = instant(day - 10 * DAY_MS);
    next = instant(day + DAY_MS);
  });
  const lineOf = (payoutKey: Uuid, change: Partial<LineInput> = {}): LineInput => {
    const line = { number: 2, payoutKey, status: 'completed', reference: 'R-1', at: null } as const;
    return { ...line, raw: LEAST, asset: 'COPM', ...change };
  };
  const load = (of: Instant, ...given: readonly LineInput[]) => {
    const lines = given.map((line, index) => ({ ...line, number: index + 2 }));
    const deps = { database: db.database, writer: over().writer, delayMs: 0 };
    return reconcile(deps, { rail: RAIL, day: of, lines }, TEST_ACTOR, systemClock());
  };
  const completed = () => given(say('completed'));
  /** The auditor compares only statements of some time ago. */
  const assertSound = async () => {
    await db.change('UPDATE payout_statements SET stored_at=stored_at-INTERVAL 1 HOUR');
    await assertLedgerSound(db.database);
    await db.change('UPDATE payout_statements SET stored_at=stored_at+INTERVAL 1 HOUR');
  };

  it('two lines of one payout with different amounts flag it, until two people settle it; then neither the same nor a corrected statement flags it again', async () => {
    const id = await completed();
    const [right, wrong] = [lineOf(id), lineOf(id, { raw: LEAST - 1n })];
    const { differences, flagged } = await load(day, right, wrong);
    assert.deepEqual(
      [differences.map(({ difference }) => difference), flagged],
      [['paid_twice', 'amount'], 1],
    );
    assert.deepEqual(await standing(id), ['completed', 'contradiction']);
    await resolve(over(), db, id, 'unchanged');
    for (const lines of [
      [right, wrong],
      [right, wrong, lineOf(await completed())],
    ]) {
      assert.equal((await load(day, ...lines)).flagged, 0);
      assert.deepEqual(await standing(id), ['completed', null]);
    }
    await assertSound();
    // Another amount is not what they settled.
    assert.equal((await load(day, right, lineOf(id, { raw: LEAST - 2n }))).flagged, 1);
  });

  it('a line that two people settled does not flag the payout again when it is loaded after they changed its state', async () => {
    const id = await given();
    const wrong = lineOf(id, { raw: LEAST - 1n });
    await load(day, wrong);
    await resolve(over(), db, id, 'completed');
    assert.equal((await load(day, wrong)).flagged, 0);
    assert.deepEqual(await standing(id), ['completed', null]);
    await assertSound();
  });

  it('a statement is refused if all its lines are dated more than two days from its day', async () => {
    const id = await completed();
    const dated = (days: number) => lineOf(id, { at: instant(day + days * DAY_MS) });
    for (const [lines, isRefused] of [
      [[dated(3)], true],
      [[dated(-3), dated(4)], true],
      [[dated(-2)], false],
      [[dated(2.9)], false],
      [[dated(3), dated(0)], false],
      [[dated(3), lineOf(await completed())], false],
      [[], false],
    ] as const) {
      const loading = load(day, ...lines);
      if (isRefused)
        await assert.rejects(loading, new RegExp(`more than 2 days from ${dayText(day)}`));
      else await loading;
    }
  });

  it('a statement is refused if all its lines are loaded for another day', async () => {
    const [one, other] = [lineOf(await completed()), lineOf(await completed())];
    await load(day, one, other);
    for (const lines of [[one, other], [other]])
      await assert.rejects(load(next, ...lines), new RegExp(`another day .*${dayText(day)}`));
    // The same day again, one line less, and a payment that is listed for a second time.
    await load(day, one, other);
    const { differences } = await load(next, one, lineOf(await completed()));
    assert.deepEqual(
      differences.map(({ difference, payoutId }) => [difference, payoutId]),
      [['paid_twice', one.payoutKey]],
    );
    await load(day, one, other);
    await load(next);
    await load(day, other);
    await load(next, one);
  });

  it('withdrawing a statement clears the flags that it raised, and leaves those that the rail or another line raised', async () => {
    const ids = [await completed(), await completed(), await completed(), await given()] as const;
    const [twice, denied, renamed, open] = ids;
    await load(day, ...[twice, denied, renamed].map((id) => lineOf(id)));
    await load(next, ...ids.map((id) => lineOf(id)), lineOf(renamed, { reference: 'R-9' }));
    await load(
      instant(next + DAY_MS),
      lineOf(renamed, { reference: 'R-9' }),
      lineOf(await completed()),
    );
    assert.equal(await tell(denied, 'failed', 'account_closed'), 'conflict');
    assert.deepEqual(await standing(open), ['in_progress', 'no_outcome']);
    const { cleared } = await load(next);
    assert.equal(cleared, 2);
    assert.deepEqual(await Promise.all(ids.map(standing)), [
      ['completed', null],
      ['completed', 'contradiction'],
      ['completed', 'contradiction'],
      ['in_progress', null],
    ]);
    await assertSound();
    // Loaded once more, it flags once more.
    assert.equal((await load(next, lineOf(twice), lineOf(open))).flagged, 2);
  });
});
