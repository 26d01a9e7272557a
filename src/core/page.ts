import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

/**
 * Position in a list that is ordered by creation, newest first. The next page starts after it. Rows
 * of the same instant are ordered by id.
 */
export interface TimePosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

/** Part of a list, in its order. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly next: TimePosition | null;
}

/** Returns the first `limit` of the rows. One row more than `limit` shows that more follow. */
export function pageOf<Item extends TimePosition>(
  rows: readonly Item[],
  limit: number,
): Page<Item> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next =
    rows.length > limit && last !== undefined ? { createdAt: last.createdAt, id: last.id } : null;
  return { items, next };
}
