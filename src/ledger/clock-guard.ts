import { type Clock, type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';

/**
 * The clock of this process against the database's, which all processes share. One that goes wrong would date the accounts
 * that it posts to, and they every other that they meet: approvals would end before their time, and months turn. So it posts nothing;
 * whatever else goes by time, such as retention, goes by the database's. (docs/decisions/0023)
 */

export interface ClockBounds {
  /** From here on operators are told. */
  readonly warnMs: number;
  /** From here on nothing is posted. */
  readonly refuseMs: number;
}

export const CLOCK_BOUNDS: ClockBounds = { warnMs: 1_000, refuseMs: 5_000 };

/**
 * What is dated so long ago is all there: of two processes one may be behind the database's clock and one ahead of it, and what
 * is decided has yet to be committed.
 */
export const SETTLED_AFTER_MS = 2 * CLOCK_BOUNDS.refuseMs + 5_000;

const COMPARE_EVERY_MS = 10_000;

export interface ClockObserver {
  /** How far this process's clock is ahead of the database's, as far as is sure; negative: behind. */
  compared(differenceMs: number): void;
  /** It is beyond a bound. */
  strayed(differenceMs: number, isRefused: boolean): void;
}

export interface ClockGuardDeps {
  readonly lookup: Reader;
  readonly clock: Clock;
  readonly bounds: ClockBounds;
  readonly observer: ClockObserver;
}

interface Comparison {
  readonly differenceMs: number;
  /** What the wall clock was ahead of the process's steady one: should it change, the wall clock was set. */
  readonly wallMs: number;
}

/** Knows nothing before the first comparison; costs no round trip between two. */
export class ClockGuard {
  private known: Comparison | null = null;
  private comparing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: ClockGuardDeps) {}

  /** Compares now and every 10 s. While MySQL is away the last comparison stands. */
  start(): void {
    const compare = (): void => void this.compare().catch(() => undefined);
    compare();
    this.timer = setInterval(compare, COMPARE_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** False also before the first comparison, and as soon as the clock was set: then it is to be compared. */
  isWell(): boolean {
    const differenceMs = this.differenceMs();
    return differenceMs !== null && Math.abs(differenceMs) < this.deps.bounds.refuseMs;
  }

  /** What the database's clock says: this one's, or what is known of their difference where that is beyond the bound. */
  readonly now: Clock = () => {
    const at = this.deps.clock();
    return this.isKnown() && !this.isWell() ? instant(at - (this.differenceMs() ?? 0)) : at;
  };

  /** Resolves when `now` can be relied on: where the clock was set since the last comparison it is compared. Throws DatabaseUnavailable. */
  async settle(): Promise<void> {
    if (!this.isKnown()) await this.compare();
  }

  /** Throws DatabaseUnavailable. */
  async compare(): Promise<void> {
    this.comparing ??= this.read().finally(() => (this.comparing = null));
    await this.comparing;
  }

  /**
   * Whether an instant lies further ahead of the database's clock than any process may post: not of this one's, which may be
   * a little behind while another is a little ahead.
   */
  isTooFarAhead(at: Instant): boolean {
    return this.aheadMs(at) > this.deps.bounds.refuseMs;
  }

  aheadMs(at: Instant): number {
    return at - this.deps.clock() + (this.differenceMs() ?? 0);
  }

  private isKnown(): boolean {
    return this.known !== null && Math.abs(this.wallMs() - this.known.wallMs) < this.deps.bounds.refuseMs;
  }

  private differenceMs(): number | null {
    return this.known === null ? null : this.known.differenceMs + (this.wallMs() - this.known.wallMs);
  }

  private wallMs(): number {
    return Math.round(this.deps.clock() - performance.now());
  }

  private async read(): Promise<void> {
    const { lookup, clock, bounds, observer } = this.deps;
    const before = clock();
    const [row] = await lookup.query('SELECT UTC_TIMESTAMP(3) AS now');
    const after = clock();
    const now = column.time.parse(row?.now);
    // The server looked at its clock between the two; only what lies outside is sure to be a difference.
    const differenceMs = now < before ? before - now : now > after ? after - now : 0;
    this.known = { differenceMs, wallMs: this.wallMs() };
    observer.compared(differenceMs);
    const isRefused = Math.abs(differenceMs) >= bounds.refuseMs;
    if (Math.abs(differenceMs) >= bounds.warnMs) observer.strayed(differenceMs, isRefused);
  }
}
