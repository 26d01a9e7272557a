import { instant } from '../core/instant.js';
import { string } from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { sweepLeases } from '../db/entities/sweeps.js';
import { equalsSql } from '../db/statements.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { RailBreakers } from './breaker/breakers.js';
import type { RailRecovery } from './breaker/recovery.js';
import type { LateInquiries } from './inquiries.js';
import { removeOldRailEvents } from './retention.js';
import type { Submissions } from './submission.js';

const AT_ONCE = 100;
const STUCK_EVERY_MS = 5_000;
const INQUIRIES_EVERY_MS = 5_000;
const RECOVERY_EVERY_MS = 1_000;
const ASKED_AT_ONCE = 20;
const TIDY_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

/** How long a payout may stay approved without being handed to its rail before it is raised to operators. */
export const APPROVED_STUCK_AFTER_MS = 300_000;

/** How long a payout may be without progress before it is raised to operators, in milliseconds. */
interface StuckAfter {
  /** Since it was submitted, without a word from its rail. */
  readonly silentMs: number;
  /** Since it was approved, without being handed to its rail. */
  readonly approvedMs: number;
}

/** Raises to operators payouts that have been without progress for too long, whether Temporal is available or not. */
export function stuckSweep(submissions: Submissions, { silentMs, approvedMs }: StuckAfter): Sweep {
  return {
    name: 'stuck payouts',
    everyMs: STUCK_EVERY_MS,
    run: async () => {
      const raising = [
        submissions.raiseSilent(silentMs, AT_ONCE),
        submissions.raiseUnsubmitted(approvedMs, AT_ONCE),
      ];
      await Promise.allSettled(raising);
      return (await Promise.all(raising)).includes(AT_ONCE);
    },
  };
}

/** Asks about payouts that have ended, each rail separately, so that a silent one delays no other. */
export function inquirySweeps(
  inquiries: LateInquiries,
  rails: Iterable<string>,
  breakers: Pick<RailBreakers, 'isClosed'>,
): Sweep[] {
  return Array.from(rails, (rail) => ({
    name: `inquiries ${rail}`,
    everyMs: INQUIRIES_EVERY_MS,
    run: async () =>
      (await breakers.isClosed(rail)) &&
      (await inquiries.askDue(rail, ASKED_AT_ONCE)) === ASKED_AT_ONCE,
  }));
}

const PROBES = 'probes ';
const probesOf = (rail: string): string => `${PROBES}${rail}`;

/** Probes silent rails, and wakes the payouts of one that answers again; each separately, as either may take long. */
export function recoverySweeps(recovery: RailRecovery, rails: Iterable<string>): Sweep[] {
  return Array.from(rails, (rail) => [
    { name: probesOf(rail), everyMs: RECOVERY_EVERY_MS, run: () => recovery.probeDue(rail) },
    {
      name: `wakes ${rail}`,
      everyMs: RECOVERY_EVERY_MS,
      run: (signal: AbortSignal) => recovery.wakeDue(rail, signal),
    },
  ]).flat();
}

/** A rail without a worker for this long counts as removed. */
const GONE_AFTER_HOURS = 24;

/** Returns whether a worker has probed the rail within the last day, by the lease of that sweep. */
export async function isServed(reader: Reader, rail: string): Promise<boolean> {
  const rows = await reader.query(
    `SELECT 1 FROM sweep_leases WHERE ${equalsSql(sweepLeases, { name: probesOf(rail) })}
     AND lease_until>UTC_TIMESTAMP(3)-INTERVAL ${GONE_AFTER_HOURS} HOUR`,
  );
  return rows.length > 0;
}

/** Returns every rail that a worker has ever probed, by the leases of these sweeps. */
export async function railsOfWorkers(reader: Reader): Promise<readonly string[]> {
  const rows = await reader.query(`SELECT name FROM sweep_leases WHERE name LIKE '${PROBES}%'`);
  return rows.map((row) => string.parse(row.name).slice(PROBES.length));
}

/** What rails said so many days ago of payouts that had ended by then. */
export function railEventsSweep({ database, clock }: DatabaseDeps, keptDays: number): Sweep {
  return {
    name: 'old rail events',
    everyMs: TIDY_EVERY_MS,
    run: () => removeOldRailEvents(database, instant(clock() - keptDays * DAY_MS)),
  };
}
