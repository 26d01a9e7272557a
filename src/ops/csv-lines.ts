import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { dialectOf } from '../spreadsheets/csv/csv-rows.js';
import { OpsError } from './failures.js';

export interface CsvLine {
  /** The line number in an editor: the header is 1. */
  readonly number: number;
  readonly values: Readonly<Record<string, string>>;
  /** Why values may be in the wrong columns, if the line is shorter or longer than the header. */
  readonly fault: string | null;
}

interface CsvColumns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

const parsed = z.array(
  z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) }),
);
/** The whole file is in memory, with several times its size. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Longer lines are refused, because a quotation mark was probably left open. */
const MAX_LINE_BYTES = 65_536;

/** Reads a CSV file in UTF-8, of at most 64 MiB. Throws OpsError for any other file, or a wrong header. */
export function readCsv(path: string, columns: CsvColumns): readonly CsvLine[] {
  try {
    if (statSync(path).size > MAX_FILE_BYTES)
      throw new OpsError(`${path} is larger than 64 MiB: split it`);
    const text = decode(path, readFileSync(path));
    const { delimiter, skipped } = dialectOf(text);
    const records = parsed.parse(
      parse(text.slice(skipped), {
        delimiter,
        record_delimiter: '\n',
        info: true,
        relax_column_count: true,
        skip_empty_lines: true,
        max_record_size: MAX_LINE_BYTES,
      }),
    );
    const [header, ...lines] = records.map(({ record, info }) => {
      const values = record.map((value) => value.trim());
      const filled = values.slice(0, values.findLastIndex((value) => value !== '') + 1);
      // The parser reports the line on which a record ends.
      const breaks = record.join('').split('\n').length - 1;
      return { length: record.length, filled, number: info.lines - breaks + (skipped > 0 ? 1 : 0) };
    });
    if (header === undefined) throw new OpsError(`${path} is empty`);
    const names = checkedHeader(path, header.filled, columns);
    return lines.map(({ length, filled, number }) => ({
      number,
      values: Object.fromEntries(names.map((name, index) => [name, filled[index] ?? ''])),
      fault: faultOf(names.length, length, filled),
    }));
  } catch (failure) {
    if (failure instanceof OpsError || !(failure instanceof Error)) throw failure;
    if (failure instanceof CsvError) throw notCsv(path, failure);
    throw new OpsError(`${path} cannot be read: ${failure.message}`);
  }
}

function decode(path: string, bytes: Buffer): string {
  // A corrupted name would be stored forever.
  if (!isUtf8(bytes)) {
    const [valid = ''] = bytes.toString().split('\uFFFD', 1);
    const at = Buffer.byteLength(valid);
    throw new OpsError(`${path} is not UTF-8 (after byte ${at}): save it as "CSV UTF-8"`);
  }
  return new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n');
}

function checkedHeader(path: string, names: readonly string[], { required, optional }: CsvColumns) {
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
function faultOf(columns: number, length: number, filled: readonly string[]): string | null {
  if (length < columns) return 'the line has fewer values than the header';
  const extra = filled[columns];
  if (extra === undefined) return null;
  // The first value beyond the header may be blank.
  const excess = JSON.stringify(extra || filled.at(-1));
  return `the line has ${excess} beyond the last column: put text that contains the separator in quotation marks`;
}

function notCsv(path: string, failure: CsvError): OpsError {
  const at = typeof failure.lines === 'number' ? `, line ${failure.lines}` : '';
  const why =
    failure.code === 'CSV_MAX_RECORD_SIZE'
      ? 'a line is too long: a quotation mark is open'
      : 'a quotation mark is wrong';
  return new OpsError(`${path} is not valid CSV${at}: ${why}`);
}
