import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

/** Where a list in order of creation, newest first, continues: after this one. */
export interface TimePosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: TimePosition | null;
}

/** The page from `limit` + 1 items, the last of which shows that there are more. */
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
