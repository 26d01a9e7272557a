import { readFileSync } from 'node:fs';

/** Clock ticks of all processors of this machine since it was started. */
interface ProcessorTime {
  readonly total: number;
  /** Of that, what they wanted to do and could not, since the host let another machine run. */
  readonly stolen: number;
}

/** All zero where it is not told: not on Linux. */
export function processorTime(): ProcessorTime {
  if (process.platform !== 'linux') return { total: 0, stolen: 0 };
  // user nice system idle iowait irq softirq steal; what guests do stands in the first two already.
  const [, ...ticks] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .split(/ +/)
    .map(Number);
  const told = ticks.slice(0, 8);
  return { total: told.reduce((sum, count) => sum + count, 0), stolen: told[7] ?? 0 };
}

/** The share of the processors' time that was taken, from 0 to 1. */
export function stolenSince(before: ProcessorTime): number {
  const now = processorTime();
  return now.total === before.total ? 0 : (now.stolen - before.stolen) / (now.total - before.total);
}
