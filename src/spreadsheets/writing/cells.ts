import { stringify } from 'csv-stringify/sync';
import type ExcelJS from 'exceljs';
import { escapeInvisible } from '../../core/text.js';

/**
 * XLSX cells are marked as text, so a formula in them is not computed. CSV text that could be a
 * formula gets an apostrophe in front, which programs that read the CSV must remove.
 */

/** `number` is digits written by the service, `party` a recipient, whose phone begins with `+`. */
export type CellKind = 'number' | 'party' | 'text';

const BREAKS = /[\t\n\r\u0085\u2028\u2029]+/gu;
/** Control characters, lone surrogates, and characters that XML cannot contain. */
const INVISIBLE = /[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u;
const PHONE = /^\+[0-9]{1,20}$/;
/** Includes full-width forms, and a start after a `;`, which separates cells in Spanish. */
const FORMULA_START = /(^|;)([\s"']*)(?=[=+\-@＝＋－＠|%])/gu;

/** Replaces line breaks and tabs by spaces, and escapes other invisible characters. */
function visibleText(text: string): string {
  const visible = INVISIBLE.test(text)
    ? text.replace(BREAKS, ' ').replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '')
    : text;
  return escapeInvisible(visible);
}

/** Returns CSV lines, safe to open in a spreadsheet. A column without a kind is text. */
export function csvLines(
  rows: readonly (readonly (string | null)[])[],
  kinds: readonly CellKind[] = [],
  newline = '\r\n',
): string {
  const safe = rows.map((row) =>
    row.map((text, at) => (text === null ? null : csvText(text, kinds[at] ?? 'text'))),
  );
  return stringify(safe, { record_delimiter: newline, quoted_match: MUST_QUOTE });
}

/** Cells that are quoted besides those that CSV requires, because some programs split or change them. */
const MUST_QUOTE = /[;']|^\s|\s$/;

function csvText(text: string, kind: CellKind): string {
  if (kind === 'number') return text;
  const visible = visibleText(text);
  return kind === 'party' && PHONE.test(visible)
    ? visible
    : visible.replace(FORMULA_START, "$1'$2");
}

/** The longest text that a cell of XLSX may have. */
const MAX_TEXT = 32_767;

/** Escapes texts like `_x0041_`, which would be read as an A. */
export function xlsxText(text: string): string {
  return visibleText(text)
    .slice(0, MAX_TEXT)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');
}

export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  readonly width: number;
}

export type TableRow = readonly (string | null)[];

/** Shared by all cells, because exceljs takes twice as long if each cell has its own style. */
export const TEXT_STYLE = { numFmt: '@' };
export const HEADER_STYLE: Partial<ExcelJS.Style> = {
  ...TEXT_STYLE,
  font: { bold: true },
  fill: { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFE8EEF7' } },
};
/** Keeps the header visible while scrolling. */
export const FROZEN_HEADER: ExcelJS.WorksheetView[] = [
  { state: 'frozen', ySplit: 1 } as ExcelJS.WorksheetView,
];

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
