import { LAST_COLUMN, tooManyColumns, unreadable } from '../sheet.js';

/** How a CSV file separates its cells, as detected from its first lines. */
export interface Dialect {
  readonly delimiter: string;
  /** The length of a first line `sep=;`, which tells Excel the separator and is not a row; 0 without such a line. */
  readonly skipped: number;
}

const SEP_LINE = /^"?sep=([^"\n]?)"?[\t ,;|]*(?:\n|$)/i;

/** Separators that files use, with their names. Only the first two are accepted. */
const SEPARATORS = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars (|)'],
]);

/**
 * Returns where the first non-empty line after a `sep=` line begins and ends; without a line break,
 * it ends with the text.
 */
export function headerOf(head: string): { readonly start: number; readonly end: number } {
  const skipped = SEP_LINE.exec(head)?.[0].length ?? 0;
  const found = head.slice(skipped).search(/\S/);
  const start = found < 0 ? head.length : skipped + found;
  const end = head.indexOf('\n', start);
  return { start, end: end < 0 ? head.length : end };
}

/**
 * Detects the separator: the one that a `sep=` line names, otherwise the most frequent one in the
 * header outside quotation marks. Throws SheetProblem unreadable_file unless it is `,` or `;`, and
 * too_many_columns for more columns than any program has.
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
