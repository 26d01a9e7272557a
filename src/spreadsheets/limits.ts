import { SheetProblem } from './sheet.js';
import { EventLoopYielder } from './event-loop-yielder.js';

const MIB = 1024 * 1024;
/** Limits for reading one file. */
export interface ReadingLimits {
  readonly inflatedBytes: number;
  /** 200 MiB of tags take seven seconds to parse. */
  readonly marks: number;
  readonly textBytes: number;
  readonly texts: number;
}

/**
 * Reading stays below five seconds. A file of 10 MiB cannot have the two million filled cells that
 * they allow.
 */
export const WHOLE_FILE: ReadingLimits = {
  inflatedBytes: 200 * MIB,
  marks: 12_000_000,
  textBytes: 64 * MIB,
  texts: 2_000_000,
};

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
