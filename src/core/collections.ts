import type { Uuid } from './ids.js';
import type { Instant } from './instant.js';

export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** In byte order, as the database sorts ids and keys. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Maps the items in order, with at most `limit` calls under way. */
export async function mapAtOnce<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** "1 row", "2 rows" */
export function counted(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;
}

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

/** Values that stay valid for a short time after they were requested, at most `limit`. */
export class ExpiringCache<T> {
  /** Roughly in the order of `askedAt`. */
  private readonly values = new Map<string, { readonly value: T; readonly askedAt: number }>();

  constructor(
    private readonly limit: number,
    private readonly maxAgeMs: number,
  ) {}

  /** `now` and `askedAt` are milliseconds of one clock that never jumps. */
  get(key: string, now: number): T | undefined {
    const known = this.values.get(key);
    return known !== undefined && now - known.askedAt <= this.maxAgeMs ? known.value : undefined;
  }

  set(key: string, value: T, askedAt: number): void {
    this.values.delete(key);
    this.values.set(key, { value, askedAt });
    for (const [oldest, known] of this.values) {
      if (this.values.size <= this.limit && askedAt - known.askedAt <= this.maxAgeMs) return;
      this.values.delete(oldest);
    }
  }

  delete(key: string): void {
    this.values.delete(key);
  }

  get size(): number {
    return this.values.size;
  }
}
