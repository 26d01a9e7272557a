import { TextDecoder } from 'node:util';
import { CsvError, parse, type Parser } from 'csv-parse';
import {
  type ByteSource,
  type Cell,
  EventLoopYielder,
  LAST_COLUMN,
  LAST_ROW,
  MAX_CELL_LENGTH,
  piecesOf,
  SheetProblem,
  type SheetRow,
  tooManyColumns,
  tooManyRows,
  trimmedRow,
  unreadable,
} from '../sheet.js';

/** Longer rows are refused, because a quotation mark was probably left open. */
const MAX_ROW = 128 * 1024;
const PIECE_BYTES = 16 * 1024;

/** Yields the rows of a UTF-8 file separated by `,` or `;`. Throws `SheetProblem`. */
export async function* csvRows(source: ByteSource): AsyncGenerator<SheetRow> {
  const yielder = new EventLoopYielder();
  const text = normaliseLineBreaks(decodeAll(source));
  const head = await firstLines(text);
  const { delimiter, skipped } = dialectOf(head);
  const numbered = new NumberedRows();
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    max_record_size: MAX_ROW,
    on_record: (record) => numbered.keep(record),
  });
  const feeding = feed(parser, head.slice(skipped), text);
  try {
    for await (const _ of parser) {
      yield numbered.next();
      await yielder.yieldIfDue();
    }
    await feeding;
  } catch (failure) {
    // When the parser fails, it drops records that were not yet taken.
    yield* numbered.rest();
    throw failure instanceof CsvError ? notCsv(failure) : failure;
  } finally {
    parser.destroy();
    await feeding;
  }
}

/** Numbers records, and drops empty ones before they use memory. */
class NumberedRows {
  private number = 0;
  private readonly rows: SheetRow[] = [];

  /** Keeps the record unless it is empty, until `next` returns its row. */
  keep(record: string[]): string[] | null {
    this.number += 1;
    if (this.number > LAST_ROW) throw tooManyRows();
    const row = trimmedRow(this.number, record.map(cellOf));
    if (row.cells.length === 0) return null;
    this.rows.push(row);
    return record;
  }

  next(): SheetRow {
    const row = this.rows.shift();
    if (row === undefined) throw new Error('a record without a row');
    return row;
  }

  rest(): readonly SheetRow[] {
    return this.rows.splice(0);
  }
}

async function* decodeAll(source: ByteSource): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (const piece of piecesOf(source, 0, endOfText(source), PIECE_BYTES))
    yield decodePiece(decoder, piece);
  yield decodePiece(decoder, null);
}

const CTRL_Z = 0x1a;
/** Old programs fill the last block of a text with 0x1A. */
const BLOCK_BYTES = 128;

/** Returns the length of the text without the 0x1A at its end, with which old programs end a text. */
function endOfText(source: ByteSource): number {
  const from = Math.max(0, source.size - BLOCK_BYTES);
  const tail = source.read(from, source.size - from);
  const text = tail.toString('latin1').trimEnd();
  let length = text.length;
  while (length > 0 && tail[length - 1] === CTRL_Z) length -= 1;
  return length === text.length ? source.size : from + length;
}

/** Decodes a piece; null ends the text. Refuses NUL, which only UTF-16 and binary files contain. */
function decodePiece(decoder: TextDecoder, piece: Buffer | null): string {
  let text: string;
  try {
    text = piece === null ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch {
    throw notUtf8();
  }
  if (text.includes('\0')) throw notUtf8();
  return text;
}

async function firstLines(text: AsyncGenerator<string>): Promise<string> {
  let head = '';
  while (headerOf(head).end === head.length && head.length < MAX_ROW) {
    const next = await text.next();
    if (next.done === true) break;
    head += next.value;
  }
  return head;
}

function notUtf8(): SheetProblem {
  return new SheetProblem('bad_encoding', 'the file is not UTF-8: save it as "CSV UTF-8"');
}

/** Text that begins with `=` is a formula for spreadsheet programs, even `="0012"`. */
function cellOf(text: string): Cell {
  if (text === '') return null;
  const kind = /^\s*=/.test(text) ? 'formula' : 'text';
  const cell = { kind, text: text.slice(0, MAX_CELL_LENGTH) } as const;
  return text.includes('\n') ? { ...cell, hasLineBreak: true } : cell;
}

/** Uses the parser's row number, because the reader has taken fewer rows. */
function notCsv({ code, records }: CsvError): SheetProblem {
  const row = typeof records === 'number' ? records + 1 : '?';
  return code === 'CSV_MAX_RECORD_SIZE'
    ? unreadable(`row ${row} does not end: a quotation mark is open, or it is far too long`)
    : unreadable(`a quotation mark in row ${row} is wrong: write it twice inside a quoted cell`);
}

/** Writes the text as fast as the parser accepts it. Failures are thrown by the parser's rows. */
async function feed(parser: Parser, head: string, rest: AsyncGenerator<string>): Promise<void> {
  const yielder = new EventLoopYielder();
  try {
    await writePiece(parser, head);
    for await (const piece of rest) {
      if (parser.destroyed) return;
      await writePiece(parser, piece);
      await yielder.yieldIfDue();
    }
    parser.end();
  } catch (failure) {
    parser.destroy(failure instanceof Error ? failure : new Error(String(failure)));
  }
}

/** Resolves when the rows were taken, because buffered rows are lost if the parser fails. */
function writePiece(parser: Parser, piece: string): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      parser.off('close', finish);
      resolve();
    };
    parser.on('close', finish);
    parser.write(piece, finish);
  });
}

/** Converts each line break to one LF. */
async function* normaliseLineBreaks(text: AsyncGenerator<string>): AsyncGenerator<string> {
  let held = '';
  for await (const piece of text) {
    const whole = held + piece;
    // A CR at the end may be half of a line break.
    held = whole.endsWith('\r') ? '\r' : '';
    yield whole.slice(0, whole.length - held.length).replace(/\r\n?/g, '\n');
  }
  if (held !== '') yield '\n';
}

interface Dialect {
  readonly delimiter: string;
  /** Length of a first line `sep=;`, which specifies the separator for Excel. */
  readonly skipped: number;
}

const SEP_LINE = /^"?sep=([^"\n]?)"?[\t ,;|]*(?:\n|$)/i;

/** Separators that are recognised, of which only commas and semicolons are accepted. */
const SEPARATORS = new Map([
  [',', 'commas'],
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars (|)'],
]);

/** Start and end of the first non-empty line after a `sep=` line. */
function headerOf(head: string): { readonly start: number; readonly end: number } {
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
