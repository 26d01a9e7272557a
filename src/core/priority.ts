import { setPriority } from 'node:os';

/** As of nice(1): whoever is answered in milliseconds has the processor first, where processes share a machine. */
const PRIORITIES = {
  /** Behind the API: what a worker does, nobody waits for with a connection open. */
  worker: 5,
  /** Behind the rest of a worker: seconds of work for one file. */
  file: 10,
} as const;

/** Puts the thread that calls this, and all that it makes later, behind what has more right to the processor. */
export function giveWay(as: keyof typeof PRIORITIES): void {
  // Elsewhere than on Linux it would be the priority of the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
