import type { Uuid } from '../core/ids.js';

const BUCKETS = 1 << 20;
const LANES = 2;
const SEEDS = [0x811c9dc5, 0x2f0b4c47] as const;

/**
 * Whether two walks through different tables found the same facts, without an index from one to the other and in
 * constant memory: one adds what the other subtracts, in a 64-bit sum for each of a million buckets of ids. A bucket
 * that is not zero at the end contains an id about which the two differ.
 */
export class Tally {
  constructor(readonly sums: Int32Array) {}

  /** One side adds; the other subtracts, with negative `times`. A fact added zero times in all leaves no trace. */
  add(id: Uuid, fact: string, times: number): void {
    const at = bucketOf(id) * LANES;
    for (let lane = 0; lane < LANES; lane += 1) {
      const sum = this.sums[at + lane] ?? 0;
      this.sums[at + lane] = sum + Math.imul(hash(id, hash(fact, SEEDS[lane] ?? 0)), times);
    }
  }

  /** The first buckets from this one on whose two sides differ, at most `most`. */
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

/** FNV-1a, with Murmur3's final mixing. */
function hash(text: string, seed: number): number {
  let mixed = seed;
  for (let at = 0; at < text.length; at += 1)
    mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
