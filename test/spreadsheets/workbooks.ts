import { crc32, deflateRawSync } from 'node:zlib';
import { bytesOf, type Cell, SheetProblem, type SheetRow } from '../../src/spreadsheets/sheet.js';
import { openSheet } from '../../src/spreadsheets/open-sheet.js';

/** Workbooks made by hand, down to the bytes of their zip. */

export interface ZipPart {
  readonly name: string;
  readonly data: string | Buffer;
  readonly stored?: boolean;
  /** The packed data as they are, for what no packer makes. */
  readonly packed?: Buffer;
  /** The entry's position according to the directory. */
  readonly says?: {
    readonly size?: number;
    readonly crc?: number;
    readonly flags?: number;
    readonly method?: number;
    readonly offset?: number;
  };
  /** The name in the local header, where it is another. */
  readonly localName?: string;
  /** The name in an extra field of the directory (Info-ZIP's Unicode path), where it is another. */
  readonly unicodePath?: string;
  /** Sizes behind the data, as programs write that cannot go back. */
  readonly descriptor?: boolean;
}

export function zipOf(parts: readonly ZipPart[], comment = ''): Buffer {
  const locals: Buffer[] = [];
  const records: Buffer[] = [];
  let offset = 0;
  for (const part of parts) {
    const { local, record } = zipEntry(part, offset);
    locals.push(local);
    records.push(record);
    offset += local.length;
  }
  const directory = Buffer.concat(records);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(records.length, 8);
  end.writeUInt16LE(records.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}

function zipEntry(part: ZipPart, offset: number): { local: Buffer; record: Buffer } {
  const data = Buffer.from(part.data);
  const { says = {}, stored = false, descriptor = false } = part;
  const packed = part.packed ?? (stored ? data : deflateRawSync(data, { level: 9 }));
  const crc = says.crc ?? crc32(data);
  const size = says.size ?? data.length;
  const flags = (says.flags ?? 0) | (descriptor ? 8 : 0);
  const method = says.method ?? (stored ? 0 : 8);
  const name = Buffer.from(part.name);
  const localName = Buffer.from(part.localName ?? part.name);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(method, 8);
  if (!descriptor) {
    head.writeUInt32LE(crc, 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(size, 22);
  }
  head.writeUInt16LE(localName.length, 26);
  const tail = Buffer.alloc(descriptor ? 16 : 0);
  if (descriptor) {
    tail.writeUInt32LE(0x08074b50, 0);
    tail.writeUInt32LE(crc, 4);
    tail.writeUInt32LE(packed.length, 8);
    tail.writeUInt32LE(size, 12);
  }
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x02014b50, 0);
  record.writeUInt16LE(20, 4);
  record.writeUInt16LE(20, 6);
  record.writeUInt16LE(flags, 8);
  record.writeUInt16LE(method, 10);
  record.writeUInt32LE(crc, 16);
  record.writeUInt32LE(packed.length, 20);
  record.writeUInt32LE(size, 24);
  record.writeUInt16LE(name.length, 28);
  const extra =
    part.unicodePath === undefined ? Buffer.alloc(0) : unicodePathField(name, part.unicodePath);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(says.offset ?? offset, 42);
  return {
    local: Buffer.concat([head, localName, packed, tail]),
    record: Buffer.concat([record, name, extra]),
  };
}

function unicodePathField(name: Buffer, path: string): Buffer {
  const text = Buffer.from(path);
  const head = Buffer.alloc(9);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(5 + text.length, 2);
  head.writeUInt8(1, 4);
  head.writeUInt32LE(crc32(name), 5);
  return Buffer.concat([head, text]);
}

export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const STRICT = 'http://purl.oclc.org/ooxml/spreadsheetml/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

export function xml(body: string): string {
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${body}`;
}

export function sheetXml(rows: string): string {
  return xml(
    `<worksheet xmlns="${MAIN}"><dimension ref="A1"/><sheetData>${rows}</sheetData></worksheet>`,
  );
}

export function stringsXml(items: string): string {
  return xml(`<sst xmlns="${MAIN}">${items}</sst>`);
}

export function relsXml(
  ...all: readonly (readonly [id: string, type: string, target: string, more?: string])[]
): string {
  const each = all.map(
    ([id, type, target, more = '']) =>
      `<Relationship Id="${id}" Type="${type.includes(':') ? type : `${OFFICE}/${type}`}" Target="${target}" ${more}/>`,
  );
  return xml(
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join('')}</Relationships>`,
  );
}

/** The parts of a workbook with one sheet by their names; `changes` replaces some, adds some, or with null leaves some out. */
export function workbookParts(
  sheet: string | Buffer,
  changes: Readonly<Record<string, string | Buffer | null>> = {},
): ZipPart[] {
  const parts: Record<string, string | Buffer | null> = {
    '[Content_Types].xml': xml(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    ),
    '_rels/.rels': relsXml(['rId1', 'officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': xml(
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': relsXml(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'sharedStrings', 'sharedStrings.xml'],
      ['rId3', 'styles', 'styles.xml'],
    ),
    'xl/worksheets/sheet1.xml': sheet,
    'xl/sharedStrings.xml': stringsXml('<si><t>first</t></si>'),
    'xl/styles.xml': xml(
      `<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    ),
    ...changes,
  };
  return Object.entries(parts).flatMap(([name, data]) => (data === null ? [] : [{ name, data }]));
}

export function workbook(
  sheet: string | Buffer,
  changes: Readonly<Record<string, string | Buffer | null>> = {},
): Buffer {
  return zipOf(workbookParts(sheet, changes));
}

export async function rowsOf(file: Buffer | string): Promise<SheetRow[]> {
  const rows: SheetRow[] = [];
  for await (const row of openSheet(bytesOf([Buffer.from(file)]))) rows.push(row);
  return rows;
}

/** The texts of the rows alone. */
export async function textsOf(file: Buffer | string): Promise<(string | null)[][]> {
  return (await rowsOf(file)).map(({ cells }) => cells.map((cell) => cell?.text ?? null));
}

/** The only row of a sheet with these cells. */
export async function cellsOf(
  cells: string,
  changes: Readonly<Record<string, string | Buffer | null>> = {},
): Promise<readonly Cell[]> {
  const [row] = await rowsOf(workbook(sheetXml(`<row r="1">${cells}</row>`), changes));
  return row?.cells ?? [];
}

/** The code that reading the file ends with; null when it is read to its end. Anything but a SheetProblem is thrown. */
export async function problemOf(file: Buffer | string): Promise<string | null> {
  try {
    for await (const _ of openSheet(bytesOf([Buffer.from(file)])));
    return null;
  } catch (failure) {
    if (failure instanceof SheetProblem) return failure.code;
    throw failure;
  }
}
