const MAX_COLUMNS = 100;
/** Maximum of data rows, without the header. */
export const MAX_DATA_ROWS = 100_000;
/** Number of the last row and column in any spreadsheet program, including empty ones. */
export const LAST_ROW = 1_048_576;
export const LAST_COLUMN = 16_384;
/**
 * Length at which texts are cut (UTF-16 units). No column accepts this length, so a cut text is
 * refused.
 */
export const MAX_CELL_LENGTH = 2_048;

/**
 * A cell. A `number` has the digits exactly as in the file (`1E5`, `100.0`), never converted to a
 * float. A `formula` has its last result as text, a `boolean` has TRUE or FALSE. A `date` is in ISO
 * 8601: `2026-11-01`, with the time unless it is midnight, or only a time. A date outside the range
 * of spreadsheets is an `error`. Text is never empty.
 */
export type Cell = {
  readonly kind: 'text' | 'number' | 'date' | 'boolean' | 'error' | 'formula';
  readonly text: string;
  /** Code of a number's format, shortened. Absent for General, 0, #,##0 and text. */
  readonly format?: string;
} | null;

export type FilledCell = NonNullable<Cell>;

/** Whether the cell looks empty. */
export function isBlank(cell: Cell): boolean {
  return cell === null || cell.text.trim() === '';
}

/** A row with content. Ends with the last cell that has content. `null` is an empty cell. */
export interface SheetRow {
  /** Number of the row in a spreadsheet program. The header is row 1. */
  readonly number: number;
  readonly cells: readonly Cell[];
  /** True if the row is hidden, for example by a filter. CSV has no hidden rows. */
  readonly isHidden?: boolean;
  /** Number of hidden sheets before the sheet that is read. Set on the first row of a workbook. */
  readonly skippedSheets?: number;
}

export type SheetProblemCode =
  'unreadable_file' | 'bad_encoding' | 'too_large_inflated' | 'too_many_columns' | 'too_many_rows';

/**
 * Thrown if the file cannot be read, or not to its end. The message is for the person who made the
 * file.
 */
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

/** Returns the problem. `where` describes the row. */
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
