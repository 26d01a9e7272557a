import { stringify } from 'csv-stringify/sync';
import { withEscapes } from '../../core/text.js';

/**
 * Content of cells that a person opens. An XLSX cell is marked as text, so a formula in it does not
 * run. The type of a CSV cell depends on the program that opens it, so text that could be a formula
 * gets an apostrophe in front. Visible text is not changed otherwise: programs that read the CSV
 * remove the apostrophe, or use the XLSX.
 */

/**
 * `number`: digits written by the service. `party`: a recipient, whose phone begins with `+`.
 * `text`: anything.
 */
export type CellKind = 'number' | 'party' | 'text';

const BREAKS = /[\t\n\r\u0085\u2028\u2029]+/gu;
/** Control characters, lone surrogates, and what XML cannot contain. */
const UNSHOWN = /[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u;
const PHONE = /^\+[0-9]{1,20}$/;
/**
 * The beginnings of a formula, including full-width forms, at the start or after a `;`: where `;`
 * is the separator, as in Spanish, a cell begins there.
 */
const FORMULA_START = /(^|;)([\s"']*)(?=[=+\-@＝＋－＠|%])/gu;

/**
 * Returns the text without control characters: line breaks and tabs become spaces, and other
 * invisible characters are escaped.
 */
function shownText(text: string): string {
  const shown = UNSHOWN.test(text)
    ? text.replace(BREAKS, ' ').replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '')
    : text;
  return withEscapes(shown);
}

/** Returns lines of a CSV, with cells quoted where necessary. A column without a kind is text. */
export function csvLines(
  rows: readonly (readonly (string | null)[])[],
  kinds: readonly CellKind[] = [],
  newline = '\r\n',
): string {
  const safe = rows.map((row) =>
    row.map((text, at) => (text === null ? null : csvText(text, kinds[at] ?? 'text'))),
  );
  return stringify(safe, { record_delimiter: newline, quoted_match: QUOTED });
}

/** Also quoted: a `;` or an apostrophe, which some programs treat specially, and surrounding spaces. */
const QUOTED = /[;']|^\s|\s$/;

function csvText(text: string, kind: CellKind): string {
  if (kind === 'number') return text;
  const shown = shownText(text);
  return kind === 'party' && PHONE.test(shown) ? shown : shown.replace(FORMULA_START, "$1'$2");
}

/** The longest text that a cell of a spreadsheet holds. */
const MAX_TEXT = 32_767;

/** Returns the cell's text in an XLSX, where `_x0041_` would be read as an A. */
export function xlsxText(text: string): string {
  return shownText(text)
    .slice(0, MAX_TEXT)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');
}
