import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

/** Where a list that is ordered by creation, newest first, goes on: behind this one. */
export interface TimePosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly next: TimePosition | null;
}

/** The page of what was read with one more than `limit`, which tells whether there is more. */
export function pageOf<Item extends TimePosition>(read: readonly Item[], limit: number): Page<Item> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  const next = read.length > limit && last !== undefined ? { createdAt: last.createdAt, id: last.id } : null;
  return { items, next };
}
