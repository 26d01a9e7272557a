import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest delay of other requests of the process while a file is read or written. */
const TURN_MS = 8;

/** Yields the thread when long work has occupied it for a while. */
export class Turns {
  private began = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.began < TURN_MS) return;
    await nextTurn();
    this.began = performance.now();
  }
}
