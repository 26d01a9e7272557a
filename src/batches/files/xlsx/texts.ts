import { MOST_CELL_LENGTH, SheetProblem, unreadable } from '../sheet.js';

const PIECE_BYTES = 1024 * 1024;
/** A file of 10 MiB whose texts are worth reading has a fraction of this. */
const MOST_BYTES = 64 * PIECE_BYTES;
const MOST_TEXTS = 4_000_000;

/**
 * The shared strings of a workbook as UTF-8 in large pieces: as strings of their own they would take several times as much,
 * and a hostile file could have hundreds of MiB of them.
 */
export class Texts {
  private readonly pieces: Buffer[] = [];
  /** Where text n begins, counted over all pieces; text n + 1 begins where it ends, or in the next piece. */
  private starts = new Float64Array(1024);
  private ends = new Float64Array(1024);
  private count = 0;
  private used = PIECE_BYTES;

  /** Throws SheetProblem too_large_inflated. */
  add(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.used + length > PIECE_BYTES) {
      if (this.pieces.length * PIECE_BYTES >= MOST_BYTES) throw tooLarge();
      this.pieces.push(Buffer.allocUnsafe(PIECE_BYTES));
      this.used = 0;
    }
    if (this.count >= MOST_TEXTS) throw tooLarge();
    if (this.count === this.starts.length) this.grow();
    const start = (this.pieces.length - 1) * PIECE_BYTES + this.used;
    this.pieces.at(-1)?.write(text, this.used);
    this.starts[this.count] = start;
    this.ends[this.count] = start + length;
    this.used += length;
    this.count += 1;
  }

  /** Throws SheetProblem unreadable_file for an index that the workbook does not have. */
  at(index: number): string {
    const start = this.starts[index];
    const end = this.ends[index];
    if (start === undefined || end === undefined || index >= this.count)
      throw unreadable('a cell refers to a text that the workbook does not have');
    const piece = this.pieces[Math.floor(start / PIECE_BYTES)];
    const base = Math.floor(start / PIECE_BYTES) * PIECE_BYTES;
    return piece?.toString('utf8', start - base, end - base) ?? '';
  }

  private grow(): void {
    const grown = (old: Float64Array): Float64Array<ArrayBuffer> => {
      const bigger = new Float64Array(old.length * 2);
      bigger.set(old);
      return bigger;
    };
    this.starts = grown(this.starts);
    this.ends = grown(this.ends);
  }
}

function tooLarge(): SheetProblem {
  return new SheetProblem('too_large_inflated', 'the texts of the workbook take more than 64 MiB');
}

/** Gathers the text of one element up to the length that a cell may have. */
export class TextBuffer {
  private text = '';

  add(piece: string): void {
    if (this.text.length < MOST_CELL_LENGTH) this.text += piece.slice(0, MOST_CELL_LENGTH - this.text.length);
  }

  /** What was gathered; the buffer is empty after. */
  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

/** `_x000D_` is how workbooks write what XML cannot hold. */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
