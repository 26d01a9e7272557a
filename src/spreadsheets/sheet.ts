import { setImmediate as nextTurn } from 'node:timers/promises';

export const MAX_COLUMNS = 100;
export const MAX_DATA_ROWS = 100_000;
/** The last row and column that a spreadsheet program has. */
export const LAST_ROW = 1_048_576;
export const LAST_COLUMN = 16_384;
/** Length in UTF-16 units at which texts are cut. Every column refuses a text of this length. */
export const MAX_CELL_LENGTH = 2_048;

/**
 * A `number` has the digits exactly as in the file (`1E5`, `100.0`), never converted to a float. A
 * `formula` has its last result as text. A `date` is in ISO 8601: `2026-11-01`, with the time
 * unless it is midnight, or only a time. Text is never empty.
 */
export type Cell = {
  readonly kind: 'text' | 'number' | 'date' | 'boolean' | 'error' | 'formula';
  readonly text: string;
  /**
   * Code of the format, shortened: of a number unless it is General or text; of a text only if the
   * format shows more, less or other than the text.
   */
  readonly format?: string;
  /** Set in a CSV, where a quotation mark that is left open hides the rows that follow. */
  readonly hasLineBreak?: true;
} | null;

export type FilledCell = NonNullable<Cell>;

export function isBlank(cell: Cell): boolean {
  return cell === null || cell.text.trim() === '';
}

/** A row of a sheet, up to its last cell with content. */
export interface SheetRow {
  readonly number: number;
  readonly cells: readonly Cell[];
  readonly isHidden?: boolean;
  /** Set on the first row of a workbook. A workbook without rows yields one empty row with it. */
  readonly workbook?: WorkbookView;
}

/** Parts of a workbook that are read but not seen, or seen but not read. */
export interface WorkbookView {
  readonly sheet: string;
  /** Hidden sheets before the one that is read. */
  readonly skippedSheets: number;
  /** Indexes of the columns that are hidden, too narrow to be seen included. */
  readonly hiddenColumns: readonly number[];
  /** The other visible sheets with content. */
  readonly otherSheets: readonly OtherSheet[];
}

/** A sheet that is not read, or only its header and whether a row follows. */
export interface OtherSheet {
  readonly name: string;
  /** The beginnings of the texts of its first row. Empty if the sheet cannot be read. */
  readonly header: readonly string[];
  readonly hasRows: boolean;
}

export type SheetProblemCode =
  'unreadable_file' | 'bad_encoding' | 'too_large_inflated' | 'too_many_columns' | 'too_many_rows';

/** The message is for the person who made the file. */
export class SheetProblem extends Error {
  override name = 'SheetProblem';

  constructor(
    readonly code: SheetProblemCode,
    message: string,
  ) {
    super(message);
  }
}

export function unreadable(message: string): SheetProblem {
  return new SheetProblem('unreadable_file', message);
}

export function tooManyRows(): SheetProblem {
  return new SheetProblem(
    'too_many_rows',
    `the file has more than ${MAX_DATA_ROWS} rows: split it`,
  );
}

export function tooManyColumns(where: string): SheetProblem {
  return new SheetProblem('too_many_columns', `${where} has more than ${MAX_COLUMNS} columns`);
}

export function trimmedRow(number: number, cells: Cell[]): SheetRow {
  let length = cells.length;
  while (length > 0 && (cells[length - 1] ?? null) === null) length -= 1;
  if (length > MAX_COLUMNS) throw tooManyColumns(`row ${number}`);
  cells.length = length;
  return { number, cells };
}

const MIB = 1024 * 1024;
/** Limits for reading one file. */
export interface ReadingLimits {
  readonly inflatedBytes: number;
  /** Maximum of tags, attributes, references and comments in XML, which parse more slowly than text. */
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

/** How long reading or writing a file may block the event loop. */
const TURN_MS = 8;

export class EventLoopYielder {
  private began = performance.now();

  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.began < TURN_MS) return;
    await nextTurn();
    this.began = performance.now();
  }
}

