import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum time for which reading or writing a file delays other work of the process. */
const TURN_MS = 8;

export class EventLoopYielder {
  private began = performance.now();

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.began < TURN_MS) return;
    await nextTurn();
    this.began = performance.now();
  }
}
