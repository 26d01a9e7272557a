import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHEET, SHEET_HEAD, SHEET_TAIL, TEXTS_OF_10_MIB, WORKBOOKS } from '../campaigns/bombs.js';
import { filled, FULL, MIB, readBomb, TENTH } from './bomb-reading.js';
import type { ReadApart } from './read-apart.js';
import { sheetXml, workbookParts, zipOf } from './workbooks.js';

/** One of each kind; `npm run prove -- bombs` has all of them, in full size. */
const OF_EACH_KIND =
  /of nothing but (empty cells|rows without cells|foreign tags|nesting|one text|references|short texts|texts of two thousand letters|commas|quotation marks|rows of 91 empty cells) |^xl\/styles/;
/** Too large even for a tenth of the bounds of memory, unless it is read as it is unpacked. */
const IN_FULL = /of nothing but texts of two thousand letters /;

const folder = mkdtempSync(join(tmpdir(), 'bombs-'));

describe('files that unpack to far more than their size', () => {
  after(() => rmSync(folder, { recursive: true }));

  const read = (file: Buffer, scale = FULL): Promise<ReadApart> =>
    readBomb(file, join(folder, 'file'), scale);

  for (const { title, code, make } of WORKBOOKS.filter((bomb) => OF_EACH_KIND.test(bomb.title)))
    it(`${title}, within a tenth of the memory and time if the bounds are a tenth`, async () => {
      assert.equal((await read(make(TENTH), TENTH)).code, code);
    });

  for (const { title, code, make } of WORKBOOKS.filter((bomb) => IN_FULL.test(bomb.title)))
    it(`${title}, in full size`, async () => {
      assert.equal((await read(make(FULL))).code, code);
    });

  for (const { title, code, make } of TEXTS_OF_10_MIB.filter((bomb) =>
    OF_EACH_KIND.test(bomb.title),
  ))
    it(`${title}, in time`, async () => {
      // A quarter of a file has more rows and columns than there may be.
      assert.equal((await read(make({ ...FULL, by: 4 }))).code, code);
    });

  it('reading a part of a file stops at the size that the part claims', async () => {
    const part = filled(SHEET, SHEET_HEAD, ' ', SHEET_TAIL, 300 * MIB);
    const lying = { ...part, says: { ...part.says, size: 1_000 } };
    const told = await read(
      zipOf([...workbookParts('').filter(({ name }) => name !== SHEET), lying]),
    );
    assert.equal(told.code, 'unreadable_file');
    assert.ok(told.cpuMs < 3_000);
  });

  it('only the needed parts of a file are read', async () => {
    const parts = workbookParts(sheetXml('<row><c><v>1</v></c></row>'));
    const told = await read(zipOf([...parts, filled('a0', '', ' ', '', 300 * MIB)]));
    assert.equal(told.code, null);
  });
});
