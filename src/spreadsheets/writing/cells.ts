import { stringify } from 'csv-stringify/sync';
import { withEscapes } from '../../core/text.js';

/**
 * Content of cells that a person opens. XLSX cells are marked as text, so a formula in them is not
 * computed. The type of a CSV cell depends on the program that opens it, so text that could be a
 * formula gets an apostrophe in front. Other visible text is unchanged. Programs that read the CSV
 * must remove the apostrophe, or use the XLSX.
 */

/**
 * `number` is digits written by the service, `party` is a recipient, whose phone begins with `+`,
 * and `text` is any other text.
 */
export type CellKind = 'number' | 'party' | 'text';

const BREAKS = /[\t\n\r\u0085\u2028\u2029]+/gu;
/** Control characters, lone surrogates, and characters that XML cannot contain. */
const UNSHOWN = /[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]/u;
const PHONE = /^\+[0-9]{1,20}$/;
/**
 * Characters that begin a formula, including full-width forms, at the start or after a `;`. A `;`
 * begins a cell where it is the separator, as in Spanish.
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

/** Returns lines of a CSV, with cells quoted if necessary. A column without a kind is text. */
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

/**
 * Cells with these are quoted too: a `;` or an apostrophe, which some programs treat specially, and
 * surrounding spaces.
 */
const QUOTED = /[;']|^\s|\s$/;

function csvText(text: string, kind: CellKind): string {
  if (kind === 'number') return text;
  const shown = shownText(text);
  return kind === 'party' && PHONE.test(shown) ? shown : shown.replace(FORMULA_START, "$1'$2");
}

/** Maximum length of a text in a cell. */
const MAX_TEXT = 32_767;

/**
 * Returns the text of a cell in an XLSX. Escapes texts like `_x0041_`, which would be read as an A.
 */
export function xlsxText(text: string): string {
  return shownText(text)
    .slice(0, MAX_TEXT)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');
}
