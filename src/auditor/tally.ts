import type { Uuid } from '../core/ids.js';

const BUCKETS = 1 << 20;
const LANES = 2;
const SEEDS = [0x811c9dc5, 0x2f0b4c47] as const;

/**
 * Whether two walks through different tables told the same, without an index from one to the other and in the same memory
 * however much they told: what one adds the other takes away, as a 64-bit sum for each of a million buckets of ids. A
 * bucket that is not zero in the end has an id of which the two told different things.
 */
export class Tally {
  constructor(readonly sums: Int32Array) {}

  /** One side adds, the other takes away: `times` is negative. What is added up to zero times was not told. */
  add(id: Uuid, fact: string, times: number): void {
    const at = bucketOf(id) * LANES;
    for (let lane = 0; lane < LANES; lane += 1) {
      const sum = this.sums[at + lane] ?? 0;
      this.sums[at + lane] = sum + Math.imul(hash(id, hash(fact, SEEDS[lane] ?? 0)), times);
    }
  }

  /** The first buckets from this one on, at most so many, whose two sides differ. */
  differing(from: number, most: number): ReadonlySet<number> {
    const found = new Set<number>();
    for (let bucket = from; bucket < BUCKETS && found.size < most; bucket += 1)
      if (this.sums[bucket * LANES] !== 0 || this.sums[bucket * LANES + 1] !== 0) found.add(bucket);
    return found;
  }
}

export function emptySums(): Int32Array {
  return new Int32Array(BUCKETS * LANES);
}

export function bucketOf(id: Uuid): number {
  return hash(id, 0) & (BUCKETS - 1);
}

/** FNV-1a, its bits mixed in the end as Murmur3 does. */
function hash(text: string, seed: number): number {
  let mixed = seed;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
