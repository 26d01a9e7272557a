import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

interface Waiting<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (failure: unknown) => void;
}

export interface BatcherOptions<Item> {
  /** A group has at least one item. */
  readonly most: number;
  readonly weigh?: (item: Item) => number;
  /** How long a group waits for further items; 0 by default. */
  readonly lingerMs?: number;
  /**
   * Groups under way at a time, each with all items requested in one turn of the event loop. By
   * default one, started at once.
   */
  readonly atATime?: number;
  /** True if a single item may have made the group fail: each is then tried separately. */
  readonly isOfOne?: (failure: unknown) => boolean;
}

/** Combines requests that arrive while a group is under way into the next group. */
export class Batcher<Item, Answer> {
  private waiting: Waiting<Item, Answer>[] = [];
  private underWay = 0;

  /** `work` returns its results in the order of the items. */
  constructor(
    private readonly options: BatcherOptions<Item>,
    private readonly work: (items: readonly Item[]) => Promise<readonly Answer[]>,
  ) {}

  ask(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.underWay < (this.options.atATime ?? 1)) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.underWay += 1;
    const { lingerMs = 0, atATime } = this.options;
    if (atATime !== undefined) await turn();
    while (this.waiting.length > 0) {
      if (lingerMs > 0) await sleep(lingerMs);
      await this.answer(this.nextGroup());
    }
    this.underWay -= 1;
  }

  private nextGroup(): Waiting<Item, Answer>[] {
    const { most, weigh = () => 1 } = this.options;
    let [count, weight] = [0, 0];
    for (const { item } of this.waiting) {
      weight += weigh(item);
      if (count > 0 && weight > most) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  private async answer(group: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.work(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => resolve(answers[index] as Answer));
    } catch (failure) {
      if (group.length > 1 && this.options.isOfOne?.(failure) === true)
        for (const one of group) await this.answer([one]);
      else for (const { reject } of group) reject(failure);
    }
  }
}
