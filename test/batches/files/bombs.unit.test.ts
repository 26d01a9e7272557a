import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crc32, createDeflateRaw } from 'node:zlib';
import type { ReadApart } from './read-apart.js';
import { MAIN, relsXml, sheetXml, stringsXml, workbookParts, xml, type ZipPart, zipOf } from './workbooks.js';

const MIB = 1024 * 1024;
const READER = fileURLToPath(new URL('./read-apart.js', import.meta.url));

/** What a process that reads any file of at most 10 MiB may have at most; an empty one has about 50. */
const MAX_RSS_MIB = 200;
/** No timing: a reader without bounds takes minutes. */
const MAX_CPU_MS = 15_000;

describe('files that are larger than they look', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bombs-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function read(file: Buffer): Promise<ReadApart> {
    assert.ok(file.length <= 10 * MIB, `${file.length} bytes would not be taken`);
    const path = join(folder, 'file');
    writeFileSync(path, file);
    const { stdout } = await promisify(execFile)(process.execPath, [READER, path]);
    const told = JSON.parse(stdout) as ReadApart;
    if (process.env['SHOW_BOMBS'] !== undefined) process.stderr.write(`${stdout}\n`);
    assert.ok(told.rssMiB < MAX_RSS_MIB, `${told.rssMiB} MiB`);
    assert.ok(told.cpuMs < MAX_CPU_MS, `${told.cpuMs} ms`);
    return told;
  }

  /** A part of `head`, `unit` again and again, and `tail`, of about `size` bytes unpacked. */
  async function filled(name: string, head: string, unit: string, tail: string, size: number): Promise<ZipPart> {
    const block = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
    const deflate = createDeflateRaw({ level: 9 });
    const pieces: Buffer[] = [];
    deflate.on('data', (piece: Buffer) => pieces.push(piece));
    let crc = 0;
    let length = 0;
    const write = (bytes: Buffer): Promise<void> => {
      crc = crc32(bytes, crc);
      length += bytes.length;
      return new Promise((resolve) => deflate.write(bytes, () => resolve()));
    };
    await write(Buffer.from(head));
    while (length < size) await write(block);
    await write(Buffer.from(tail));
    await new Promise<void>((resolve) => deflate.on('end', resolve).end());
    return { name, data: '', packed: Buffer.concat(pieces), says: { crc, size: length } };
  }

  const SHEET = 'xl/worksheets/sheet1.xml';
  const [SHEET_HEAD = '', SHEET_TAIL = ''] = sheetXml('|').split('|');
  const [STRINGS_HEAD = '', STRINGS_TAIL = ''] = stringsXml('|').split('|');

  async function withPart(part: Promise<ZipPart>, sheet = sheetXml('')): Promise<Buffer> {
    const own = await part;
    return zipOf([...workbookParts(sheet).filter(({ name }) => name !== own.name), own]);
  }
  const sheetOf = (unit: string, size: number, head = ''): Promise<Buffer> =>
    withPart(filled(SHEET, SHEET_HEAD + head, unit, SHEET_TAIL, size));
  const stringsOf = (unit: string, size: number): Promise<Buffer> =>
    withPart(filled('xl/sharedStrings.xml', STRINGS_HEAD, unit, STRINGS_TAIL, size));

  for (const [what, unit, head, code] of [
    ['blanks', ' ', '', 'unreadable_file'],
    ['blanks between tags', `<a/>${' '.repeat(60_000)}`, '', 'too_large_inflated'],
    ['empty cells', '<c/>', '<row>', 'too_many_columns'],
    ['rows without cells', '<row/>', '', 'too_many_rows'],
    ['rows of empty cells', `<row>${'<c s="1"/>'.repeat(50)}</row>`, '', 'too_large_inflated'],
    ['foreign tags', '<a/>', '', 'too_large_inflated'],
    ['attributes', `<a ${Array.from({ length: 90 }, (_, at) => `b${at}=""`).join(' ')}/>`, '', 'too_large_inflated'],
    ['comments', '<!---->', '', 'too_large_inflated'],
    ['instructions', '<?a?>', '', 'too_large_inflated'],
    ['nesting', '<a>', '', 'unreadable_file'],
    ['references', `<a>${'&amp;'.repeat(10_000)}</a>`, '', 'too_large_inflated'],
    ['one text', 'a', '<row><c t="inlineStr"><is><t>', 'unreadable_file'],
    ['one comment', 'a', '<!--', 'unreadable_file'],
    ['one attribute', 'a', '<row a="', 'unreadable_file'],
    ['one tag', ' ', '<row ', 'unreadable_file'],
    ['long texts', `<row><c t="inlineStr"><is><t>${'a'.repeat(30_000)}</t></is></c></row>`, '', 'too_large_inflated'],
  ] as const)
    it(`a sheet of 300 MiB of ${what} ends with ${code}`, async () => {
      assert.equal((await read(await sheetOf(unit, 300 * MIB, head))).code, code);
    });

  for (const [what, unit] of [
    ['short texts', '<si><t>ab</t></si>'],
    ['no texts', '<si/>'],
    ['texts of two thousand letters', `<si><t>${'añ'.repeat(1_000)}</t></si>`],
  ] as const)
    it(`shared strings of 300 MiB of ${what} end with too_large_inflated`, async () => {
      assert.equal((await read(await stringsOf(unit, 300 * MIB))).code, 'too_large_inflated');
    });

  for (const [name, head, unit, tail] of [
    ['xl/styles.xml', `<styleSheet xmlns="${MAIN}"><cellXfs>`, '<xf/>', '</cellXfs></styleSheet>'],
    ['xl/workbook.xml', `<workbook xmlns="${MAIN}"><sheets>`, '<sheet a:id="r"/>', '</sheets></workbook>'],
    [
      'xl/_rels/workbook.xml.rels',
      relsXml().split('</')[0] ?? '',
      relsXml(['a', 'worksheet', 'b']).match(/<Relationship .*?\/>/)?.[0] ?? '',
      '</Relationships>',
    ],
  ] as const)
    it(`${name} of 150 MiB is refused`, async () => {
      assert.equal((await read(await withPart(filled(name, head, unit, tail, 150 * MIB)))).code, 'unreadable_file');
    });

  it('format codes that open what they do not close are read once each, and counted by their tags', async () => {
    const own = `<numFmt numFmtId="200" formatCode="${'['.repeat(1_000)}"/>`;
    const head = `<styleSheet xmlns="${MAIN}"><numFmts>`;
    const styles = (tags: number): Promise<ZipPart> =>
      filled('xl/styles.xml', head, own, '</numFmts></styleSheet>', tags * own.length);
    assert.equal((await read(await withPart(styles(95_000)))).code, null);
    assert.equal((await read(await withPart(styles(110_000)))).code, 'unreadable_file');
  });

  it('a part that lies about its size is stopped where it said that it ends', async () => {
    const part = await filled(SHEET, SHEET_HEAD, ' ', SHEET_TAIL, 300 * MIB);
    const lying = { ...part, says: { ...part.says, size: 1_000 } };
    const told = await read(zipOf([...workbookParts('').filter(({ name }) => name !== SHEET), lying]));
    assert.equal(told.code, 'unreadable_file');
    assert.ok(told.cpuMs < 3_000);
  });

  it('entries that share their data count each time that they are read', async () => {
    // Nothing but the parts that are needed is read, so that two hundred others of one gigabyte each cost nothing.
    const kernel = await filled('a', '', ' ', '', 150 * MIB);
    const parts = workbookParts(sheetXml('<row><c><v>1</v></c></row>'));
    const shared = Array.from({ length: 200 }, (_, at) => ({ ...kernel, name: `a${at}` }));
    const whole = zipOf([...parts, ...shared.slice(0, 1)]);
    assert.equal((await read(whole)).code, null);
  });

  it('a million rows are read no further than a hundred thousand', async () => {
    const told = await read(await sheetOf('<row><c><v>1</v></c></row>', 27 * 1_000_000));
    assert.deepEqual([told.code, told.rows], ['too_many_rows', 100_001]);
    const csv = await read(Buffer.from('a,1\n'.repeat(1_000_000)));
    assert.deepEqual([csv.code, csv.rows], ['too_many_rows', 100_001]);
  });

  it('a million columns are too many', async () => {
    const cells = await read(
      await withPart(filled(SHEET, `${SHEET_HEAD}<row>`, '<c><v>1</v></c>', `</row>${SHEET_TAIL}`, 15_000_000)),
    );
    assert.equal(cells.code, 'too_many_columns');
    const csv = await read(Buffer.from(`${'a,'.repeat(1_000_000)}\n`));
    assert.equal(csv.code, 'too_many_columns');
  });

  it('ten MiB of CSV of any shape end soon', async () => {
    const shapes: readonly (readonly [string, string | null])[] = [
      ['\n', 'too_many_rows'],
      [',', 'too_many_columns'],
      ['"', 'unreadable_file'],
      ['a', 'unreadable_file'],
      ['"",', 'too_many_columns'],
      ['\r', 'too_many_rows'],
      [',\n', 'too_many_rows'],
      [`${','.repeat(90)}\n`, null],
    ];
    for (const [unit, code] of shapes) {
      const told = await read(Buffer.from(unit.repeat(Math.floor((10 * MIB) / unit.length))));
      assert.equal(told.code, code, JSON.stringify(unit.slice(0, 5)));
    }
  });

  it('an ordinary large file leaves others their turns', async () => {
    const row = (at: number): string =>
      `<row r="${at}"><c r="A${at}" t="inlineStr"><is><t>$employee-${at}</t></is></c><c r="B${at}"><v>${at}</v></c></row>`;
    const sheet = sheetXml(Array.from({ length: 50_000 }, (_, at) => row(at + 1)).join(''));
    const told = await read(zipOf(workbookParts(xml(sheet.slice(sheet.indexOf('<worksheet'))))));
    assert.deepEqual([told.code, told.rows], [null, 50_000]);
    assert.ok(told.turns > 10, `${told.turns} turns`);
  });
});
