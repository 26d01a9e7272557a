import { type Clock, instant, type Instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { performDue } from '../accounts/due-of-accounts.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { changeRow, type LockedState } from '../ledger/writer/types.js';
import type { Sweep } from '../temporal/sweeper.js';
import { type PayoutCommand, payoutCommand, railCommand, resultOf } from './commands.js';
import { nextPoll } from './rules.js';

/** The flag that shows a payout to operators. (docs/payouts.md, What operators settle) */

export const NOT_FLAGGED = { stuckSince: null, stuckReason: null } as const;

/** Clears the flag after progress, except a contradiction, which two people must resolve. */
export function afterProgress(payout: Payout): Payout {
  return payout.stuckReason === 'contradiction' ? payout : { ...payout, ...NOT_FLAGGED };
}

/** Sets the time of the next poll. The poller applies the rail's own return window. */
export function scheduled(payout: Payout, { at }: LockedState): Payout {
  return { ...payout, askAt: nextPoll(payout, at, Number.POSITIVE_INFINITY) };
}

/** Flags a payout. A flagged one keeps its time, and never gets a lesser reason. */
export function flagged(
  payout: Payout,
  stuckReason: NonNullable<Payout['stuckReason']>,
  state: LockedState,
): Payout {
  const { stuckReason: before } = payout;
  const keeps = before === 'contradiction' || before === stuckReason;
  if (keeps || (before !== null && stuckReason === 'no_outcome')) return payout;
  return scheduled({ ...payout, stuckSince: payout.stuckSince ?? state.at, stuckReason }, state);
}

interface FlagPayout extends PayoutCommand {
  /** Flags the payout only if it has had its state since before this instant. */
  readonly inStateSince: Instant;
}

const flagPayout = payoutCommand<FlagPayout>('flag payout', {
  decide: ({ inStateSince }, payout, state) => {
    const { status, approvedAt, submittedAt, stuckSince } = payout;
    const since =
      status === 'approved' ? approvedAt : status === 'in_progress' ? submittedAt : null;
    const isDue = since !== null && since < inStateSince && stuckSince === null;
    const resource = isDue ? flagged(payout, 'no_outcome', state) : payout;
    const rows = isDue ? [changeRow(payouts, resource)] : [];
    return { outcome: { done: true, resource }, writes: { rows }, bindsKey: false };
  },
});

const FLAG_EVERY_MS = 5_000;
const AT_ONCE = 100;

const STUCK_IN = {
  in_progress: { index: 'submitted', since: 'submitted_at', order: 'ORDER BY submitted_at' },
  approved: { index: 'expiring', since: 'approved_at', order: '' },
} as const;

interface FlagDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
  readonly clock: Clock;
}

/** Flags payouts older than `olderMs` in the state. Returns how many the last search found. */
export function flagStuck(
  { database, writer, clock }: FlagDeps,
  status: keyof typeof STUCK_IN,
  olderMs: number,
  limit: number,
): Promise<number> {
  const inStateSince = instant(clock() - olderMs);
  const { index, since, order } = STUCK_IN[status];
  const find = (others: string, most: number) =>
    database.reader.list(
      payouts,
      `FORCE INDEX (${index}) WHERE status='${status}' AND ${since}<${time.literal(inStateSince)}
         AND stuck_since IS NULL ${others} ${order} LIMIT ${most}`,
    );
  return performDue(limit, find, async (payout) =>
    resultOf(await writer.submit(flagPayout, { ...railCommand(payout), inStateSince })),
  );
}

export function stuckSweep(
  deps: FlagDeps,
  afterMs: Readonly<Record<keyof typeof STUCK_IN, number>>,
): Sweep {
  const run = async (): Promise<boolean> => {
    const flagging = [
      flagStuck(deps, 'in_progress', afterMs.in_progress, AT_ONCE),
      flagStuck(deps, 'approved', afterMs.approved, AT_ONCE),
    ];
    await Promise.allSettled(flagging);
    return (await Promise.all(flagging)).includes(AT_ONCE);
  };
  return { name: 'stuck payouts', everyMs: FLAG_EVERY_MS, run };
}
