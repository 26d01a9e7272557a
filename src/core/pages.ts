import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

/**
 * A position in a list that is ordered by creation, newest first: the next page starts after it.
 */
export interface TimePosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: TimePosition | null;
}

/**
 * Returns a page of `limit` items from `limit` + 1 items, of which the last shows that more follow.
 */
export function pageOf<Item extends TimePosition>(
  read: readonly Item[],
  limit: number,
): Page<Item> {
  const items = read.slice(0, limit);
  const last = items.at(-1);
  const next =
    read.length > limit && last !== undefined ? { createdAt: last.createdAt, id: last.id } : null;
  return { items, next };
}
