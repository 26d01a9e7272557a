/**
 * The endpoints that a process's senders may be sending to. An endpoint begins in a short slot. If it takes longer,
 * failed last or was slow last, it moves to a long one if there is room. A tenant's share is its 16 endpoints.
 */
export class Slots {
  private short = 0;
  private long = 0;

  /** `each`: slots of each kind. */
  constructor(private readonly each: number) {}

  get taken(): readonly [short: number, long: number] {
    return [this.short, this.long];
  }

  get room(): number {
    return Math.max(0, this.each - this.short);
  }

  /** How many more may begin that are likely to be slow. */
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

export interface Slot {
  takesLong(): void;
  leave(): void;
}
