import { SheetProblem } from './sheet.js';
import { Turns } from './turns.js';

const MIB = 1024 * 1024;
/** (decisions.md, Bonuses and batches: too_large_inflated) */
const MOST_INFLATED_BYTES = 200 * MIB;
/**
 * Tags, attributes and references together. Bytes alone do not bound the time: 200 MiB of nothing but tags are seven seconds
 * of parsing. This many are under five, and enough for two million filled cells, which no file of 10 MiB has.
 */
const MOST_MARKS = 12_000_000;

/** What reading one file may cost, over all the parts of it that are read. */
export class Effort extends Turns {
  private inflatedBytes = 0;
  private marks = 0;

  /** Throws too_large_inflated. */
  inflate(bytes: number): void {
    this.inflatedBytes += bytes;
    if (this.inflatedBytes > MOST_INFLATED_BYTES)
      throw new SheetProblem('too_large_inflated', 'unpacked, the workbook has more than 200 MiB');
  }

  /** Throws too_large_inflated. */
  mark(count: number): void {
    this.marks += count;
    if (this.marks > MOST_MARKS)
      throw new SheetProblem(
        'too_large_inflated',
        'the workbook has more than two million cells, formatted empty ones included',
      );
  }
}
