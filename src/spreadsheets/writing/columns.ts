import type { CellKind } from './cells.js';

export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  /** In characters, in a sheet. */
  readonly width: number;
}

/** The cells of one row in the order of the columns; null is an empty cell. */
export type TableRow = readonly (string | null)[];
