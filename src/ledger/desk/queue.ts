import type { Waiting } from './waiting.js';

/** Commands that wait for a group, in their order. */
export class CommandQueue {
  private readonly waiting: Waiting[] = [];

  get length(): number {
    return this.waiting.length;
  }

  add(command: Waiting): void {
    this.waiting.push(command);
  }

  /** What was submitted together is not divided, though the group becomes larger by it. What was answered meanwhile is left out. */
  takeGroup(maxGroup: number): readonly Waiting[] {
    const group = this.waiting.splice(0, maxGroup);
    const last = group.at(-1)?.submission;
    const rest = this.waiting.findIndex(({ submission }) => submission !== last);
    group.push(...this.waiting.splice(0, rest < 0 ? this.waiting.length : rest));
    return group.filter(({ answered }) => !answered);
  }
}
