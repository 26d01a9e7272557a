import type { ByteSource } from './byte-source.js';
import { csvRows } from './csv/csv-rows.js';
import { type EffortLimits, WHOLE_FILE } from './effort.js';
import { MAX_DATA_ROWS, type SheetRow, tooManyRows, unreadable } from './sheet.js';
import { xlsxRows } from './xlsx/xlsx-rows.js';
import { Archive } from './zip/archive.js';

export type FileKind = 'xlsx' | 'csv';

const HEAD_BYTES = 4_096;

/** The first bytes of other files that people take for spreadsheets, or upload by mistake. */
const OTHER_KINDS: readonly (readonly number[])[] = [
  [0xd0, 0xcf, 0x11, 0xe0], // .xls, and every workbook with a password
  [0x25, 0x50, 0x44, 0x46], // PDF
  [0x89, 0x50, 0x4e, 0x47], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x47, 0x49, 0x46, 0x38], // GIF
  [0x1f, 0x8b], // gzip
  [0x37, 0x7a, 0xbc, 0xaf], // 7z
  [0x52, 0x61, 0x72, 0x21], // RAR
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0x7b, 0x5c, 0x72, 0x74, 0x66], // RTF
];

/**
 * The kind of file by its content; null for neither, or an empty file. Of a zip only the directory is read: a
 * workbook's lists its parts. Throws SheetProblem unreadable_file if the directory cannot be read. An upload is refused
 * for nothing else; other problems are reported row by row. (docs/contract.md, Upload)
 */
export async function recogniseFile(source: ByteSource): Promise<FileKind | null> {
  const head = source.read(0, Math.min(HEAD_BYTES, source.size));
  if (beginsWith(head, [0x50, 0x4b, 0x03, 0x04]) || beginsWith(head, [0x50, 0x4b, 0x05, 0x06])) {
    const archive = await Archive.open(source);
    return archive.has('[Content_Types].xml') && archive.has('_rels/.rels') ? 'xlsx' : null;
  }
  const isOther = head.length === 0 || OTHER_KINDS.some((start) => beginsWith(head, start)) || isBinary(head);
  return isOther ? null : 'csv';
}

/**
 * The rows of an uploaded file, XLSX (the first sheet) or CSV, as they are read: rows without content are omitted, and
 * the file is read only as far as rows are requested. Other work of the process gets a turn about every ten
 * milliseconds.
 *
 * Throws SheetProblem (too_many_rows for the first row beyond the header and 100,000 others).
 */
export async function* openSheet(source: ByteSource, limits: EffortLimits = WHOLE_FILE): AsyncGenerator<SheetRow> {
  const kind = await recogniseFile(source);
  if (kind === null) throw unreadable('the file is neither XLSX nor CSV');
  let count = 0;
  for await (const row of kind === 'xlsx' ? xlsxRows(source, limits) : csvRows(source)) {
    count += 1;
    if (count > MAX_DATA_ROWS + 1) throw tooManyRows();
    yield row;
  }
}

function beginsWith(head: Buffer, start: readonly number[]): boolean {
  return start.every((byte, index) => head[index] === byte);
}

/** Text in any encoding has few control characters. NULs are bytes of UTF-16 and UTF-32, where they are three of four at most. */
function isBinary(head: Buffer): boolean {
  let [control, nul] = [0, 0];
  for (const byte of head) {
    if (byte === 0) nul += 1;
    else if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) control += 1;
  }
  return control * 20 > head.length || nul * 4 > head.length * 3;
}
