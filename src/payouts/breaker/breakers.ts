import type { Uuid } from '../../core/ids.js';
import { type Clock, instant, type Instant } from '../../core/instant.js';
import { time } from '../../db/columns.js';
import type { Database } from '../../db/database.js';
import { type RailBreaker, railBreakers } from '../../db/entities/rail-breakers.js';
import { isUnavailable } from '../../db/failures.js';
import { literal, upsertSql } from '../../db/statements.js';
import { transact } from '../../db/transact.js';
import {
  afterAnswer,
  afterSilence,
  type BreakerOptions,
  newBreaker,
  USUAL_BREAKER,
} from './rules.js';

interface BreakerObserver {
  opened(rail: string, reason: string): void;
  closed(rail: string): void;
}

const UNOBSERVED: BreakerObserver = { opened: () => undefined, closed: () => undefined };

/** Like every cache of the service. */
const KNOWN_MS = 500;
/** How long a worker that probes a rail, or wakes its payouts, has before another one takes over. */
const LEASE_MS = 30_000;

/** The right of one worker to wake a rail's payouts, until that time. */
export interface Lease {
  readonly rail: string;
  readonly until: Instant;
}

/** Shared by all workers through MySQL: not each has to find out by hanging. (docs/decisions/0038-rails-apart.md) */
export class RailBreakers {
  private known: {
    readonly rows: Promise<ReadonlyMap<string, RailBreaker>>;
    readonly readAt: number;
  } | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly options: BreakerOptions = USUAL_BREAKER,
    private readonly observer: BreakerObserver = UNOBSERVED,
  ) {}

  /** True for a rail that answers or was never asked, half a second late at most. Throws DatabaseUnavailable. */
  async isClosed(rail: string): Promise<boolean> {
    return ((await this.read()).get(rail)?.state ?? 'closed') === 'closed';
  }

  /** A call was answered. Never throws: what cannot be written now is written with the next answer. */
  async answered(rail: string): Promise<void> {
    await this.attempt(async () => {
      const known = (await this.read()).get(rail);
      if (known === undefined || (known.state === 'closed' && known.failures === 0)) return;
      const { before } = await this.change(rail, (row, now) => afterAnswer(row, now));
      if (before.state !== 'closed') this.observer.closed(rail);
    });
  }

  /** A call was not answered. Never throws. `reason` is a line for operators, without personal data. */
  async silent(rail: string, payoutId: Uuid, reason: string): Promise<void> {
    await this.attempt(async () => {
      const told = { payoutId, reason };
      const { before, after } = await this.change(rail, (row, now) =>
        afterSilence(row, told, now, this.options),
      );
      if (before.state === 'closed' && after.state === 'open') this.observer.opened(rail, reason);
    });
  }

  /** Returns whether a probe is due; if so, only the caller may make it. Throws DatabaseUnavailable. */
  async claimProbe(rail: string): Promise<boolean> {
    const at = await this.due(rail, ({ state, probeAt }) => (state === 'closed' ? null : probeAt));
    if (at === null) return false;
    const set = `state='half_open', probes=probes+1, probe_at=${time.literal(this.leaseEnd())}`;
    return this.write(rail, set, `state<>'closed' AND probe_at=${time.literal(at)}`);
  }

  /** The lease for a rail that answers again, if nobody wakes its payouts. Throws DatabaseUnavailable. */
  async claimWake(rail: string): Promise<Lease | null> {
    const at = await this.due(rail, ({ state, wakeAt }) => (state === 'closed' ? wakeAt : null));
    return at === null ? null : this.moveWake(rail, at, this.leaseEnd());
  }

  /** Extends the lease; null if it was lost, or the rail is silent again. Throws DatabaseUnavailable. */
  keepWaking({ rail, until }: Lease): Promise<Lease | null> {
    return this.moveWake(rail, until, this.leaseEnd());
  }

  /** Records that all waiting payouts were told. Throws DatabaseUnavailable. */
  async woken({ rail, until }: Lease): Promise<void> {
    await this.moveWake(rail, until, null);
  }

  private leaseEnd(): Instant {
    return instant(this.clock() + LEASE_MS);
  }

  private async moveWake(
    rail: string,
    from: Instant,
    until: Instant | null,
  ): Promise<Lease | null> {
    const set = `wake_at=${literal(railBreakers, 'wakeAt', until)}`;
    const isOurs = await this.write(rail, set, `state='closed' AND wake_at=${time.literal(from)}`);
    return isOurs && until !== null ? { rail, until } : null;
  }

  private async due(
    rail: string,
    atOf: (row: RailBreaker) => Instant | null,
  ): Promise<Instant | null> {
    const row = (await this.read()).get(rail);
    const at = row === undefined ? null : atOf(row);
    return at === null || at > this.clock() ? null : at;
  }

  private async write(rail: string, set: string, condition: string): Promise<boolean> {
    const own = `rail=${literal(railBreakers, 'rail', rail)}`;
    const changed = await transact(this.database, (transaction) =>
      transaction.execute(`UPDATE rail_breakers SET ${set} WHERE ${own} AND ${condition}`),
    );
    this.known = null;
    return changed > 0;
  }

  private async change(
    rail: string,
    next: (row: RailBreaker, now: Instant) => RailBreaker,
  ): Promise<{ readonly before: RailBreaker; readonly after: RailBreaker }> {
    const changed = await transact(this.database, async (transaction) => {
      const now = this.clock();
      const found = await transaction.find(railBreakers, { rail }, { forUpdate: true });
      const before = found ?? newBreaker(rail, now);
      const after = next(before, now);
      const all = railBreakers.columns.map(
        ({ property }) => property as keyof RailBreaker & string,
      );
      await transaction.execute(upsertSql(railBreakers, [after], all));
      return { before, after };
    });
    this.known = null;
    return changed;
  }

  private read(): Promise<ReadonlyMap<string, RailBreaker>> {
    if (this.known !== null && performance.now() - this.known.readAt < KNOWN_MS)
      return this.known.rows;
    const rows = this.database.reader
      .select(railBreakers, {})
      .then((all) => new Map(all.map((row): [string, RailBreaker] => [row.rail, row])));
    const known = { rows, readAt: performance.now() };
    this.known = known;
    rows.catch(() => {
      if (this.known === known) this.known = null;
    });
    return rows;
  }

  /** A failure of MySQL must not lose the rail's answer. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!isUnavailable(failure)) throw failure;
    }
  }
}
