import { readWholePart } from './xml.js';
import type { Effort } from '../effort.js';
import { unreadable } from '../sheet.js';

/** Formats built into every program that show a date or a time, those of East Asia and Thailand included. */
const DATE_FORMATS: readonly (readonly [first: number, last: number])[] = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
  [71, 81],
];

/** More than any spreadsheet program can make. */
const MAX_STYLES = 100_000;

/** Programs accept none longer. */
const MAX_FORMAT = 1_000;

/** Which cell styles show a number as a date or a time, by index. Throws SheetProblem unreadable_file. */
export async function readDateStyles(bytes: AsyncIterable<Buffer>, effort: Effort): Promise<ReadonlySet<number>> {
  const own = new Map<string, boolean>();
  const formats: string[] = [];
  let section = '';
  let tags = 0;
  await readWholePart(bytes, effort, {
    open(name, attributes, depth) {
      if (depth === 2) section = name;
      if (depth !== 3) return;
      // Counts tags, not formats: one id may be repeated.
      tags += 1;
      if (tags > MAX_STYLES) throw unreadable('the workbook has too many cell styles');
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

/**
 * Whether a format code shows a date or a time: it has such a letter outside quotes, escapes, colours and conditions,
 * or an elapsed time (`[h]`) in brackets. Anything not closed extends to the end.
 */
export function isDateFormat(formatCode: string): boolean {
  const code = formatCode.slice(0, MAX_FORMAT);
  let at = 0;
  while (at < code.length) {
    const character = code[at] ?? '';
    if (DATE_LETTER.test(character)) return true;
    if (character === '[' && ELAPSED.test(code.slice(at + 1, endOf(code, ']', at)))) return true;
    at = nextOf(code, character, at);
  }
  return false;
}

const DATE_LETTER = /[ymdhs]/i;
const ELAPSED = /^(?:h+|m+|s+)$/i;

/** Where the significant characters continue after the one at `at`. */
function nextOf(code: string, character: string, at: number): number {
  if (character === '"' || character === '[') return endOf(code, character === '[' ? ']' : '"', at) + 1;
  // The next character is shown literally, or its width is left blank.
  return character === '\\' || character === '_' || character === '*' ? at + 2 : at + 1;
}

function endOf(code: string, closing: string, at: number): number {
  const end = code.indexOf(closing, at + 1);
  return end < 0 ? code.length : end;
}
