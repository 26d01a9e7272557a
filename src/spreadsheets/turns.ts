import { setImmediate as nextTurn } from 'node:timers/promises';

/** Other requests of the process wait no longer than this for a file that is being read or written. */
const TURN_MS = 8;

/** Lets others have the thread when long work has had it for a while. */
export class Turns {
  private began = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.began < TURN_MS) return;
    await nextTurn();
    this.began = performance.now();
  }
}
