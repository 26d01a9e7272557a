import type { Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { type RailBreaker, railBreakers } from '../db/entities/rails.js';
import { isUnavailable } from '../db/failures.js';
import { literal, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';

/** The circuit breakers of rails. (docs/contract.md, Rails; docs/decisions/0038-rails-apart.md) */

export interface BreakerOptions {
  /** Consecutive calls without a response, about different payouts, that open it; 5 by default. */
  readonly opensAfter?: number;
  /** Time until the first probe. Each later pause is twice the last, at most six times this. */
  readonly probeAfterMs?: number;
}

const OPENS_AFTER = 5;
const PROBE_AFTER_MS = 10_000;

function newBreaker(rail: string, now: Instant): RailBreaker {
  const noFailure = { failures: 0, lastPayoutId: null, lastFailure: null, lastFailureAt: null };
  const noProbe = { probes: 0, probeAt: null, resumeAt: null };
  return { rail, state: 'closed', since: now, ...noFailure, ...noProbe };
}

const MAX_REASON = 200;
const MAX_PAUSE_FACTOR = 6;

/** Returns the breaker after a call without a response. Counts only different payouts. */
function afterFailure(
  before: RailBreaker,
  { payoutId, reason }: { readonly payoutId: Uuid; readonly reason: string },
  now: Instant,
  { opensAfter = OPENS_AFTER, probeAfterMs = PROBE_AFTER_MS }: BreakerOptions,
): RailBreaker {
  const failures = before.failures + (before.lastPayoutId === payoutId ? 0 : 1);
  const lastFailure = [...reason].slice(0, MAX_REASON).join('');
  const failed = { ...before, failures, lastPayoutId: payoutId, lastFailure, lastFailureAt: now };
  const wasClosed = before.state === 'closed';
  if (before.state === 'open' || (wasClosed && failures < opensAfter)) return failed;
  const { since, probes } = wasClosed ? { since: now, probes: 0 } : before;
  const factor = Math.min(MAX_PAUSE_FACTOR, 2 ** Math.min(probes, 10));
  const probeAt = instant(now + probeAfterMs * factor);
  return { ...failed, state: 'open', since, probes, probeAt, resumeAt: null };
}

/** How long after a rail's first response its waiting payouts are resumed. */
export const RESUMES_AFTER_MS = 2_000;

function afterResponse(before: RailBreaker, now: Instant): RailBreaker {
  if (before.state === 'closed') return { ...before, failures: 0, lastPayoutId: null };
  const { lastFailure, lastFailureAt } = before;
  const resumeAt = instant(now + RESUMES_AFTER_MS);
  return { ...newBreaker(before.rail, now), lastFailure, lastFailureAt, resumeAt };
}

interface BreakerObserver {
  opened(rail: string, reason: string): void;
  closed(rail: string): void;
}

/** After this time without a result of a probe, another worker may probe the rail. */
const PROBE_MS = 30_000;

/** The breakers of all rails, shared by all workers through MySQL. */
export class RailBreakers {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: BreakerOptions = {},
    private readonly observer?: BreakerObserver,
  ) {}

  /** Returns true for a rail that responds or was never called. Throws DatabaseUnavailable. */
  async isClosed(rail: string): Promise<boolean> {
    return ((await this.find(rail))?.state ?? 'closed') === 'closed';
  }

  /** Records that a call got a response. Never throws, because the response must not be lost. */
  async recordResponse(rail: string): Promise<void> {
    await this.ignoreUnavailable(async () => {
      const row = await this.find(rail);
      if (row === undefined || (row.state === 'closed' && row.failures === 0)) return;
      const { before } = await this.change(rail, afterResponse);
      if (before.state !== 'closed') this.observer?.closed(rail);
    });
  }

  /** Records a call without a response. Never throws. `reason` contains no personal data. */
  async recordFailure(rail: string, payoutId: Uuid, reason: string): Promise<void> {
    await this.ignoreUnavailable(async () => {
      const failure = { payoutId, reason };
      const { before, after } = await this.change(rail, (row, now) =>
        afterFailure(row, failure, now, this.options),
      );
      if (before.state === 'closed' && after.state === 'open') this.observer?.opened(rail, reason);
    });
  }

  /** Returns true if a probe is due and this caller may make it. Throws DatabaseUnavailable. */
  async claimProbe(rail: string): Promise<boolean> {
    const row = await this.find(rail);
    if (row === undefined || row.state === 'closed' || !this.isDue(row.probeAt)) return false;
    const until = time.literal(instant(this.clock() + PROBE_MS));
    return this.update(
      rail,
      `state='half_open', probes=probes+1, probe_at=${until}`,
      `state<>'closed' AND probe_at<=>${literal(railBreakers, 'probeAt', row.probeAt)}`,
    );
  }

  /** Returns when the rail's payouts were due to be resumed; null if they are not due. */
  async resumesAt(rail: string): Promise<Instant | null> {
    const row = await this.find(rail);
    return row?.state === 'closed' && this.isDue(row.resumeAt) ? row.resumeAt : null;
  }

  async recordResumed(rail: string, resumeAt: Instant): Promise<void> {
    await this.update(rail, 'resume_at=NULL', `resume_at=${time.literal(resumeAt)}`);
  }

  private isDue(at: Instant | null): boolean {
    return at !== null && at <= this.clock();
  }

  private async update(rail: string, set: string, where: string): Promise<boolean> {
    const ofRail = `rail=${literal(railBreakers, 'rail', rail)}`;
    const sql = `UPDATE rail_breakers SET ${set} WHERE ${ofRail} AND ${where}`;
    return (await transact(this.database, (transaction) => transaction.execute(sql))) > 0;
  }

  private change(
    rail: string,
    next: (row: RailBreaker, now: Instant) => RailBreaker,
  ): Promise<{ readonly before: RailBreaker; readonly after: RailBreaker }> {
    return transact(this.database, async (transaction) => {
      const now = this.clock();
      // Without a row to lock, two first failures at the same time would count as one.
      await transaction.execute(upsertSql(railBreakers, [newBreaker(rail, now)], ['rail']));
      const before = await transaction.find(railBreakers, { rail }, { forUpdate: true });
      if (before === undefined) throw new Error('the breaker of a rail is missing');
      const after = next(before, now);
      await transaction.execute(updateSql(railBreakers, after, { rail }));
      return { before, after };
    });
  }

  private find(rail: string): Promise<RailBreaker | undefined> {
    return this.database.reader.find(railBreakers, { rail });
  }

  private async ignoreUnavailable(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure;
    }
  }
}
