import { LAST_COLUMN, tooManyColumns, unreadable } from '../sheet.js';

export interface Dialect {
  readonly delimiter: string;
  /** Length of a first line `sep=;`, which specifies the separator for Excel. */
  readonly skipped: number;
}

const SEP_LINE = /^"?sep=([^"\n]?)"?[\t ,;|]*(?:\n|$)/i;

/** Only the first two are accepted. */
const SEPARATORS = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars (|)'],
]);

/** Start and end of the first non-empty line after a `sep=` line. */
export function headerOf(head: string): { readonly start: number; readonly end: number } {
  const skipped = SEP_LINE.exec(head)?.[0].length ?? 0;
  const found = head.slice(skipped).search(/\S/);
  const start = found < 0 ? head.length : skipped + found;
  const end = head.indexOf('\n', start);
  return { start, end: end < 0 ? head.length : end };
}

/**
 * Detects the separator from a `sep=` line, or else as the most frequent one in the header outside
 * quotation marks. Throws `SheetProblem`.
 */
export function dialectOf(head: string): Dialect {
  const [line = '', named = ''] = SEP_LINE.exec(head) ?? [];
  const { start, end } = headerOf(head);
  const bare = head.slice(start, end).replace(/"[^"]*"?/g, '');
  const counts = Array.from(SEPARATORS.keys(), (separator) => bare.split(separator).length);
  const most = Math.max(...counts);
  if (most > LAST_COLUMN) throw tooManyColumns('the header');
  const delimiter = named || ([...SEPARATORS.keys()][counts.indexOf(most)] ?? ',');
  if (delimiter === ',' || delimiter === ';') return { delimiter, skipped: line.length };
  const name = SEPARATORS.get(delimiter) ?? JSON.stringify(delimiter);
  throw unreadable(
    `the columns are separated by ${name}: save the file as CSV with commas or semicolons`,
  );
}
