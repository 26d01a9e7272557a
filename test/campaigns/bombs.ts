import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BombScale, filled, FULL, MIB, readBomb } from '../spreadsheets/bomb-reading.js';
import {
  MAIN,
  relsXml,
  sheetXml,
  stringsXml,
  workbookParts,
  type ZipPart,
  zipOf,
} from '../spreadsheets/workbooks.js';

/** A file that is larger than it looks, and how reading it ends; null: it is read to its end. */
interface Bomb {
  readonly title: string;
  readonly code: string | null;
  readonly make: (scale: BombScale) => Buffer;
}

export const SHEET = 'xl/worksheets/sheet1.xml';
export const [SHEET_HEAD = '', SHEET_TAIL = ''] = sheetXml('|').split('|');
const [STRINGS_HEAD = '', STRINGS_TAIL = ''] = stringsXml('|').split('|');
/** Beyond the 200 MiB that a file may have. */
const BEYOND = 300 * MIB;

/** A workbook with this part in place of its own. */
export function withPart(own: ZipPart): Buffer {
  return zipOf([...workbookParts(sheetXml('')).filter(({ name }) => name !== own.name), own]);
}

const SHEETS = [
  ['blanks', ' ', '', 'unreadable_file'],
  ['blanks between tags', `<a/>${' '.repeat(60_000)}`, '', 'too_large_inflated'],
  ['empty cells', '<c/>', '<row>', 'too_many_columns'],
  ['rows without cells', '<row/>', '', 'too_many_rows'],
  ['rows of empty cells', `<row>${'<c s="1"/>'.repeat(50)}</row>`, '', 'too_large_inflated'],
  ['foreign tags', '<a/>', '', 'too_large_inflated'],
  [
    'attributes',
    `<a ${Array.from({ length: 90 }, (_, at) => `b${at}=""`).join(' ')}/>`,
    '',
    'too_large_inflated',
  ],
  ['comments', '<!---->', '', 'too_large_inflated'],
  ['instructions', '<?a?>', '', 'too_large_inflated'],
  ['nesting', '<a>', '', 'unreadable_file'],
  ['references', `<a>${'&amp;'.repeat(10_000)}</a>`, '', 'too_large_inflated'],
  ['one text', 'a', '<row><c t="inlineStr"><is><t>', 'unreadable_file'],
  ['one comment', 'a', '<!--', 'unreadable_file'],
  ['one attribute', 'a', '<row a="', 'unreadable_file'],
  ['one tag', ' ', '<row ', 'unreadable_file'],
  [
    'long texts',
    `<row><c t="inlineStr"><is><t>${'a'.repeat(30_000)}</t></is></c></row>`,
    '',
    'too_large_inflated',
  ],
] as const;

const TEXTS = [
  ['short texts', '<si><t>ab</t></si>'],
  ['no texts', '<si/>'],
  ['texts of two thousand letters', `<si><t>${'añ'.repeat(1_000)}</t></si>`],
] as const;

const PARTS = [
  ['xl/styles.xml', `<styleSheet xmlns="${MAIN}"><cellXfs>`, '<xf/>', '</cellXfs></styleSheet>'],
  [
    'xl/workbook.xml',
    `<workbook xmlns="${MAIN}"><sheets>`,
    '<sheet a:id="r"/>',
    '</sheets></workbook>',
  ],
  [
    'xl/_rels/workbook.xml.rels',
    relsXml().split('</')[0] ?? '',
    relsXml(['a', 'worksheet', 'b']).match(/<Relationship .*?\/>/)?.[0] ?? '',
    '</Relationships>',
  ],
] as const;

const CSV = [
  ['line breaks', '\n', 'too_many_rows'],
  ['commas', ',', 'too_many_columns'],
  ['quotation marks', '"', 'unreadable_file'],
  ['letters', 'a', 'unreadable_file'],
  ['empty quoted cells', '"",', 'too_many_columns'],
  ['carriage returns', '\r', 'too_many_rows'],
  ['rows of two empty cells', ',\n', 'too_many_rows'],
  ['rows of 91 empty cells', `${','.repeat(90)}\n`, null],
] as const;

/** Every shape in which a workbook can be larger than it looks. */
export const WORKBOOKS: readonly Bomb[] = [
  ...SHEETS.map(([what, unit, head, code]) => ({
    title: `a sheet of nothing but ${what} ends with ${code}`,
    code,
    make: ({ by }: BombScale) =>
      withPart(filled(SHEET, SHEET_HEAD + head, unit, SHEET_TAIL, BEYOND / by)),
  })),
  ...TEXTS.map(([what, unit]) => ({
    title: `shared strings of nothing but ${what} end with too_large_inflated`,
    code: 'too_large_inflated',
    make: ({ by }: BombScale) =>
      withPart(filled('xl/sharedStrings.xml', STRINGS_HEAD, unit, STRINGS_TAIL, BEYOND / by)),
  })),
  ...PARTS.map(([name, head, unit, tail]) => ({
    title: `${name} with endless content ends with unreadable_file`,
    code: 'unreadable_file',
    make: ({ by }: BombScale) => withPart(filled(name, head, unit, tail, BEYOND / 2 / by)),
  })),
];

/** Whole files, of which every one is as large as it looks. */
export const TEXTS_OF_10_MIB: readonly Bomb[] = CSV.map(([what, unit, code]) => ({
  title: `a CSV of nothing but ${what} ${code === null ? 'is read to its end' : `ends with ${code}`}`,
  code,
  make: ({ by }) => Buffer.from(unit.repeat(Math.floor((10 * MIB) / by / unit.length))),
}));

const BOMBS = [...WORKBOOKS, ...TEXTS_OF_10_MIB];

/** All of them in their full size, each in a process with the bounds of the service. */
export async function bombsCampaign(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bombs-'));
  let [slowest, largest] = [0, 0];
  try {
    for (const { title, code, make } of BOMBS) {
      const told = await readBomb(make(FULL), join(folder, 'file'), FULL);
      assert.equal(told.code, code, title);
      slowest = Math.max(slowest, told.cpuMs);
      largest = Math.max(largest, told.rssMiB);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return `${BOMBS.length} files that unpack to far more than their size: each was read only up to its limits, with at most ${Math.round(slowest)} ms of processor time and ${Math.round(largest)} MiB of memory`;
}
