import { setPriority } from 'node:os';

/**
 * Values of nice(1): where processes share a machine, the API, which responds within milliseconds,
 * gets the processor first.
 */
const PRIORITIES = {
  /** Below the API: no client holds a connection open while a worker works. */
  worker: 5,
  /** Below a worker's other tasks: one file takes seconds. */
  file: 10,
} as const;

/** Lowers the priority of the calling thread and of the threads that it creates later. */
export function lowerPriority(as: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
