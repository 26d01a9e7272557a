import type { PostingDesk } from './desk.js';

/**
 * The desks of a process. Each has a queue and groups of its own, so that what waits at one holds up nothing at another; the
 * locks that decide are MySQL's, for desks of one process as for those of several.
 */
export class Desks {
  private readonly desks: PostingDesk[] = [];

  constructor(private readonly make: (name: string) => PostingDesk) {}

  /** One more; metrics name it so. */
  add(name: string): PostingDesk {
    const desk = this.make(name);
    this.desks.push(desk);
    return desk;
  }

  /** Resolves when everything that was submitted to any of them has been answered. */
  async idle(): Promise<void> {
    await Promise.all(this.desks.map((desk) => desk.idle()));
  }
}
