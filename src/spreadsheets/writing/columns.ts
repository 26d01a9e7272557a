import type { CellKind } from './cells.js';

export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  /** Width in a sheet, in characters. */
  readonly width: number;
}

/** Cells of one row in the order of the columns. Null is an empty cell. */
export type TableRow = readonly (string | null)[];
