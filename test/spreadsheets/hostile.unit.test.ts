import assert from 'node:assert/strict';
import { bytesOf } from '../../src/spreadsheets/sheet.js';
import { recogniseFile } from '../../src/spreadsheets/open-sheet.js';
import { seeded } from './broken-files.js';
import {
  MAIN,
  problemOf,
  sheetXml,
  textsOf,
  workbook,
  workbookParts,
  zipOf,
  type ZipPart,
} from './workbooks.js';

const SHEET = 'xl/worksheets/sheet1.xml';
const ROWS = '<row><c t="s"><v>0</v></c><c><v>12</v></c></row>';
const TEXTS = [['first', '12']];

describe('hostile workbooks', () => {
  const withSheet = (change: Partial<ZipPart>): Buffer =>
    zipOf(
      workbookParts(sheetXml(ROWS)).map((part) =>
        part.name === SHEET ? { ...part, ...change } : part,
      ),
    );
  const kindOf = (file: Buffer): Promise<string> => recogniseFile(bytesOf([file]));
  const isNeither = (file: Buffer, what?: string): Promise<void> =>
    assert.rejects(kindOf(file), { code: 'unreadable_file' }, what);
  const isUnreadable = async (file: Buffer, what?: string): Promise<void> =>
    assert.equal(await problemOf(file), 'unreadable_file', what);

  it('are distinguished from good ones', async () => {
    assert.deepEqual(await textsOf(workbook(sheetXml(ROWS))), TEXTS);
    assert.deepEqual(
      await textsOf(withSheet({ descriptor: true })),
      TEXTS,
      'sizes behind the data',
    );
    assert.deepEqual(await textsOf(withSheet({ stored: true })), TEXTS, 'not packed');
    assert.deepEqual(await textsOf(zipOf(workbookParts(sheetXml(ROWS)), 'a comment')), TEXTS);
    const folders = [{ name: 'xl/', data: '', stored: true }, ...workbookParts(sheetXml(ROWS))];
    assert.deepEqual(await textsOf(zipOf(folders)), TEXTS);
  });

  it('whose zip directory has a wrong size, checksum or position are unreadable', async () => {
    await isUnreadable(withSheet({ says: { crc: 1 } }));
    await isUnreadable(withSheet({ says: { size: 1 } }));
    await isUnreadable(withSheet({ says: { size: 100_000 } }));
    await isUnreadable(withSheet({ says: { offset: 0 } }), 'the place of another entry');
    await isUnreadable(withSheet({ says: { offset: 0xfffffff0 } }));
    await isUnreadable(withSheet({ says: { method: 12 } }));
    await isUnreadable(withSheet({ stored: true, says: { crc: 1 } }));
    await isUnreadable(
      withSheet({ localName: 'xl/worksheets/sheet2.xml' }),
      'two names for one entry',
    );
    await isUnreadable(withSheet({ unicodePath: SHEET }), 'a second name, though it is the same');
    await isUnreadable(withSheet({ packed: Buffer.from('no deflate') }));
  });

  it('with a password are unreadable', async () => {
    await isUnreadable(withSheet({ says: { flags: 1 } }));
    await isUnreadable(withSheet({ says: { flags: 0x41 } }));
  });

  it('with duplicate names, or names that lead out of the archive, are unreadable', async () => {
    const parts = workbookParts(sheetXml(ROWS));
    const second = { name: SHEET, data: sheetXml('') };
    await isUnreadable(zipOf([...parts, second]));
    await isUnreadable(zipOf([...parts, { ...second, name: SHEET.toUpperCase() }]));
    for (const name of ['../evil', '/etc/passwd', 'a/../../b', 'C:/x', '..\\evil', 'a\\..\\..\\b'])
      await isUnreadable(zipOf([...parts, { name, data: 'x' }]), name);
  });

  it('with more entries than a workbook has are unreadable', async () => {
    const more = Array.from({ length: 2_000 }, (_, at) => ({
      name: `x${at}`,
      data: '',
      stored: true,
    }));
    await isUnreadable(zipOf([...workbookParts(sheetXml(ROWS)), ...more]));
  });

  it('archives inside of hostile workbooks are not read', async () => {
    const inner = workbook(sheetXml(ROWS));
    await isUnreadable(workbook(inner));
    const beside = [
      ...workbookParts(sheetXml(ROWS)),
      { name: 'xl/embeddings/a.xlsx', data: inner },
    ];
    assert.deepEqual(await textsOf(zipOf(beside)), TEXTS);
  });

  it('a document type in any part makes a workbook unreadable', async () => {
    for (const document of [
      '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
      '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>',
      '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">',
      '<!DOCTYPE worksheet>',
    ]) {
      const sheet = `${document}<worksheet xmlns="${MAIN}"><sheetData><row><c t="inlineStr"><is><t>&b;&a;</t></is></c></row></sheetData></worksheet>`;
      await isUnreadable(workbook(sheet));
      // Also where nothing refers to what it declares.
      await isUnreadable(workbook(sheetXml(ROWS).replace('<worksheet', `${document}<worksheet`)));
      for (const [part, root] of [
        ['xl/sharedStrings.xml', 'sst'],
        ['xl/workbook.xml', 'workbook'],
      ] as const) {
        const declared = { [part]: `${document}<${root} xmlns="${MAIN}"/>` };
        await isUnreadable(workbook(sheetXml(ROWS), declared));
      }
    }
  });

  it('whose XML is not well-formed are unreadable', async () => {
    const good = sheetXml(ROWS);
    for (const sheet of [
      good.slice(0, -5),
      '',
      'text',
      `${good}<more/>`,
      good.replace('</row>', '</raw>'),
      good.replace('<v>', '<v a="1" a="2">'),
      good.replace('12', '&nothing;'),
      good.replace('12', '1&2'),
      good.replace('12', '&#0;'),
      good.replace('UTF-8', 'ISO-8859-1'),
      good.replace(MAIN, 'urn:other'),
      good.replace('worksheet', 'x:worksheet'),
      '<html><body><table><tr><td>recipient</td></tr></table></body></html>',
    ])
      await isUnreadable(workbook(sheet), sheet);
    await isUnreadable(workbook(Buffer.from(good.replace('12', 'caf\xe9'), 'latin1')), 'Latin-1');
    await isUnreadable(workbook(Buffer.from(good.replace('12', '1\u00002'))), 'NUL');
  });

  it('a zip without a workbook is refused, and a file that is not a zip is refused at once', async () => {
    assert.equal(await kindOf(workbook(sheetXml(ROWS))), 'xlsx');
    await isNeither(zipOf([{ name: 'word/document.xml', data: 'x' }]));
    await isNeither(
      zipOf([{ name: 'mimetype', data: 'application/vnd.oasis.opendocument.spreadsheet' }]),
    );
    await isNeither(zipOf([]));
    await isNeither(Buffer.from('PK\x03\x04 and nothing more'));
    await isNeither(Buffer.from('PK\x03\x04'));
  });

  it('files of other kinds are recognised as neither workbook nor CSV, and text of any encoding as CSV', async () => {
    for (const head of [
      '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
      '%PDF-1.7',
      '\x89PNG\r\n\x1a\n',
      '\x1f\x8b\x08',
      'Rar!\x1a\x07',
    ])
      await isNeither(Buffer.from(head, 'latin1'), head);
    const random = seeded(3);
    await isNeither(Buffer.from(Array.from({ length: 5_000 }, () => random() * 256)));
    for (const size of [0, 1, 5_000]) await isNeither(Buffer.alloc(size), `${size} NULs`);
    for (const text of ['a', 'recipient,amount\n', 'caf\xe9', '\ufeffa', '\n', 'a\0b'])
      for (const encoding of ['utf8', 'latin1', 'utf16le'] as const)
        assert.equal(await kindOf(Buffer.from(text, encoding)), 'csv', `${text} ${encoding}`);
    assert.equal(await kindOf(Buffer.from('r\0\0\0e\0\0\0', 'latin1')), 'csv', 'UTF-32');
  });
});
