import assert from 'node:assert/strict';
import {
  cellsOf,
  MAIN,
  problemOf,
  relsXml,
  rowsOf,
  sheetXml,
  STRICT,
  stringsXml,
  textsOf,
  workbook,
  xml,
} from './workbooks.js';

const STRINGS = 'xl/sharedStrings.xml';
const BOOK = 'xl/workbook.xml';
const BOOK_RELS = 'xl/_rels/workbook.xml.rels';

async function kindsOf(
  cells: string,
  changes: Parameters<typeof cellsOf>[1] = {},
): Promise<(string | null)[]> {
  return (await cellsOf(cells, changes)).map((cell) =>
    cell === null ? null : `${cell.kind} ${cell.text}`,
  );
}

describe('XLSX cells', () => {
  it('numbers in XLSX cells keep their text, never rounded', async () => {
    const numbers = '9007199254740993 1E5 1.5E+17 -3 0.1 100.0 +7 .5 5.'.split(' ');
    const cells = numbers.map((text) => `<c><v>${text}</v></c>`).join('');
    assert.deepEqual(
      await kindsOf(cells),
      numbers.map((text) => `number ${text}`),
    );
  });

  it('texts in XLSX cells are read if they are shared, inline, or formulas without a result', async () => {
    const cells =
      '<c t="s"><v>0</v></c><c t="inlineStr"><is><t>a &amp; b</t></is></c><c t="str"><v>c</v></c>';
    assert.deepEqual(await kindsOf(cells), ['text first', 'text a & b', 'text c']);
  });

  it('a formula is recognised in every notation and with any result', async () => {
    const cells = [
      '<c><f>1+1</f><v>2</v></c>',
      '<c t="str"><f>A1</f><v>x</v></c>',
      '<c><f t="shared" si="0"/><v>3</v></c>',
      '<c t="b"><f>TRUE()</f><v>1</v></c>',
      '<c><f>NOW()</f></c>',
      '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>',
      '<c t="s"><v>0</v><f>A1</f></c>',
    ];
    const results = ['2', 'x', '3', 'TRUE', '', '#DIV/0!', 'first'];
    assert.deepEqual(
      await kindsOf(cells.join('')),
      results.map((result) => `formula ${result}`),
    );
  });

  it('booleans, errors and ISO dates in XLSX cells are recognised', async () => {
    const cells =
      '<c t="b"><v>1</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2026-11-01</v></c>';
    assert.deepEqual(await kindsOf(cells), [
      'boolean TRUE',
      'boolean FALSE',
      'error #N/A',
      'date 2026-11-01',
    ]);
  });

  it('rich text in an XLSX cell is one text, without its phonetic hints', async () => {
    const rich =
      '<r><t>two </t></r><r><rPr><b/></rPr><t xml:space="preserve">runs</t></r><rPh sb="0" eb="1"><t>NO</t></rPh>';
    const changes = {
      [STRINGS]: stringsXml(
        `<si>${rich}<phoneticPr fontId="1"/></si><si><t>b</t><rPh><t>NO</t></rPh></si>`,
      ),
    };
    const cells = `<c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="inlineStr"><is>${rich}</is></c>`;
    assert.deepEqual(await kindsOf(cells, changes), ['text two runs', 'text b', 'text two runs']);
  });

  it('spaces, CDATA, references and escapes in XLSX cells are preserved', async () => {
    const items =
      '<si><t xml:space="preserve"> a </t></si><si><t><![CDATA[<b>]]>&#241;&#x20AC;</t></si><si><t>c_x000A_d_x005F_x0041_</t></si>';
    const cells = [0, 1, 2].map((at) => `<c t="s"><v>${at}</v></c>`).join('');
    assert.deepEqual(await kindsOf(cells, { [STRINGS]: stringsXml(items) }), [
      ...['text  a ', 'text <b>ñ€', 'text c\nd_x0041_'],
    ]);
  });

  it('empty XLSX cells of every kind are left out', async () => {
    const cells = [
      ...['<c/>', '<c s="1"/>', '<c><v></v></c>', '<c t="s"/>', '<c t="s"><v>1</v></c>'],
      ...['<c t="inlineStr"><is><t></t></is></c>', '<c t="inlineStr"/>', '<c t="str"><v></v></c>'],
    ];
    const changes = { [STRINGS]: stringsXml('<si><t>a</t></si><si><t/></si>') };
    assert.deepEqual(await kindsOf(`${cells.join('')}<c><v>1</v></c>`, changes), [
      ...cells.map(() => null),
      'number 1',
    ]);
  });

  it('a missing shared text makes the file unreadable', async () => {
    for (const index of ['1', '99999999', '-1', 'a', '1.0', '1E0'])
      assert.equal(
        await problemOf(workbook(sheetXml(`<row><c t="s"><v>${index}</v></c></row>`))),
        'unreadable_file',
      );
    const without = workbook(sheetXml('<row><c t="s"><v>0</v></c></row>'), {
      [STRINGS]: null,
      [BOOK_RELS]: relsXml(['rId1', 'worksheet', 'worksheets/sheet1.xml']),
    });
    assert.equal(await problemOf(without), 'unreadable_file');
  });
});

