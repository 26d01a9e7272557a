import { SheetProblem } from './sheet.js';
import { EventLoopYielder } from './event-loop-yielder.js';

const MIB = 1024 * 1024;
/** Limits on the work for reading one file, for all of its parts together. */
export interface ReadingLimits {
  /** Maximum of unpacked bytes. (docs/contract.md, Validation) */
  readonly inflatedBytes: number;
  /** Maximum of tags, attributes and references. 200 MiB of tags take seven seconds to parse. */
  readonly marks: number;
  /** Maximum of bytes and number of shared strings. */
  readonly textBytes: number;
  readonly texts: number;
}

/**
 * Limits that keep reading below five seconds. They allow two million filled cells, more than a
 * file of 10 MiB can have, and several times the text of an ordinary file of 10 MiB.
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

  /** Counts unpacked bytes. Throws `too_large_inflated`. */
  inflate(bytes: number): void {
    this.inflatedBytes += bytes;
    if (this.inflatedBytes > this.limits.inflatedBytes)
      throw new SheetProblem('too_large_inflated', 'unpacked, the workbook has more than 200 MiB');
  }

  /** Counts tags, attributes and references. Throws `too_large_inflated`. */
  mark(count: number): void {
    this.marks += count;
    if (this.marks > this.limits.marks)
      throw new SheetProblem(
        'too_large_inflated',
        'the workbook has more than two million cells, formatted empty ones included',
      );
  }
}
