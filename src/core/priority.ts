import { setPriority } from 'node:os';

/** Values of nice(1): where processes share a machine, the API comes first. */
const PRIORITIES = { worker: 5, file: 10 } as const;

/** Applies to the calling thread and to threads that it creates later. */
export function lowerPriority(as: keyof typeof PRIORITIES): void {
  // Outside Linux this would change the whole process.
  if (process.platform === 'linux') setPriority(PRIORITIES[as]);
}
