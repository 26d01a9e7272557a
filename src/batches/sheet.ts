/** What validation knows of an uploaded file, whichever kind it is. */

/** The bytes of a file, read in any order. */
export interface ByteSource {
  readonly size: number;
  /** Fewer bytes than `length` only at the end of the file. */
  read(offset: number, length: number): Promise<Buffer>;
}

/** What a cell holds, as text: of a number its exact decimal form as it is stored. */
export interface Cell {
  readonly kind: 'text' | 'number' | 'date' | 'boolean' | 'error' | 'formula';
  readonly text: string;
}

export interface SheetRow {
  /** As a spreadsheet shows it. The first row that a sheet gives is its header. */
  readonly number: number;
  /** By column; null or absent where a cell is empty. */
  readonly cells: readonly (Cell | null)[];
}

/** Reads the rows of a file, recognised by its content. Throws SheetProblem, at once or between rows. */
export type OpenSheet = (bytes: ByteSource) => AsyncIterable<SheetRow>;

export type SheetProblemCode = 'unreadable_file' | 'bad_encoding' | 'too_large_inflated' | 'too_many_columns';

/** The file cannot be read on. The message is for the person who made it. */
export class SheetProblem extends Error {
  override name = 'SheetProblem';
  readonly code: SheetProblemCode;

  constructor(code: SheetProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}