const UNREADABLE: Readonly<Record<string, readonly string[]>> = {
  'a number cell without a number': ['1,5', 'NaN', '0x1', '1_0', '--1', 'abc', '1E', '１'].map(
    (text) => `<row><c><v>${text}</v></c></row>`,
  ),
  'a cell with two values, which joined would be a third value,': [
    '<row><c><v>150000</v><v>9</v></c></row>',
    '<row><c t="str"><v>15</v><v>0000</v></c></row>',
    '<row><c><v/><v>9</v></c></row>',
    '<row><c t="inlineStr"><is><t>1</t></is><is><t>1</t></is></c></row>',
  ],
  'a value that contains an element, which programs read differently,': [
    '<row><c><v>15<b/>0000</v></c></row>',
    '<row><c t="str"><v>a<x:b xmlns:x="urn:x">b</x:b>c</v></c></row>',
    '<row><c t="inlineStr"><is><t>a<b/>c</t></is></c></row>',
    '<row><c t="inlineStr"><is><r><t>a<b/>c</t></r></is></c></row>',
  ],
  'a row or a cell that is out of order, duplicated or without a position': [
    ...['<row r="2"/><row r="1"/>', '<row r="2"/><row r="2"/>', '<row r="0"/>', '<row r="a"/>'],
    ...['<row><c r="B1"/><c r="A1"/></row>', '<row><c r="A1"/><c r="A1"/></row>'],
    ...['<row r="2"><c r="A3"/></row>', '<row r="2"/><row><c/><c r="B2"/></row>'],
    ...['<row><c r="1A"/></row>', '<row><c r=""/></row>', '<row><c r="A"/></row>'],
  ],
  'a second table in the same sheet': [
    '<row><c><v>1</v></c></row></sheetData><sheetData><row><c><v>1</v></c></row>',
  ],
};

for (const [what, all] of Object.entries(UNREADABLE))
  it(`${what} makes an XLSX unreadable`, async () => {
    for (const rows of all)
      assert.equal(await problemOf(workbook(sheetXml(rows))), 'unreadable_file', rows);
  });

describe('XLSX rows', () => {
  const texts = (rows: string, changes = {}): Promise<(string | null)[][]> =>
    textsOf(workbook(sheetXml(rows), changes));
  const numbers = async (rows: string): Promise<number[]> =>
    (await rowsOf(workbook(sheetXml(rows)))).map(({ number }) => number);

  it('have the numbers that a spreadsheet shows, named or counted', async () => {
    const cell = '<c><v>1</v></c>';
    assert.deepEqual(
      await numbers(`<row r="1">${cell}</row><row r="5">${cell}</row><row>${cell}</row>`),
      [1, 5, 6],
    );
    assert.deepEqual(
      await numbers(`<row>${cell}</row><row/><row><c s="1"/></row><row>${cell}</row>`),
      [1, 4],
    );
  });

  it('XLSX cells are placed by their reference, or after the previous cell without one', async () => {
    assert.deepEqual(
      await texts('<row><c r="B1"><v>1</v></c><c><v>2</v></c><c r="AA1"><v>3</v></c></row>'),
      [[null, '1', '2', ...Array.from({ length: 23 }, () => null), '3']],
    );
  });

  it('of a hundred columns are read, one more is too many; empty ones do not count', async () => {
    const row = (cells: number, more = ''): Buffer =>
      workbook(sheetXml(`<row>${'<c><v>1</v></c>'.repeat(cells)}${more}</row>`));
    assert.equal((await textsOf(row(100)))[0]?.length, 100);
    assert.equal((await textsOf(row(100, '<c s="1"/>'.repeat(900))))[0]?.length, 100);
    assert.equal(await problemOf(row(101)), 'too_many_columns');
    assert.equal(await problemOf(row(1, '<c r="XFE1"><v>1</v></c>')), 'too_many_columns');
    assert.equal(await problemOf(row(1, '<c r="ZZZZZZZZ1"><v>1</v></c>')), 'too_many_columns');
  });

  it('outside of the sheet data are ignored', async () => {
    const sheet = xml(
      `<worksheet xmlns="${MAIN}" xmlns:x14="urn:x"><row><c><v>9</v></c></row><sheetData><row><c><v>1</v></c><x14:c><v>8</v></x14:c><c><v>2</v></c></row><x14:row><c><v>8</v></c><v>8</v></x14:row><row><c><v>3</v></c></row></sheetData><extLst><ext><row><c><v>7</v></c></row></ext></extLst></worksheet>`,
    );
    assert.deepEqual(await textsOf(workbook(sheet)), [['1', '2'], ['3']]);
  });

  it('under a prefix, in UTF-16 and in strict files are the same', async () => {
    const plain = `<?xml version="1.0" encoding="UTF-16"?><x:worksheet xmlns:x="${STRICT}"><x:sheetData><x:row r="1"><x:c t="inlineStr"><x:is><x:t>ñ€</x:t></x:is></x:c><c><v>9</v></c></x:row></x:sheetData></x:worksheet>`;
    const utf16 = Buffer.from(`\ufeff${plain}`, 'utf16le');
    const swapped = Buffer.from(utf16).swap16();
    for (const sheet of [
      plain.replace('UTF-16', 'utf-8'),
      utf16,
      swapped,
      utf16.subarray(2),
      swapped.subarray(2),
    ])
      assert.deepEqual(await textsOf(workbook(sheet)), [['ñ€']]);
  });
});

