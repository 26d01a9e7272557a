import { withEscapes } from '../../../core/text.js';

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

/** The cell as it stands in a CSV, quoted where it must be. */
export function csvCell(text: string, kind: CellKind): string {
  if (kind === 'number') return text;
  const shown = shownText(text);
  const isPhone = kind === 'party' && PHONE.test(shown);
  const safe = isPhone ? shown : shown.replace(FORMULA_START, "$1'$2");
  return /[",;']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The longest text that a cell of a spreadsheet holds. */
const LONGEST_TEXT = 32_767;

/** The cell's text as it stands in a sheet's XML. */
export function xmlText(text: string): string {
  const shown = shownText(text).slice(0, LONGEST_TEXT);
  if (!/[&<>_]/.test(shown)) return shown;
  return shown
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_');
}
