import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  SHEET,
  SHEET_HEAD,
  SHEET_TAIL,
  TEXTS_OF_10_MIB,
  withPart,
  WORKBOOKS,
} from '../campaigns/bombs.js';
import { filled, FULL, MIB, readBomb, TENTH } from './bomb-reading.js';
import type { ReadApart } from './read-apart.js';
import { MAIN, sheetXml, workbookParts, xml, zipOf } from './workbooks.js';

/** One comes in full size too; `npm run prove -- bombs` has all of them so. */
const IN_FULL = /of nothing but texts of two thousand letters /;
/** Read as those of line breaks are, row after row up to the last number that a row can have. */
const LIKE_ANOTHER = /of nothing but (carriage returns|rows of two empty cells) /;

describe('files that are larger than they look', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bombs-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  const read = (file: Buffer, scale = FULL): Promise<ReadApart> =>
    readBomb(file, join(folder, 'file'), scale);

  for (const { title, code, make } of WORKBOOKS)
    it(`${title}, within a tenth of the memory and time if the bounds are a tenth`, async () => {
      assert.equal((await read(make(TENTH), TENTH)).code, code);
    });

  for (const { title, code, make } of WORKBOOKS.filter((bomb) => IN_FULL.test(bomb.title)))
    it(`${title}, in full size`, async () => {
      assert.equal((await read(make(FULL))).code, code);
    });

  for (const { title, code, make } of TEXTS_OF_10_MIB.filter(
    (one) => !LIKE_ANOTHER.test(one.title),
  ))
    it(`${title}, soon`, async () => {
      // A quarter of a file has more rows and columns than there may be.
      assert.equal((await read(make({ ...FULL, by: 4 }))).code, code);
    });

  it('format codes that open what they do not close are read once each, and counted by their tags', async () => {
    const head = `<styleSheet xmlns="${MAIN}"><numFmts>`;
    const styles = (tags: number, length: number): Buffer => {
      const own = `<numFmt numFmtId="200" formatCode="${'['.repeat(length)}"/>`;
      return withPart(
        filled('xl/styles.xml', head, own, '</numFmts></styleSheet>', tags * own.length),
      );
    };
    assert.equal((await read(styles(75_000, 10))).code, null);
    assert.equal((await read(styles(110_000, 1_000))).code, 'unreadable_file');
  });

  it('a part of a file that lies about its size is stopped at the size that it claims', async () => {
    const part = filled(SHEET, SHEET_HEAD, ' ', SHEET_TAIL, 300 * MIB);
    const lying = { ...part, says: { ...part.says, size: 1_000 } };
    const told = await read(
      zipOf([...workbookParts('').filter(({ name }) => name !== SHEET), lying]),
    );
    assert.equal(told.code, 'unreadable_file');
    assert.ok(told.cpuMs < 3_000);
  });

  it('no part of a file is read but those that are needed, however large the others are', async () => {
    const parts = workbookParts(sheetXml('<row><c><v>1</v></c></row>'));
    const told = await read(zipOf([...parts, filled('a0', '', ' ', '', 300 * MIB)]));
    assert.equal(told.code, null);
  });

  it('a million rows are read no further than a header and a hundred thousand; empty ones between them do not count', async () => {
    const unit = '<row><c><v>1</v></c></row><row/>';
    const told = await read(
      withPart(filled(SHEET, SHEET_HEAD, unit, SHEET_TAIL, unit.length * 1_000_000)),
    );
    assert.deepEqual([told.code, told.rows], ['too_many_rows', 100_001]);
    const csv = await read(Buffer.from('a,1\n\n'.repeat(1_000_000)));
    assert.deepEqual([csv.code, csv.rows], ['too_many_rows', 100_001]);
  });

  it('a million columns are too many', async () => {
    const cells = filled(
      SHEET,
      `${SHEET_HEAD}<row>`,
      '<c><v>1</v></c>',
      `</row>${SHEET_TAIL}`,
      15_000_000,
    );
    assert.equal((await read(withPart(cells))).code, 'too_many_columns');
    assert.equal((await read(Buffer.from(`${'a,'.repeat(1_000_000)}\n`))).code, 'too_many_columns');
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
