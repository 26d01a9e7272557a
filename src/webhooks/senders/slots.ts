/**
 * How many endpoints the senders of a process are at. An endpoint begins in a short slot; where it takes longer, or failed last, it moves
 * to a long one if there is room, so that endpoints which hang leave the short ones to the others. A tenant has 16 endpoints at most,
 * which is its share.
 */
export class Slots {
  private short = 0;
  private long = 0;

  /** `each`: of both kinds. */
  constructor(private readonly each: number) {}

  get taken(): readonly [short: number, long: number] {
    return [this.short, this.long];
  }

  /** How many more endpoints may begin. */
  get room(): number {
    return Math.max(0, this.each - this.short);
  }

  /** How many more may begin that are likely to take long. */
  get longRoom(): number {
    return this.each - this.long;
  }

  enter(): Slot {
    this.short += 1;
    let isLong = false;
    return {
      takesLong: () => {
        if (isLong || this.longRoom === 0) return;
        isLong = true;
        this.short -= 1;
        this.long += 1;
      },
      leave: () => {
        if (isLong) this.long -= 1;
        else this.short -= 1;
      },
    };
  }
}

/** The place of one endpoint. */
export interface Slot {
  takesLong(): void;
  leave(): void;
}
