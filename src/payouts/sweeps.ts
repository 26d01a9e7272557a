import { type Clock, instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import { type Payout, payoutRailEvents, payouts } from '../db/entities/payouts.js';
import { columnList, literal, literals } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { performDue, type Sweep } from '../temporal/sweeper.js';
import type { Database, DatabaseDeps, StoredRow } from '../db/database.js';
import { parseRow } from '../db/table.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { changeRow } from '../ledger/writer/types.js';
import type { RailCalls } from './rail-calls.js';
import { railFact } from './rail-fact.js';
import { readWords } from './reports.js';
import { withFlag, nextPoll } from './rules.js';
import {
  type PayoutCommand,
  definePayoutCommand,
  newPayoutCommand,
  payoutOrThrow,
} from './commands.js';

const POLL_EVERY_MS = 5_000;
const POLLED_AT_ONCE = 20;
/** After a poll without a response, an eighth of the usual pause is enough, but not less than this. */
const MIN_RETRY_PAUSE_MS = 600_000;

/**
 * Polls a rail about payouts that have ended, and so have no workflow, but may be returned. Returns
 * how many were due. Polling one twice is harmless.
 */
export async function pollDue(
  calls: RailCalls,
  rail: string,
  windowMs: number,
  limit: number,
): Promise<number> {
  const { database, clock } = calls.deps;
  const due = await database.reader.query(
    `SELECT ${columnList(payouts)} FROM payouts FORCE INDEX (polling)
     WHERE rail=${literal(payouts, 'rail', rail)} AND next_poll_at<=${time.literal(clock())}
     ORDER BY next_poll_at LIMIT ${Math.trunc(limit)}`,
  );
  const polls = due.map((stored) => pollEnded(calls, stored, windowMs));
  // All polls end, and each stores when the payout is due again, before a failure is thrown.
  await Promise.allSettled(polls);
  await Promise.all(polls);
  return due.length;
}

async function pollEnded(calls: RailCalls, stored: StoredRow, windowMs: number): Promise<void> {
  const { database, clock } = calls.deps;
  // If the row cannot be read or the report fails, it is due again later and delays no other payout.
  let next: Instant | null = instant(clock() + MIN_RETRY_PAUSE_MS);
  try {
    const before = parseRow(payouts, stored);
    const { payout, response } = await calls.poll(before);
    const now = clock();
    const fact = railFact(payout, await readWords(database.reader, payout));
    const usual = nextPoll(payout, fact, now, windowMs);
    next = response === 'none' ? retryAt(usual, before, now, windowMs) : usual;
  } finally {
    const literalOf = (value: Instant | null): string => literal(payouts, 'nextPollAt', value);
    // A concurrent change of the payout has set its own `next_poll_at`, which is kept.
    const sql = `UPDATE payouts SET next_poll_at=${literalOf(next)}
      WHERE id=${uuid.literal(uuid.parse(stored.id))} AND next_poll_at<=>${literalOf(time.parse(stored.next_poll_at))}`;
    await transact(database, (transaction) => transaction.execute(sql));
  }
}

/**
 * Returns when a silent rail is polled again. After the end of the window it is polled, at growing
 * intervals, until it responds, because it may have returned the payout in the window.
 */
function retryAt(
  usual: Instant | null,
  { endedAt, returnedAt }: Payout,
  now: Instant,
  windowMs: number,
): Instant | null {
  const closesAt = (returnedAt ?? endedAt ?? now) + windowMs;
  if (usual === null && now < closesAt) return null;
  const pauseMs = usual === null ? now - closesAt : Math.trunc((usual - now) / 8);
  return instant(now + Math.max(MIN_RETRY_PAUSE_MS, pauseMs));
}

/** Polls each rail in a sweep of its own, so that an unresponsive rail does not delay the others. */
export function pollingSweeps(
  calls: RailCalls,
  rails: Iterable<string>,
  windowMs: (rail: string) => number,
): Sweep[] {
  return Array.from(rails, (rail) => ({
    name: `inquiries ${rail}`,
    everyMs: POLL_EVERY_MS,
    run: async () =>
      (await calls.deps.breakers.isClosed(rail)) &&
      (await pollDue(calls, rail, windowMs(rail), POLLED_AT_ONCE)) === POLLED_AT_ONCE,
  }));
}

const EVENTS_AT_A_TIME = 1_000;
const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

export function railEventsSweep({ database, clock }: DatabaseDeps, keptDays: number): Sweep {
  const run = () => removeOldRailEvents(database, instant(clock() - keptDays * DAY_MS));
  return { name: 'old rail events', everyMs: EVERY_MS, run };
}

/**
 * Removes events from before this time, unless their payout is flagged, unfinished, or ended later.
 * Returns true if more may be left.
 */
export async function removeOldRailEvents(database: Database, before: Instant): Promise<boolean> {
  const moment = time.literal(before);
  const rows = await database.reader.query(
    `SELECT e.id FROM payout_rail_events e FORCE INDEX (at) LEFT JOIN payouts p ON p.id=e.payout_id
     WHERE e.at<${moment} AND (e.payout_id IS NULL OR (COALESCE(p.returned_at, p.ended_at)<${moment} AND p.stuck_since IS NULL))
     ORDER BY e.at LIMIT ${EVENTS_AT_A_TIME}`,
  );
  const ids = literals(
    payoutRailEvents,
    'id',
    rows.map((row) => uuid.parse(row.id)),
  );
  if (rows.length > 0)
    await transact(database, (transaction) =>
      transaction.execute(`DELETE FROM payout_rail_events WHERE id IN (${ids})`),
    );
  return rows.length === EVENTS_AT_A_TIME;
}

interface FlagPayout extends PayoutCommand {
  /** Flags the payout only if it has had its state since before this instant. */
  readonly inStateSince: Instant;
}

const flagPayout = definePayoutCommand<FlagPayout>('flag payout', {
  decide: ({ inStateSince }, payout, state) => {
    const { status, approvedAt, submittedAt, stuckSince } = payout;
    const since =
      status === 'approved' ? approvedAt : status === 'in_progress' ? submittedAt : null;
    const isDue = since !== null && since < inStateSince && stuckSince === null;
    const resource = isDue ? withFlag(payout, 'no_outcome', state) : payout;
    const rows = isDue ? [changeRow(payouts, resource)] : [];
    return { outcome: { done: true, resource }, writes: { rows }, bindsKey: false };
  },
});

const FLAG_EVERY_MS = 5_000;
const FLAGGED_AT_ONCE = 100;

const STUCK_SEARCHES = {
  in_progress: {
    index: 'submitted',
    since: 'submitted_at',
    order: 'ORDER BY submitted_at',
    where: '',
  },
  // A payout that its workflow does not have yet waits for its turn. Its rail is not at fault.
  approved: {
    index: 'expiring',
    since: 'approved_at',
    order: '',
    where:
      'AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.resource_id=payouts.id AND o.dead_at IS NULL)',
  },
} as const;

interface FlagDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
  readonly clock: Clock;
}

