import { existsSync, readFileSync } from 'node:fs';
import { bytesOf, type ReadingLimits, SheetProblem } from '../../src/spreadsheets/sheet.js';
import { openSheet } from '../../src/spreadsheets/open-sheet.js';

/** Reads a file in a process of its own, and tells what came of it and what it cost. */
export interface ReadApart {
  readonly rows: number;
  readonly code: string | null;
  readonly cpuMs: number;
  /** The most memory that the process had. */
  readonly rssMiB: number;
  /** How often others could have had the thread. */
  readonly turns: number;
}

const [, , path, limits] = process.argv;
if (path !== undefined && limits !== undefined) {
  const source = bytesOf([readFileSync(path)]);
  let rows = 0;
  let code: string | null = null;
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  try {
    for await (const _ of openSheet(source, JSON.parse(limits) as ReadingLimits)) rows += 1;
  } catch (failure) {
    if (!(failure instanceof SheetProblem)) throw failure;
    code = failure.code;
  }
  clearInterval(counting);
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const told: ReadApart = {
    rows,
    code,
    cpuMs: (userCPUTime + systemCPUTime) / 1000,
    rssMiB: peakKib(maxRSS) / 1024,
    turns,
  };
  process.stdout.write(JSON.stringify(told));
}

/** Where the system tells what this program had alone: `maxRSS` has also what its parent had when it was forked. */
function peakKib(maxRSS: number): number {
  if (!existsSync('/proc/self/status')) return maxRSS;
  const [, peak] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return peak === undefined ? maxRSS : Number.parseInt(peak, 10);
}
