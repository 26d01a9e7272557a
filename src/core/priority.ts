import { setPriority } from 'node:os';

/** As in nice(1): where processes share a machine, those that answer within milliseconds get the processor first. */
const PRIORITIES = {
  /** Below the API: nobody waits for a worker with an open connection. */
  worker: 5,
  /** Below the rest of a worker: seconds of work for one file. */
  file: 10,
} as const;

/** Lowers the priority of the calling thread and of all that it creates later. */
export function giveWay(as: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