/** Flags payouts that have had the status for `afterMs`. Returns how many the last search found. */
export function flagStuck(
  { database, writer, clock }: FlagDeps,
  status: keyof typeof STUCK_SEARCHES,
  afterMs: number,
  limit: number,
): Promise<number> {
  const inStateSince = instant(clock() - afterMs);
  const { index, since, order, where } = STUCK_SEARCHES[status];
  const find = (condition: string, count: number) =>
    database.reader.query(
      `SELECT ${columnList(payouts)} FROM payouts FORCE INDEX (${index}) WHERE status='${status}' AND ${since}<${time.literal(inStateSince)}
         AND stuck_since IS NULL ${where} ${condition} ${order} LIMIT ${count}`,
    );
  return performDue(payouts, limit, find, async (payout) =>
    payoutOrThrow(await writer.submit(flagPayout, { ...newPayoutCommand(payout), inStateSince })),
  );
}

export function stuckSweep(
  deps: FlagDeps,
  afterMs: Readonly<Record<keyof typeof STUCK_SEARCHES, number>>,
): Sweep {
  const run = async (): Promise<boolean> => {
    const flagging = [
      flagStuck(deps, 'in_progress', afterMs.in_progress, FLAGGED_AT_ONCE),
      flagStuck(deps, 'approved', afterMs.approved, FLAGGED_AT_ONCE),
    ];
    await Promise.allSettled(flagging);
    return (await Promise.all(flagging)).includes(FLAGGED_AT_ONCE);
  };
  return { name: 'stuck payouts', everyMs: FLAG_EVERY_MS, run };
}
