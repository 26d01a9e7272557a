/** The most keys of one read: the list of a statement stays short. */
const MAX_KEYS = 50;
const READS_AT_A_TIME = 2;

interface Asked<Key, Found> {
  readonly key: Key;
  readonly resolve: (found: Found) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * Reads that many requests ask for at the same time share a statement: what is asked while earlier reads are under way is
 * the next one. A single request waits for nobody. What was read is given to those who asked, and kept by nobody.
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
