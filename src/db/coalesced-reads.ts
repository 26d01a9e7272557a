/** The most keys in one read, which keeps a statement's list short. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

interface Asked<Key, Found> {
  readonly key: Key;
  readonly resolve: (found: Found) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * Simultaneous reads share a statement: those requested while earlier ones are under way form the next. A single
 * request waits for nobody. Results go only to those who asked, and are not kept.
 */
export class CoalescedReads<Key, Found> {
  private waiting: Asked<Key, Found>[] = [];
  private underWay = 0;
  private isPlanned = false;

  constructor(private readonly read: (keys: readonly Key[]) => Promise<(key: Key) => Found>) {}

  /** Throws what the read throws. */
  ask(key: Key): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, resolve, reject });
      if (this.isPlanned) return;
      this.isPlanned = true;
      setImmediate(() => {
        this.isPlanned = false;
        this.begin();
      });
    });
  }

  private begin(): void {
    while (this.underWay < READS_AT_A_TIME && this.waiting.length > 0) {
      this.underWay += 1;
      void this.answer(this.waiting.splice(0, MAX_KEYS)).finally(() => {
        this.underWay -= 1;
        this.begin();
      });
    }
  }

  private async answer(asked: readonly Asked<Key, Found>[]): Promise<void> {
    try {
      const found = await this.read(asked.map(({ key }) => key));
      for (const { key, resolve } of asked) resolve(found(key));
    } catch (failure) {
      for (const { reject } of asked) reject(failure);
    }
  }
}
