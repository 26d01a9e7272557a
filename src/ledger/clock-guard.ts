import { type Clock, type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';

/**
 * Compares this process's clock with the database's, which all processes share. A wrong clock would date the accounts
 * that it posts to, and those would date every other that they meet: approvals would expire early, and months turn. So
 * a process with a wrong clock posts nothing; everything else that depends on time, such as retention, goes by the
 * database's clock. (docs/decisions/0023-an-account-ahead-of-every-clock-is-refused.md)
 */

export interface ClockBounds {
  readonly warnMs: number;
  /** From here on nothing is posted. */
  readonly refuseMs: number;
}

export const CLOCK_BOUNDS: ClockBounds = { warnMs: 1_000, refuseMs: 5_000 };

/**
 * Everything dated this long ago is committed: one process may be behind the database's clock and another ahead of it,
 * and a decision still has to be committed.
 */
export const SETTLED_AFTER_MS = 2 * CLOCK_BOUNDS.refuseMs + 5_000;

const COMPARE_EVERY_MS = 10_000;

export interface ClockObserver {
  /** How far this process's clock is certainly ahead of the database's; negative: behind. */
  compared(differenceMs: number): void;
  strayed(differenceMs: number, isRefused: boolean): void;
}

interface ClockGuardDeps {
  readonly lookup: Reader;
  readonly clock: Clock;
  readonly bounds: ClockBounds;
  readonly observer: ClockObserver;
}

interface Comparison {
  readonly differenceMs: number;
  /** How far the wall clock was ahead of the monotonic one: if this changes, the wall clock was set. */
  readonly wallMs: number;
}

/** Knows nothing before the first comparison; between two it costs no round trip. */
export class ClockGuard {
  private known: Comparison | null = null;
  private comparing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: ClockGuardDeps) {}

  /** Compares now and every 10 s. While MySQL is away the last comparison applies. */
  start(): void {
    const compare = (): void => void this.compare().catch(() => undefined);
    compare();
    this.timer = setInterval(compare, COMPARE_EVERY_MS);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Also false before the first comparison, and once the clock was set, until the next. */
  isWell(): boolean {
    const differenceMs = this.differenceMs();
    return differenceMs !== null && Math.abs(differenceMs) < this.deps.bounds.refuseMs;
  }

  /** The database's time: this clock's, corrected by the known difference if that is beyond the bound. */
  readonly now: Clock = () => {
    const at = this.deps.clock();
    return this.isKnown() && !this.isWell() ? instant(at - (this.differenceMs() ?? 0)) : at;
  };

  /** Resolves once `now` is reliable, after comparing again if the clock was set. Throws DatabaseUnavailable. */
  async settle(): Promise<void> {
    if (!this.isKnown()) await this.compare();
  }

  /** Throws DatabaseUnavailable. */
  async compare(): Promise<void> {
    this.comparing ??= this.read().finally(() => (this.comparing = null));
    await this.comparing;
  }

  /**
   * Whether an instant is further ahead of the database's clock than any process may post. Not compared with this
   * process's clock, which may be slightly behind while another is slightly ahead.
   */
  isTooFarAhead(at: Instant): boolean {
    return this.aheadMs(at) > this.deps.bounds.refuseMs;
  }

  aheadMs(at: Instant): number {
    return at - this.deps.clock() + (this.differenceMs() ?? 0);
  }

  private isKnown(): boolean {
    return (
      this.known !== null && Math.abs(this.wallMs() - this.known.wallMs) < this.deps.bounds.refuseMs
    );
  }

  private differenceMs(): number | null {
    return this.known === null
      ? null
      : this.known.differenceMs + (this.wallMs() - this.known.wallMs);
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
    // The server read its clock between the two, so only a time outside them is certainly a difference.
    const differenceMs = now < before ? before - now : now > after ? after - now : 0;
    this.known = { differenceMs, wallMs: this.wallMs() };
    observer.compared(differenceMs);
    const isRefused = Math.abs(differenceMs) >= bounds.refuseMs;
    if (Math.abs(differenceMs) >= bounds.warnMs) observer.strayed(differenceMs, isRefused);
  }
}
