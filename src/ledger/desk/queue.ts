import type { Waiting } from './waiting.js';

export class CommandQueue {
  private readonly waiting: Waiting[] = [];

  get length(): number {
    return this.waiting.length;
  }

  add(command: Waiting): void {
    this.waiting.push(command);
  }

  /** Commands submitted together are not split, even beyond `maxGroup`. Those answered meanwhile are dropped. */
  takeGroup(maxGroup: number): readonly Waiting[] {
    const group = this.waiting.splice(0, maxGroup);
    const last = group.at(-1)?.submission;
    const rest = this.waiting.findIndex(({ submission }) => submission !== last);
    group.push(...this.waiting.splice(0, rest < 0 ? this.waiting.length : rest));
    return group.filter(({ answered }) => !answered);
  }
}
