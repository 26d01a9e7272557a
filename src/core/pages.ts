import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

/** In a list by creation, newest first: the next page starts after this position. */
export interface TimePosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: TimePosition | null;
}

/** The last of `limit` + 1 items shows that more follow. */
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
