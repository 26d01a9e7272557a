import { type CellKind, csvLines } from './cells.js';
import type { Column, TableRow } from './columns.js';

/** Without this mark, some programs read UTF-8 as the local encoding. */
const BYTE_ORDER_MARK = '\ufeff';

export function csvOf(columns: readonly Column[], rows: readonly TableRow[]): string {
  return BYTE_ORDER_MARK + csvLines([headerOf(columns)]) + csvLines(rows, kindsOf(columns));
}

export function kindsOf(columns: readonly Column[]): CellKind[] {
  return columns.map(({ kind }) => kind);
}

export function headerOf(columns: readonly Column[]): TableRow {
  return columns.map(({ name }) => name);
}
