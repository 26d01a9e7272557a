import { stringify } from 'csv-stringify/sync';
import { withEscapes } from '../../core/text.js';

/**
 * What may stand in a cell that a person opens. A cell of an XLSX says itself that it is text, so nothing in it runs. A cell of
 * a CSV is what the program that opens it takes it for, so where its text could be taken for a formula an apostrophe is put
 * before it. Of a text that can be seen the apostrophe is the only change: who reads the CSV by program takes it away, or takes
 * the XLSX.
 */

/** `number`: digits of ours. `party`: a recipient, whose phone begins with `+`. `text`: anything. */
export type CellKind = 'number' | 'party' | 'text';

const BREAKS = /[\t\n\r\u0085\u2028\u2029]+/gu;
/** Control characters, lone surrogates, and what XML cannot hold. */
const UNSHOWN = /[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u;
const PHONE = /^\+[0-9]{1,20}$/;
/**
 * What a formula begins with, also in its full-width form, at the beginning or behind a `;`: a program that takes `;` for the
 * separator, as in Spanish, sees a cell begin there.
 */
const FORMULA_START = /(^|;)([\s"']*)(?=[=+\-@＝＋－＠|%])/gu;

/** The text without control characters; line breaks and tabs are spaces, and what else cannot be seen is escaped. */
export function shownText(text: string): string {
  const shown = UNSHOWN.test(text) ? text.replace(BREAKS, ' ').replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '') : text;
  return withEscapes(shown);
}

/** Lines of a CSV, each cell quoted where it must be; a column that has no kind is text. */
export function csvLines(
  rows: readonly (readonly (string | null)[])[],
  kinds: readonly CellKind[] = [],
  newline = '\r\n',
): string {
  const safe = rows.map((row) => row.map((text, at) => (text === null ? null : csvText(text, kinds[at] ?? 'text'))));
  return stringify(safe, { record_delimiter: newline, quoted_match: QUOTED });
}

/** Quoted beside what must be: a `;` or an apostrophe, which some programs take for more than text, and outer spaces. */
const QUOTED = /[;']|^\s|\s$/;

function csvText(text: string, kind: CellKind): string {
  if (kind === 'number') return text;
  const shown = shownText(text);
  return kind === 'party' && PHONE.test(shown) ? shown : shown.replace(FORMULA_START, "$1'$2");
}

/** The longest text that a cell of a spreadsheet holds. */
const MAX_TEXT = 32_767;

/** The cell's text in an XLSX, where `_x0041_` would be read as an A. */
export function xlsxText(text: string): string {
  return shownText(text)
    .slice(0, MAX_TEXT)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');
}
