import type { PostingDesk } from './desk.js';

/** Each has its own queue and groups, so that what waits at one delays nothing at another. */
export class Desks {
  private readonly desks: PostingDesk[] = [];

  constructor(private readonly make: (name: string, isInTurn: boolean) => PostingDesk) {}

  /** Adds a desk with this name in metrics. `isInTurn`: as in its options. */
  add(name: string, isInTurn = false): PostingDesk {
    const desk = this.make(name, isInTurn);
    this.desks.push(desk);
    return desk;
  }

  /** Resolves once everything submitted to any of them has been answered. */
  async idle(): Promise<void> {
    await Promise.all(this.desks.map((desk) => desk.idle()));
  }
}
