import type { ReadingLimits } from '../limits.js';
import { MAX_CELL_LENGTH, SheetProblem, unreadable } from '../sheet.js';

const PIECE_BYTES = 1024 * 1024;

/**
 * Shared strings as UTF-8 in large pieces: separate strings would take several times as much
 * memory, and a hostile file could have hundreds of MiB of them.
 */
export class Texts {
  private readonly pieces: Buffer[] = [];
  /** End of the last text of each piece, as an offset in the piece. */
  private readonly pieceEnds: number[] = [];
  /** Offset in all pieces together. A text ends where the next one in its piece begins. */
  private starts = new Uint32Array(1024);
  private count = 0;
  private used = PIECE_BYTES;

  constructor(private readonly limits: Pick<ReadingLimits, 'textBytes' | 'texts'>) {}

  /** Throws `SheetProblem` `too_large_inflated`. */
  add(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.used + length > PIECE_BYTES) {
      if (this.pieces.length * PIECE_BYTES >= this.limits.textBytes) throw tooLarge();
      this.pieces.push(Buffer.allocUnsafe(PIECE_BYTES));
      this.used = 0;
    }
    if (this.count >= this.limits.texts) throw tooLarge();
    if (this.count === this.starts.length) this.grow();
    const last = this.pieces.length - 1;
    this.pieces[last]?.write(text, this.used);
    this.starts[this.count] = last * PIECE_BYTES + this.used;
    this.used += length;
    this.pieceEnds[last] = this.used;
    this.count += 1;
  }

  /** Throws `SheetProblem` `unreadable_file` for an index that does not exist. */
  at(index: number): string {
    const start = this.starts[index];
    if (start === undefined || index >= this.count)
      throw unreadable('a cell refers to a text that the workbook does not have');
    const number = Math.floor(start / PIECE_BYTES);
    const base = number * PIECE_BYTES;
    const next = index + 1 < this.count ? (this.starts[index + 1] ?? 0) - base : Infinity;
    const end = Math.min(next, this.pieceEnds[number] ?? 0);
    return this.pieces[number]?.toString('utf8', start - base, end) ?? '';
  }

  private grow(): void {
    const bigger = new Uint32Array(this.starts.length * 2);
    bigger.set(this.starts);
    this.starts = bigger;
  }
}

function tooLarge(): SheetProblem {
  return new SheetProblem('too_large_inflated', 'the texts of the workbook take more than 64 MiB');
}

/** Text of one element, cut at the maximum length of a cell. */
export class TextBuffer {
  private text = '';

  add(piece: string): void {
    if (this.text.length < MAX_CELL_LENGTH)
      this.text += piece.slice(0, MAX_CELL_LENGTH - this.text.length);
  }

  take(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}

/** Decodes sequences like `_x000D_`, which represent characters that XML cannot contain. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