describe('the first sheet', () => {
  const one = (text: string): string =>
    sheetXml(`<row><c t="inlineStr"><is><t>${text}</t></is></c></row>`);
  const R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
  const sheets = (...all: string[]): string =>
    xml(`<workbook xmlns="${MAIN}" ${R}><sheets>${all.join('')}</sheets></workbook>`);
  const book = (list: string, rels: string): Buffer =>
    workbook(one('one'), {
      [BOOK]: list,
      [BOOK_RELS]: rels,
      'xl/worksheets/sheet2.xml': one('two'),
    });

  it("is the first in the workbook's order, not by the names of the parts", async () => {
    const rels = relsXml(
      ['b', 'worksheet', 'worksheets/sheet2.xml'],
      ['a', 'worksheet', '/xl/worksheets/sheet1.xml'],
    );
    assert.deepEqual(
      await textsOf(book(sheets('<sheet name="x" r:id="b"/>', '<sheet name="y" r:id="a"/>'), rels)),
      [['two']],
    );
  });

  it('the first visible worksheet with cells is read', async () => {
    const rels = relsXml(
      ['c', 'chartsheet', 'chartsheets/sheet1.xml'],
      ['a', 'worksheet', './worksheets/../worksheets/sheet1.xml'],
      ['b', 'worksheet', 'worksheets/sheet2.xml'],
    );
    const chart = '<sheet name="c" r:id="c"/>';
    const hidden = (state: string): string => `<sheet name="x" state="${state}" r:id="a"/>`;
    const second = '<sheet name="y" state="visible" r:id="b"/>';
    assert.deepEqual(await textsOf(book(sheets(chart, hidden('hidden'), second), rels)), [['two']]);
    assert.deepEqual(await textsOf(book(sheets(hidden('veryHidden'), second), rels)), [['two']]);
    assert.deepEqual(
      await textsOf(book(sheets(hidden('hidden')), rels)),
      [['one']],
      'where none can be seen',
    );
  });

  it('that is missing, external or no sheet makes the file unreadable', async () => {
    const sheet = '<sheet name="x" r:id="a"/>';
    const bad: readonly (readonly [string, string])[] = [
      [sheets(), relsXml(['a', 'worksheet', 'worksheets/sheet1.xml'])],
      [sheets(sheet), relsXml(['b', 'worksheet', 'worksheets/sheet1.xml'])],
      [sheets(sheet), relsXml(['a', 'worksheet', 'worksheets/none.xml'])],
      [sheets(sheet), relsXml(['a', 'worksheet', 'file:///etc/passwd', 'TargetMode="External"'])],
      [sheets(sheet), relsXml(['a', 'worksheet', '../../../../etc/passwd'])],
      [sheets(sheet), relsXml(['a', 'worksheet', 'styles.xml'])],
      [one('x'), relsXml(['a', 'worksheet', 'worksheets/sheet1.xml'])],
    ];
    for (const [list, rels] of bad)
      assert.equal(await problemOf(book(list, rels)), 'unreadable_file', rels);
  });

  it('that two relationships name, or texts of which there are two, make the file unreadable', async () => {
    const [first, second] = ['worksheets/sheet1.xml', 'worksheets/sheet2.xml'];
    for (const rels of [
      relsXml(['a', 'worksheet', first], ['a', 'worksheet', second]),
      relsXml(
        ['a', 'worksheet', first],
        ['s', 'sharedStrings', 'one.xml'],
        ['t', 'sharedStrings', 'two.xml'],
      ),
    ])
      assert.equal(
        await problemOf(book(sheets('<sheet name="x" r:id="a"/>'), rels)),
        'unreadable_file',
        rels,
      );
  });
});
