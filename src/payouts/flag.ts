import { ApiError, NOT_FOUND } from '../core/errors.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { actOnDue } from '../accounts/due-of-accounts.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { CommandKind, Decision, LockedState } from '../ledger/writer/types.js';
import { changeRow, naming, need, refuse } from '../ledger/writer/types.js';
import type { Sweep } from '../temporal/sweeper.js';
import { type PayoutCommand, railCommand } from './commands.js';
import { nextPoll } from './rules.js';

/** The flag that shows a payout to operators. (docs/payouts.md, What operators settle) */

export const NOT_FLAGGED = { stuckSince: null, stuckReason: null } as const;

/** Clears the flag after progress. A contradiction stays flagged until two people have resolved it. */
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
  /** The payout is flagged if it has been in its state since before this instant. */
  readonly standsSince: Instant;
}

const flagPayout: CommandKind<FlagPayout, Payout> = {
  name: 'flag payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => [facts.sourceAccountId]),
  needs: ({ facts }) => [need(payouts, { id: facts.id })],
  decide: decideFlag,
};

function decideFlag({ facts, standsSince }: FlagPayout, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { status, approvedAt, submittedAt, stuckSince } = payout;
  const since = status === 'approved' ? approvedAt : status === 'in_progress' ? submittedAt : null;
  const isDue = since !== null && since < standsSince && stuckSince === null;
  const resource = isDue ? flagged(payout, 'no_outcome', state) : payout;
  const rows = isDue ? [changeRow(payouts, resource)] : [];
  return { outcome: { done: true, resource }, writes: { rows }, bindsKey: false };
}

/** How long a payout may stay approved without being given to its rail before it is flagged. */
export const APPROVED_STUCK_AFTER_MS = 300_000;
const FLAG_EVERY_MS = 5_000;
const AT_ONCE = 100;

interface FlagDeps {
  readonly database: Database;
  readonly desk: LedgerWriter;
  readonly clock: Clock;
}

/**
 * Flags payouts without progress, at most `limit` at a time, and returns how many were found last. Throws ApiError
 * ledger_unavailable after all other accounts' payouts are flagged.
 */
export class StuckPayouts {
  constructor(private readonly deps: FlagDeps) {}

  /** Payouts that were submitted more than `olderMs` ago. */
  flagSilent(olderMs: number, limit: number): Promise<number> {
    const where = `FORCE INDEX (submitted) WHERE status='in_progress' AND submitted_at`;
    return this.flagOlder(olderMs, limit, where, 'ORDER BY submitted_at');
  }

  /** Payouts that were approved more than `olderMs` ago and not given to their rail. */
  flagUnsubmitted(olderMs: number, limit: number): Promise<number> {
    const where = `FORCE INDEX (expiring) WHERE status='approved' AND approved_at`;
    return this.flagOlder(olderMs, limit, where, '');
  }

  private flagOlder(olderMs: number, limit: number, where: string, order: string): Promise<number> {
    const { database, desk, clock } = this.deps;
    const standsSince = instant(clock() - olderMs);
    const find = (others: string, most: number) =>
      database.reader.list(
        payouts,
        `${where}<${time.literal(standsSince)} AND stuck_since IS NULL ${others} ${order} LIMIT ${most}`,
      );
    return actOnDue(limit, find, async (payout) => {
      const command = { ...railCommand(payout), standsSince };
      const { outcome } = await desk.submit(flagPayout, command);
      if (!outcome.done) throw new ApiError(outcome.refusal);
    });
  }
}

/** Flags payouts without progress, whether Temporal is available or not. */
export function stuckSweep(
  stuck: StuckPayouts,
  { silentMs, approvedMs }: { readonly silentMs: number; readonly approvedMs: number },
): Sweep {
  return {
    name: 'stuck payouts',
    everyMs: FLAG_EVERY_MS,
    run: async () => {
      const flagging = [
        stuck.flagSilent(silentMs, AT_ONCE),
        stuck.flagUnsubmitted(approvedMs, AT_ONCE),
      ];
      await Promise.allSettled(flagging);
      return (await Promise.all(flagging)).includes(AT_ONCE);
    },
  };
}
