import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

interface QueuedItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (failure: unknown) => void;
}

interface BatcherOptions<Item> {
  /** The most that the items of a group weigh together. A heavier item is a group of its own. */
  readonly maxWeight: number;
  /** By default each item weighs 1. */
  readonly weigh?: (item: Item) => number;
  /** How long the first item of a group waits for further items; 0 by default. */
  readonly lingerMs?: number;
  /**
   * How many groups may run at a time; 1 by default. If set, a run first waits for the items
   * submitted in the same turn of the event loop; by default it starts immediately.
   */
  readonly concurrency?: number;
  /** True if one item may have caused the failure of its group. Each item is then tried alone. */
  readonly mayRetryAlone?: (failure: unknown) => boolean;
}

/** Combines items that are submitted while a group is in progress into the next group. */
export class Batcher<Item, Result> {
  private queue: QueuedItem<Item, Result>[] = [];
  private running = 0;

  /** `work` processes a group and returns one result for each item, in order. */
  constructor(
    private readonly options: BatcherOptions<Item>,
    private readonly work: (items: readonly Item[]) => Promise<readonly Result[]>,
  ) {}

  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.queue.push({ item, resolve, reject });
      if (this.running < (this.options.concurrency ?? 1)) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.running += 1;
    const { lingerMs = 0, concurrency } = this.options;
    if (concurrency !== undefined) await nextTurn();
    while (this.queue.length > 0) {
      if (lingerMs > 0) await sleep(lingerMs);
      await this.runGroup(this.nextGroup());
    }
    this.running -= 1;
  }

  private nextGroup(): QueuedItem<Item, Result>[] {
    const { maxWeight, weigh = () => 1 } = this.options;
    let [count, weight] = [0, 0];
    for (const { item } of this.queue) {
      weight += weigh(item);
      if (count > 0 && weight > maxWeight) break;
      count += 1;
    }
    return this.queue.splice(0, count);
  }

  private async runGroup(group: readonly QueuedItem<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(results[index] as Result));
    } catch (failure) {
      if (group.length > 1 && this.options.mayRetryAlone?.(failure) === true)
        for (const queued of group) await this.runGroup([queued]);
      else for (const { reject } of group) reject(failure);
    }
  }
}
