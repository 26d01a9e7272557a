import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../core/ids.js';
import type { Sweep } from './sweeper.js';

const EVERY_MS = 600_000;
const PAUSE_MS = 50;

interface Piece {
  readonly at: Uuid;
  /** False if the piece must be processed again. */
  readonly isDone: boolean;
}

/**
 * Returns a sweep that processes all pieces one after another, with pauses. `work` returns null at
 * the end.
 */
export function pieceSweep(
  name: string,
  work: (after: Uuid | null) => Promise<Piece | null>,
): Sweep {
  return {
    name,
    everyMs: EVERY_MS,
    run: async (signal) => {
      let after: Uuid | null = null;
      while (!signal.aborted) {
        const piece: Piece | null = await work(after);
        if (piece === null) break;
        if (piece.isDone) after = piece.at;
        await sleep(PAUSE_MS);
      }
      return false;
    },
  };
}
