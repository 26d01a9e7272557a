/** A small seeded generator (mulberry32), so that a benchmark is repeatable. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  /** Throws for an empty list. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** In place. */
  shuffle<T>(items: T[]): T[] {
    for (let last = items.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [items[last], items[other]] = [items[other] as T, items[last] as T];
    }
    return items;
  }
}
