/** A spreadsheet as rows of cells, independent of the file's format. (docs/contract.md, Upload) */

const MAX_COLUMNS = 100;
/** The limit of data rows, without the header. */
export const MAX_DATA_ROWS = 100_000;
/** The last row and column in any spreadsheet program, including empty ones. */
export const LAST_ROW = 1_048_576;
export const LAST_COLUMN = 16_384;
/**
 * Longer texts are cut here (UTF-16 units). No column accepts this length, so a cut text is
 * refused.
 */
export const MAX_CELL_LENGTH = 2_048;

/**
 * A cell. `number` has the digits exactly as in the file (`1E5`, `100.0`), never converted to a
 * float. A `formula` has its last result as text, a `boolean` TRUE or FALSE. A `date` is ISO 8601:
 * `2026-11-01`, with the time unless it is midnight, or only a time. A date that no spreadsheet
 * shows is an `error`. Text is never empty.
 */
export type Cell = {
  readonly kind: 'text' | 'number' | 'date' | 'boolean' | 'error' | 'formula';
  readonly text: string;
  /** The code of a number's format, shortened, unless it is General, 0, #,##0 or text. */
  readonly format?: string;
} | null;

export type FilledCell = NonNullable<Cell>;

/** Returns true if a person sees nothing in the cell. */
export function isBlank(cell: Cell): boolean {
  return cell === null || cell.text.trim() === '';
}

/** A row with content. Cells after the last one with content are omitted; `null` is an empty cell. */
export interface SheetRow {
  /** The row's number in a spreadsheet program: the header is 1. */
  readonly number: number;
  readonly cells: readonly Cell[];
  /** The row is hidden, for example by a filter. CSV has no hidden rows. */
  readonly isHidden?: boolean;
  /** On the first row of a workbook: the number of hidden sheets before the sheet that is read. */
  readonly skippedSheets?: number;
}

export type SheetProblemCode =
  'unreadable_file' | 'bad_encoding' | 'too_large_inflated' | 'too_many_columns' | 'too_many_rows';

/** The file cannot be read, or not further. The message is for the person who made the file. */
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

/** `where` is the row. */
export function tooManyColumns(where: string): SheetProblem {
  return new SheetProblem('too_many_columns', `${where} has more than ${MAX_COLUMNS} columns`);
}

/** Returns the row without empty cells at the end. */
export function trimmedRow(number: number, cells: Cell[]): SheetRow {
  let length = cells.length;
  while (length > 0 && (cells[length - 1] ?? null) === null) length -= 1;
  if (length > MAX_COLUMNS) throw tooManyColumns(`row ${number}`);
  cells.length = length;
  return { number, cells };
}
