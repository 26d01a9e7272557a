import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileKind } from '../open-sheet.js';
import { Turns } from '../turns.js';
import { zipStream } from '../zip/zip-stream.js';
import { csvCell } from './cells.js';
import type { Column, TableRow } from './columns.js';
import { headerXml, rowXml, SHEET_END, sheetStart, workbookParts } from './xlsx-parts.js';

/** Asked for each row: between the rows and the receiver a packer may hold much before it gives any. */
interface WantedRows {
  readonly rows: AsyncIterable<TableRow>;
  readonly isWanted: () => boolean;
}

const PIECE_LENGTH = 32 * 1024;
/** Without it some programs take UTF-8 for the encoding of the country. */
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Writes the rows as they come, as fast as `out` takes them, and ends it. Rejects with what the rows throw or what ends `out`
 * early; `out` is destroyed then.
 */
export async function writeTable(
  columns: readonly Column[],
  rows: AsyncIterable<TableRow>,
  format: FileKind,
  out: Writable,
): Promise<void> {
  const wanted = { rows, isWanted: () => !out.destroyed };
  const pieces = format === 'csv' ? csvPieces(columns, wanted) : xlsxPieces(columns, wanted);
  await pipeline(Readable.from(pieces, { objectMode: false, highWaterMark: PIECE_LENGTH }), out);
}

export function csvLine(columns: readonly Column[], row: TableRow): string {
  let line = '';
  for (let index = 0; index < columns.length; index += 1) {
    const text = row[index];
    if (index > 0) line += ',';
    if (text !== null && text !== undefined) line += csvCell(text, columns[index]?.kind ?? 'text');
  }
  return `${line}\r\n`;
}

function csvPieces(columns: readonly Column[], rows: WantedRows): AsyncGenerator<Buffer> {
  return gathered(csvHead(columns), rows, (row) => csvLine(columns, row), '');
}

/** The first line, as every CSV of ours begins. */
export function csvHead(columns: readonly Column[]): string {
  return `${BYTE_ORDER_MARK}${columns.map(({ name }) => name).join(',')}\r\n`;
}

function xlsxPieces(columns: readonly Column[], rows: WantedRows): AsyncGenerator<Buffer> {
  let number = 1;
  const line = (row: TableRow): string => {
    number += 1;
    return rowXml(columns, row, number);
  };
  const head = `${sheetStart(columns)}${headerXml(columns)}`;
  return zipStream([
    ...workbookParts('Result'),
    { name: 'xl/worksheets/sheet1.xml', content: gathered(head, rows, line, SHEET_END) },
  ]);
}

/** The lines in pieces that are worth sending. */
async function* gathered(
  head: string,
  { rows, isWanted }: WantedRows,
  line: (row: TableRow) => string,
  end: string,
): AsyncGenerator<Buffer> {
  const turns = new Turns();
  let text = head;
  for await (const row of rows) {
    if (!isWanted()) return;
    text += line(row);
    if (text.length < PIECE_LENGTH) continue;
    yield Buffer.from(text);
    text = '';
    await turns.pause();
  }
  yield Buffer.from(text + end);
}
