const MAX_COLUMNS = 100;
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
  /** Code of a number's format, shortened. Absent for General, 0, #,##0 and text. */
  readonly format?: string;
} | null;

export type FilledCell = NonNullable<Cell>;

export function isBlank(cell: Cell): boolean {
  return cell === null || cell.text.trim() === '';
}

/** Ends with the last cell that has content. `null` is an empty cell. */
export interface SheetRow {
  readonly number: number;
  readonly cells: readonly Cell[];
  readonly isHidden?: boolean;
  /** Set on the first row of a workbook. */
  readonly skippedSheets?: number;
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
