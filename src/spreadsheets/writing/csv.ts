import { type CellKind, csvLines } from './cells.js';
import type { Column, TableRow } from './columns.js';

/** Without it some programs take UTF-8 for the encoding of the country. */
const BYTE_ORDER_MARK = '\ufeff';

/** The table's CSV from its header on. */
export function csvOf(columns: readonly Column[], rows: readonly TableRow[]): string {
  return BYTE_ORDER_MARK + csvLines([headerOf(columns)]) + csvLines(rows, kindsOf(columns));
}

/** How each column's cells are written. */
export function kindsOf(columns: readonly Column[]): CellKind[] {
  return columns.map(({ kind }) => kind);
}

/** The row that names the columns. */
export function headerOf(columns: readonly Column[]): TableRow {
  return columns.map(({ name }) => name);
}
