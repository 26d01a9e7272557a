import {
  type ByteSource,
  MAX_DATA_ROWS,
  type ReadingLimits,
  type SheetProblem,
  type SheetRow,
  tooManyRows,
  unreadable,
  WHOLE_FILE,
} from './sheet.js';
import { csvRows } from './csv/csv-rows.js';
import { xlsxRows } from './xlsx/xlsx-rows.js';
import { Archive } from './zip/archive.js';

export type FileKind = 'xlsx' | 'csv';

const HEAD_BYTES = 4_096;

/** First bytes of other files that are uploaded by mistake. */
const OTHER_KINDS: readonly (readonly [name: string, start: readonly number[]])[] = [
  ['a PDF', [0x25, 0x50, 0x44, 0x46]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a gzip archive', [0x1f, 0x8b]],
  ['a 7z archive', [0x37, 0x7a, 0xbc, 0xaf]],
  ['a RAR archive', [0x52, 0x61, 0x72, 0x21]],
  ['a program', [0x7f, 0x45, 0x4c, 0x46]],
  ['an RTF document', [0x7b, 0x5c, 0x72, 0x74, 0x66]],
  ['an old Excel workbook (.xls)', [0x09, 0x00, 0x04, 0x00]],
  ['an old Excel workbook (.xls)', [0x09, 0x02, 0x06, 0x00]],
  ['an old Excel workbook (.xls)', [0x09, 0x04, 0x06, 0x00]],
  ['an old Excel workbook (.xls)', [0x09, 0x08]],
];
/** First bytes of the container of .xls files since Excel 5, and of workbooks with a password. */
const OLE = [0xd0, 0xcf, 0x11, 0xe0];

const MARKUP = /^\s*<[!?a-z]/i;
const XML = /^\s*<(?:\?xml|Workbook)\b/i;

/**
 * Returns the kind of a file by its content, reading only the directory of a zip. Throws
 * `SheetProblem` `unreadable_file`. (docs/contract.md, Upload)
 */
export async function recogniseFile(source: ByteSource): Promise<FileKind> {
  const head = source.read(0, Math.min(HEAD_BYTES, source.size));
  if (head.length === 0) throw unreadable('the file is empty');
  if (beginsWith(head, [0x50, 0x4b, 0x03, 0x04]) || beginsWith(head, [0x50, 0x4b, 0x05, 0x06])) {
    const archive = await Archive.open(source);
    if (archive.has('content.xml')) throw otherKind('an OpenDocument file (.ods)');
    if (archive.has('xl/workbook.bin')) throw otherKind('a binary workbook (.xlsb)');
    if (archive.has('[Content_Types].xml') && archive.has('_rels/.rels')) return 'xlsx';
    throw otherKind('a zip archive without a workbook');
  }
  const other =
    OTHER_KINDS.find(([, start]) => beginsWith(head, start))?.[0] ??
    oleKind(head, source) ??
    markupKind(head);
  if (other !== null) throw otherKind(other);
  if (isBinary(head)) throw unreadable('the file is neither XLSX nor CSV');
  return 'csv';
}

function otherKind(name: string): SheetProblem {
  return unreadable(
    `the file is ${name}: open it in a spreadsheet program and save it as XLSX or CSV UTF-8`,
  );
}

function oleKind(head: Buffer, source: ByteSource): string | null {
  if (!beginsWith(head, OLE)) return null;
  const isEncrypted = source
    .read(0, source.size)
    .includes(Buffer.from('EncryptedPackage', 'utf16le'));
  return isEncrypted ? 'protected by a password' : 'an old Excel workbook (.xls)';
}

/** Recognises web pages that reporting programs name .xls. In UTF-16, every second byte is NUL. */
function markupKind(head: Buffer): string | null {
  const text = head
    .toString('latin1')
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .replaceAll('\0', '');
  if (/^MIME-Version:/i.test(text)) return 'a web archive (MHTML)';
  if (!MARKUP.test(text)) return null;
  return XML.test(text) && !/<html\b/i.test(text) ? 'an XML document' : 'an HTML page';
}

/**
 * Yields the rows of an XLSX (first sheet) or CSV without empty rows. Reads on only as rows are
 * taken. Throws `SheetProblem`, with `too_many_rows` for the first row too many.
 */
export async function* openSheet(
  source: ByteSource,
  limits: ReadingLimits = WHOLE_FILE,
): AsyncGenerator<SheetRow> {
  const kind = await recogniseFile(source);
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

/** Text has few control characters. In UTF-16 and UTF-32, at most three of four bytes are NUL. */
function isBinary(head: Buffer): boolean {
  let [control, nul] = [0, 0];
  for (const byte of head) {
    if (byte === 0) nul += 1;
    else if (byte < 9 || (byte > 13 && byte < 32 && byte !== 26 && byte !== 27)) control += 1;
  }
  return control * 20 > head.length || nul * 4 > head.length * 3;
}
