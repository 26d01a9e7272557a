import { setPriority } from 'node:os';

/** Seconds of work: whoever is answered in milliseconds has the processor first. */
const LONG_WORK_PRIORITY = 10;

/** Puts the thread that calls this behind every other one that has work. */
export function giveWay(): void {
  // Elsewhere than on Linux it would be the priority of the whole process.
  if (process.platform === 'linux') setPriority(LONG_WORK_PRIORITY);
}