/** Counts what reading a file has used. Throws `SheetProblem` over a limit. */
export class ReadingBudget extends EventLoopYielder {
  private inflatedBytes = 0;
  private marks = 0;

  constructor(readonly limits: ReadingLimits) {
    super();
  }

  countInflated(bytes: number): void {
    this.inflatedBytes += bytes;
    if (this.inflatedBytes > this.limits.inflatedBytes)
      throw new SheetProblem('too_large_inflated', 'unpacked, the workbook has more than 200 MiB');
  }

  countMarks(count: number): void {
    this.marks += count;
    if (this.marks > this.limits.marks)
      throw new SheetProblem(
        'too_large_inflated',
        'the workbook has more than two million cells, formatted empty ones included',
      );
  }
}

/** A file in memory, received in pieces. */
export interface ByteSource {
  readonly size: number;
  /** Returns exactly `length` bytes from `offset`. Both must be within the size. */
  read(offset: number, length: number): Buffer;
}

export function bytesOf(pieces: readonly Buffer[]): ByteSource {
  const starts: number[] = [];
  let size = 0;
  for (const piece of pieces) {
    starts.push(size);
    size += piece.length;
  }
  return {
    size,
    read(offset, length) {
      const found = pieces.flatMap((piece, index) => {
        const from = offset - (starts[index] ?? 0);
        return from + length > 0 && from < piece.length
          ? [piece.subarray(Math.max(0, from), from + length)]
          : [];
      });
      const [only] = found;
      return only !== undefined && found.length === 1 ? only : Buffer.concat(found);
    },
  };
}

const PIECE_BYTES = 64 * 1024;

export function* piecesOf(
  source: ByteSource,
  offset: number,
  end: number,
  pieceBytes = PIECE_BYTES,
): Generator<Buffer> {
  for (let at = offset; at < end; at += pieceBytes)
    yield source.read(at, Math.min(pieceBytes, end - at));
}

/** Significant digits of a number. Spreadsheets change all further digits. */
export const MAX_DIGITS = 15;

/** The format `0`, or one that pads with zeros (`00000`), with an optional language before. */
const PADDING = /^(?:\[\$-[0-9A-F]{1,4}\])?(0{1,40})$/i;

/**
 * Returns the digits that a number cell shows in a text column: an integer with the leading zeros
 * of its format, or else the shortest decimal (Excel stores 1.1 as 1.1000000000000001). Otherwise
 * returns why the digits are not those that a person sees.
 */
export function textOfNumber(
  stored: string,
  format?: string,
): { readonly text: string } | { readonly fault: 'format' | 'too_long' } {
  const zeros = format === undefined ? '' : PADDING.exec(format)?.[1];
  if (zeros === undefined) return { fault: 'format' };
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    SHORTEST_DECIMAL.exec(String(Number(stored))) ?? [];
  const shift = -Number.parseInt(exponent, 10);
  if (whole === '' || shift < 0 || `${whole}${fraction}`.replace(/^0+/, '').length > MAX_DIGITS)
    return { fault: 'too_long' };
  const decimal =
    shift > 0 ? `0.${'0'.repeat(shift - 1)}${whole}${fraction}` : `${whole}.${fraction}`;
  if (shift === 0 && fraction === '')
    return { text: `${sign}${whole.padStart(zeros.length, '0')}` };
  // The format 0 shows a rounded number.
  return zeros === '' ? { text: `${sign}${decimal}` } : { fault: 'format' };
}

/** Significant digits that General shows of a number with decimals. */
const GENERAL_DIGITS = 10;

/** Returns the digits that a number cell shows in General (no format) or in a format of whole numbers. */
export function shownNumber(stored: string, format?: string): string {
  const value = Number(stored);
  if (format !== undefined) return value.toFixed(0);
  const digits = Math.trunc(Math.abs(value)).toFixed(0).length;
  return String(Number(value.toPrecision(Math.min(Math.max(GENERAL_DIGITS, digits), 100))));
}

const SHORTEST_DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;
