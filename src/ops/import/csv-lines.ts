import { createReadStream } from 'node:fs';
import { CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import { type Dialect, dialectOf } from '../../spreadsheets/csv/dialect.js';
import { feed, withPlainBreaks } from '../../spreadsheets/csv/feed-parser.js';
import { SheetProblem } from '../../spreadsheets/sheet.js';
import { OpsError } from '../failures.js';

export interface CsvLine {
  /** The line number in an editor: the header is 1. */
  readonly number: number;
  readonly values: Readonly<Record<string, string>>;
  /**
   * Why the values may be in the wrong columns, for a line that is shorter or longer than the
   * header; otherwise null.
   */
  readonly fault: string | null;
}

export interface CsvColumns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const record = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });
/** A longer line is a mistake: a quotation mark was left open. */
const MAX_LINE_BYTES = 65_536;
const READ_BYTES = 256 * 1024;

/**
 * Reads CSV in UTF-8 with `,` or `;`, with or without BOM. Throws OpsError for any other file, or a
 * wrong header.
 */
export async function* readCsv(path: string, columns: CsvColumns): AsyncGenerator<CsvLine> {
  const text = withPlainBreaks(decoded(path));
  const first = await text.next();
  const head = first.done === true ? '' : first.value;
  const { delimiter, skipped } = dialect(path, head);
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_LINE_BYTES,
  });
  const feeding = feed(parser, head.slice(skipped), text);
  try {
    let header: readonly string[] | undefined;
    for await (const parsed of parser) {
      const { record: values, info } = record.parse(parsed);
      const filled = withoutBlankEnd(values.map((value) => value.trim()));
      if (header === undefined) header = checkedHeader(path, filled, columns);
      else
        yield line(header, values, filled, info.lines - breaksIn(values) + (skipped > 0 ? 1 : 0));
    }
    if (header === undefined) throw new OpsError(`${path} is empty`);
    await feeding;
  } catch (failure) {
    throw failure instanceof CsvError ? notCsv(path, failure) : failure;
  } finally {
    parser.destroy();
    await feeding.catch(() => undefined);
  }
}

/**
 * Returns the file's text. Invalid UTF-8 ends it, because a corrupted name would be stored forever.
 */
async function* decoded(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  try {
    for await (const piece of createReadStream(path, { highWaterMark: READ_BYTES })) {
      const chunk: Buffer = piece as Buffer;
      yield decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
    }
    yield decoder.decode();
  } catch (failure) {
    if (failure instanceof TypeError)
      throw new OpsError(`${path} is not UTF-8 (after byte ${bytes}): save it as "CSV UTF-8"`);
    throw new OpsError(
      `${path} cannot be read: ${failure instanceof Error ? failure.message : String(failure)}`,
    );
  }
}

function dialect(path: string, head: string): Dialect {
  try {
    return dialectOf(head);
  } catch (failure) {
    throw failure instanceof SheetProblem
      ? new OpsError(`${path} cannot be read: ${failure.message}`)
      : failure;
  }
}

function withoutBlankEnd(values: readonly string[]): readonly string[] {
  return values.slice(0, values.findLastIndex((value) => value !== '') + 1);
}

function checkedHeader(
  path: string,
  names: readonly string[],
  { required, optional }: CsvColumns,
): readonly string[] {
  const given = names.map((name) => name.toLowerCase());
  const known = [...required, ...optional];
  const wrong = [
    ...required.filter((name) => !given.includes(name)).map((name) => `${name} is missing`),
    ...given
      .filter((name) => !known.includes(name))
      .map((name) => `${name === '' ? 'an empty name' : name} is not a column`),
    ...given
      .filter((name, index) => known.includes(name) && given.indexOf(name) < index)
      .map((name) => `${name} appears twice`),
  ];
  if (wrong.length === 0) return given;
  throw new OpsError(
    `the header of ${path} is wrong: ${wrong.join('; ')} (columns: ${known.join(', ')})`,
  );
}

/** `filled` is the line without the blank values at its end. */
function line(
  header: readonly string[],
  { length }: readonly string[],
  filled: readonly string[],
  number: number,
): CsvLine {
  const values = Object.fromEntries(header.map((name, index) => [name, filled[index] ?? '']));
  const extra = filled[header.length];
  if (length < header.length)
    return { number, values, fault: 'the line has fewer values than the header' };
  if (extra === undefined) return { number, values, fault: null };
  // The first value beyond the header may be blank.
  const shown = JSON.stringify(extra || filled.at(-1));
  const fault = `the line has ${shown} beyond the last column: put text that contains the separator in quotation marks`;
  return { number, values, fault };
}

/**
 * Returns the number of line breaks in quoted values, because the parser reports the line on which
 * a record ends.
 */
function breaksIn(values: readonly string[]): number {
  return values.reduce((sum, value) => sum + (value.split('\n').length - 1), 0);
}

function notCsv(path: string, failure: CsvError): OpsError {
  const at = typeof failure.lines === 'number' ? `, line ${failure.lines}` : '';
  const why =
    failure.code === 'CSV_MAX_RECORD_SIZE'
      ? 'a line is too long: a quotation mark is open'
      : 'a quotation mark is wrong';
  return new OpsError(`${path} is not valid CSV${at}: ${why}`);
}
