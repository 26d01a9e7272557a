import { readWholePart } from './xml.js';
import type { Effort } from '../effort.js';
import { unreadable } from '../sheet.js';

/** Formats that every program has built in and shows as a date or a time: the general ones and those of East Asia and Thailand. */
const DATE_FORMATS: readonly (readonly [first: number, last: number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
  [71, 81],
];

/** More than any spreadsheet program can make. */
const MOST_STYLES = 100_000;

/** Programs take no longer ones; and the patterns below are slow on endless ones. */
const LONGEST_FORMAT = 1_000;

/** Which cell styles show a number as a date or a time, by the style's index. Throws SheetProblem unreadable_file. */
export async function readDateStyles(bytes: AsyncIterable<Buffer>, effort: Effort): Promise<ReadonlySet<number>> {
  const own = new Map<string, boolean>();
  const formats: string[] = [];
  let section = '';
  await readWholePart(bytes, effort, {
    open(name, attributes, depth) {
      if (depth === 2) section = name;
      if (depth !== 3) return;
      if (own.size + formats.length > MOST_STYLES) throw unreadable('the workbook has too many cell styles');
      if (section === 'numFmts' && name === 'numFmt')
        own.set(attributes['numFmtId'] ?? '', isDateFormat(attributes['formatCode'] ?? ''));
      if (section === 'cellXfs' && name === 'xf') formats.push(attributes['numFmtId'] ?? '0');
    },
  });
  return new Set(formats.flatMap((format, index) => ((own.get(format) ?? isBuiltInDate(format)) ? [index] : [])));
}

function isBuiltInDate(format: string): boolean {
  const id = /^\d{1,3}$/.test(format) ? Number.parseInt(format, 10) : 0;
  return DATE_FORMATS.some(([first, last]) => id >= first && id <= last);
}

/** Whether a format code shows a date or a time: a letter of one stands outside quotes, escapes, colours and conditions. */
export function isDateFormat(formatCode: string): boolean {
  const code = formatCode.slice(0, LONGEST_FORMAT);
  const elapsed = /\[(?:h+|m+|s+)\]/i.test(code);
  const plain = code.replace(/"[^"]*"|\\.|[_*].|\[[^\]]*\]/g, '');
  return elapsed || /[ymdhs]/i.test(plain.replace(/general/gi, ''));
}
