import type { Instant } from '../core/instant.js';

/** What a pass through the whole ledger spreads over the time that it has, so that it is nothing that others notice. */
export interface Pace {
  readonly beganAt: Instant;
  /** How long it is to take, unless it cannot read that fast. */
  readonly spreadMs: number;
  /** Rows that it is expected to read. */
  readonly rows: number;
}

/** How long it is ahead of its time after so many rows; at most 0 when it is behind, or reads more than was expected. */
export function aheadMs({ beganAt, spreadMs, rows }: Pace, read: number, now: Instant): number {
  return read < rows ? beganAt + spreadMs * (read / rows) - now : 0;
}
