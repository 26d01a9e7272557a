import { setImmediate as nextTurn } from 'node:timers/promises';
import { SheetProblem } from './sheet.js';

const MIB = 1024 * 1024;
/** Limits for reading one file. */
export interface ReadingLimits {
  readonly inflatedBytes: number;
  /** Maximum of tags and similar marks in XML. Parsing 200 MiB of them takes seven seconds. */
  readonly marks: number;
  readonly textBytes: number;
  readonly texts: number;
}

/**
 * Limits with which reading takes less than five seconds. A file of 10 MiB cannot reach the two
 * million filled cells that they allow.
 */
export const WHOLE_FILE: ReadingLimits = {
  inflatedBytes: 200 * MIB,
  marks: 12_000_000,
  textBytes: 64 * MIB,
  texts: 2_000_000,
};

/** Maximum time for which reading or writing a file blocks the event loop. */
const TURN_MS = 8;

export class EventLoopYielder {
  private began = performance.now();

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.began < TURN_MS) return;
    await nextTurn();
    this.began = performance.now();
  }
}

export class ReadingBudget extends EventLoopYielder {
  private inflatedBytes = 0;
  private marks = 0;

  constructor(readonly limits: ReadingLimits) {
    super();
  }

  inflate(bytes: number): void {
    this.inflatedBytes += bytes;
    if (this.inflatedBytes > this.limits.inflatedBytes)
      throw new SheetProblem('too_large_inflated', 'unpacked, the workbook has more than 200 MiB');
  }

  mark(count: number): void {
    this.marks += count;
    if (this.marks > this.limits.marks)
      throw new SheetProblem(
        'too_large_inflated',
        'the workbook has more than two million cells, formatted empty ones included',
      );
  }
}
