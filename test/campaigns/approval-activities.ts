import assert from 'node:assert/strict';
import { transferActivities } from '../../activities/approvals.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import type { StaffActionSignal } from '../../src/temporal/contracts.js';
import type { TestApi } from '../helpers/api.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  actsOn,
  approvalsOf,
  assertEnds,
  assertMonths,
  endOf,
  eventsOf,
  moveExpiry,
  newSignature,
  openGuardedBank,
  readTransfer,
  REASON,
} from '../helpers/temporal-world.js';
import { assertLedgerSound } from '../helpers/world.js';
import { signalsOf } from '../helpers/staff.js';

interface ActivitiesCampaign {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly transfers: number;
  readonly calls: number;
  /** One seed gives one list of calls. */
  readonly seed: number;
}

const AT_ONCE = 16;
const ACTS_EACH = 3;
const AFTER_MS = 2_000;

/**
 * The activities of many transfers, each run again and again, late and in any order, as a server may that lost an answer. One
 * end for each transfer, one event, one row in the audit log for each action.
 */
export async function activitiesCampaign(campaign: ActivitiesCampaign): Promise<string> {
  const { db, api, transfers, calls, seed } = campaign;
  const guarded = await openGuardedBank(api, { approvals: 2, funds: 100_000n * BigInt(transfers) });
  const ids = await guarded.createManyPending(transfers);
  const random = randomFrom(seed);
  // A third is over while the calls come, and for some of them a member has approved.
  for (const [index, id] of ids.entries()) {
    if (index % 3 === 0) await moveExpiry(db, id, Date.now() + random(AFTER_MS));
    if (index % 2 === 0) await guarded.act('approve', id);
  }
  const acts = new Map<Uuid, readonly StaffActionSignal[]>();
  for (const id of ids) {
    const own: StaffActionSignal[] = [];
    while (own.length < ACTS_EACH) own.push(await actOf(db, id, random));
    acts.set(id, own);
  }
  const activities = transferActivities(approvalsOf(db), signalsOf(db.database));
  let left = calls;
  const lane = async (): Promise<void> => {
    for (; left > 0; left -= 1) {
      const id = ids[random(ids.length)]!;
      const which = random(ACTS_EACH + 2);
      if (which < ACTS_EACH) await activities.actOnTransfer(acts.get(id)![which]!);
      else if (which === ACTS_EACH) await activities.expireTransfer(id);
      else await activities.readTransfer(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  // Late: each once more, when nothing is left to do.
  await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
  for (const id of ids) {
    await activities.expireTransfer(id);
    for (const act of acts.get(id)!) await activities.actOnTransfer(act);
  }
  const ends = new Map<Uuid, string>();
  for (const id of ids) {
    const own = acts.get(id)!;
    const end = endOf(await readTransfer(db, id));
    ends.set(id, end);
    const staffActs = (await actsOn(db, id)).filter(({ channel }) => channel === 'temporal');
    assert(staffActs.length <= own.length, `${staffActs.length} rows of ${own.length} acts`);
    assert((await eventsOf(db, id)).length <= 1);
  }
  await assertEnds(db, ends);
  const paid = [...ends.values()].filter((end) => end === 'completed').length;
  assert.equal(await guarded.bank.available(guarded.target), 100_000n * BigInt(paid));
  await assertMonths(db, guarded.source);
  await assertLedgerSound(db.database);
  const kinds = [...new Set(ends.values())].sort();
  assert(kinds.length >= 4, `only ${kinds.join()}`);
  return `${calls} activity calls on ${transfers} transfers (seed ${seed}): final states ${kinds.join(', ')}; ${paid} paid once, each action with one event and one line in the audit log`;
}

/** Each call has an unused code: right, of a person who lacks the right, wrong, or none. */
async function actOf(
  { database }: TestDatabase,
  id: Uuid,
  random: (below: number) => number,
): Promise<StaffActionSignal> {
  const who = random(4);
  const signature =
    who === 3 ? NOBODY : await newSignature(database, who === 1 ? ['cancel'] : undefined);
  return {
    resourceId: id,
    action: (['approve', 'approve', 'reject', 'cancel'] as const)[random(4)]!,
    ...(who === 2 ? { ...signature, code: 'no code' } : signature),
    ...(random(8) === 0 ? { reason: null } : {}),
    number: 1,
    actionId: newId(),
  };
}

const NOBODY = { actor: null, reason: REASON, code: null };

/** Whole numbers below a bound (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
