import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { ASSETS, disjunction, formatAmount } from '../../src/core/amount.js';
import { BONUS_BATCHES } from '../../src/batches/kinds/bonus.js';
import { readHeader } from '../../src/batches/validation/header.js';
import { type ReadRow, readRow } from '../../src/batches/validation/rows.js';
import {
  MAIN,
  problemOf,
  rowsOf,
  sheetXml,
  stringsXml,
  workbook,
  xml,
} from '../spreadsheets/workbooks.js';

const SAMPLES = 'test/batches/samples/producers';
const COLUMNS = ['recipient', 'amount', 'description', 'reference'] as const;
type ColumnName = (typeof COLUMNS)[number];

/** The value of a cell as text, or `!` and the message of its problem. */
function shown(row: ReadRow, column: ColumnName): string {
  const reading = row[column];
  if ('problem' in reading) return `!${reading.problem.message}`;
  const { value } = reading;
  return value !== null && typeof value === 'object' ? value.text : String(value);
}

/** The rows of a payroll: recipient, amount, description and reference, and `hidden` if the row is. */
async function readingOf(file: Buffer): Promise<string[][]> {
  const [first, ...rows] = await rowsOf(file);
  assert(first !== undefined);
  const header = readHeader(first, BONUS_BATCHES.sheet);
  return rows.flatMap((row) => {
    const read = readRow(row, header);
    return read === null
      ? []
      : [[...COLUMNS.map((one) => shown(read, one)), ...(row.isHidden ? ['hidden'] : [])]];
  });
}

/** A text that begins with `!` expects a problem whose message contains what follows. */
function assertShown(actual: string | undefined, expected: string, what: string): void {
  if (!expected.startsWith('!')) assert.equal(actual, expected, what);
  else
    assert(
      actual?.startsWith('!') === true && actual.includes(expected.slice(1)),
      `${what}: ${actual}`,
    );
}

/** The rows that each program was given (test/batches/samples/producers/README.md). */
const GIVEN: readonly (readonly string[])[] = [
  ['$dora', '150000', '2026-11-01', '1001'],
  ['573001112233', '150000', '2026-11-01T13:30:00', '12345671'],
  ['$dora', '150000', '1.1', '00042'],
  ['$dora', '150000', 'TRUE', '!more than 15 digits'],
  ['$dora', '!#,##0.00" is not a valid amount', 'x', '!a date or a time (2026-11-01)'],
  ['$dora', '!"150000" in the format "0.00%"', '13:30:00', '1001'],
  ['$dora', '150000', '0.0000001', '!in the format "0.0"', 'hidden'],
];
/** pandas writes the numbers of a column with an empty cell as decimals. */
const OF_PANDAS = [['573001112233', '150000', '2026-11-01', '1001']];

describe('cells written by spreadsheet programs', () => {
  for (const name of readdirSync(SAMPLES).filter((one) => one.endsWith('.xlsx')))
    it(`are read as ${name} shows them`, async () => {
      const rows = await readingOf(readFileSync(`${SAMPLES}/${name}`));
      const expected = name.startsWith('pandas') ? OF_PANDAS : GIVEN;
      assert.equal(rows.length, expected.length);
      for (const [at, row] of expected.entries()) {
        assert.equal(rows[at]?.length, row.length);
        for (const [column, text] of row.entries()) {
          // LibreOffice writes a boolean as a formula.
          const isFormula = name === 'libreoffice.xlsx' && text === 'TRUE';
          assertShown(
            rows[at][column],
            isFormula ? '!is a formula' : text,
            `row ${at}, column ${column}`,
          );
        }
      }
    });
});

/** A format by its code, or a built-in one by its id; null for a cell without a style. */
type Format = string | number | null;

interface Variant {
  readonly column: ColumnName;
  readonly format?: Format;
  readonly is1904?: boolean;
}

/** The result of the cell in this column of an otherwise good row. */
async function cellRead(
  cell: string,
  { column, format = null, is1904 = false }: Variant,
): Promise<string> {
  const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
  const header = ['recipient', 'amount', 'asset', 'description', 'reference'];
  const good = ['$dora', '150000', 'COPM', 'x', 'R-1'];
  const cells = header.map((name, at) => (name === column ? cell : text(good[at] ?? '')));
  const sheet = sheetXml(`<row>${header.map(text).join('')}</row><row>${cells.join('')}</row>`);
  const code = typeof format === 'string' ? xmlText(format) : '';
  const styles = `<numFmts><numFmt numFmtId="170" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="${typeof format === 'number' ? format : 170}"/></cellXfs>`;
  const book = `<workbookPr date1904="${is1904 ? '1' : 'false'}"/><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets>`;
  const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const [row] = await readingOf(
    workbook(sheet, {
      'xl/styles.xml': xml(`<styleSheet xmlns="${MAIN}">${styles}</styleSheet>`),
      'xl/workbook.xml': xml(`<workbook xmlns="${MAIN}" xmlns:r="${R}">${book}</workbook>`),
      'xl/sharedStrings.xml': stringsXml(
        '<si><t>1001.0</t></si><si><r><t>10</t></r><r><t>01</t></r></si>',
      ),
    }),
  );
  return row?.[COLUMNS.indexOf(column)] ?? '';
}

function xmlText(text: string): string {
  return text.replace(/[&"<]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const numberCell = (value: string, format: Format = null): string =>
  `<c${format === null ? '' : ' s="1"'}><v>${value}</v></c>`;

type Line = readonly [value: string, format: Format, expected: string];

/** Each line in each of these columns. */
function assertEach(lines: readonly Line[], variant: Variant): () => Promise<void> {
  return async () => {
    for (const [value, format, expected] of lines)
      assertShown(
        await cellRead(numberCell(value, format), { ...variant, format }),
        expected,
        `${value} in ${format} of ${variant.column}`,
      );
  };
}

const NUMBERS: readonly Line[] = [
  ['1001', null, '1001'],
  ['1E3', null, '1000'],
  ['1.2345671E7', null, '12345671'],
  ['5.73001112233E+11', null, '573001112233'],
  ['007', null, '7'],
  ['0', null, '0'],
  ['-5', null, '-5'],
  ['123456789012345', null, '123456789012345'],
  ['1234567890123456', null, '!more than 15 digits'],
  ['1.23456789012346E+15', null, '!more than 15 digits'],
  ['1E999', null, '!more than 15 digits'],
  ['0.30000000000000004', null, '!more than 15 digits'],
  ['1.5', null, '1.5'],
  ['1.1000000000000001', null, '1.1'],
  ['4.3499999999999996', null, '4.35'],
  ['1E-7', null, '0.0000001'],
  ['42', '00000', '00042'],
  ['42', '[$-C0A]00000', '00042'],
  ['123456', '00000', '123456'],
  ...[1, 49, 'general', 'Standard', '@', '[$-409]0'].map((code): Line => ['1001', code, '1001']),
  ...['0', '00000'].map((code): Line => ['1.5', code, `!"1.5" in the format "${code}"`]),
];

/** Formats that show more, less or other than the digits of a number. */
const CARRIES_VALUE: readonly Format[] = [
  // A prefix or a suffix
  ...[
    '"EMP-"0000',
    '"+1 "000\\-000\\-0000',
    '0000"-26"',
    '\\E0',
    '0\\d',
    '+0',
    '$0',
    '"$bruno";;;;',
  ],
  ...['[$+1-409]0000000000', '[$COP]\\ 0', '0_)', '* 0', '(000) 000-0000', '0@'],
  // Groups, decimals, scaling, percent, fractions, exponents
  ...[2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 37, 38, 41, 44, 48, 163, '#,##0', '0,', '0,,', '0%', '0‰'],
  ...['# ?/?', '0.0', '0.0##', '##0.0E+0', '000-000', '00 00', '#', '#####', '0#', '?0', '# ##0'],
  // Conditions, sections, colours, digits of other scripts, nothing at all
  ...['[<1000]0;0000', '[=1001]"x";0', '0;-0', '0;"x"', '00000;;', ';;;', ';0', '', '0;0;0;@'],
  ...[
    '[Red]0',
    '[Color 5]00000',
    '[$-2000401]0',
    '[$-D000000]00000',
    '[DBNum1]0',
    't0',
    'General" kg"',
  ],
];

const DAY = '2026-11-01';
const DATES: readonly Line[] = [
  ...[14, 15, 16, 17, 22, 27, 36, 50, 58].map((id): Line => ['46327', id, DAY]),
  ...[
    'yyyy-mm-dd',
    '[$-409]d-mmm-yy',
    'dd"day"mm\\-yyyy',
    '[$-F800]dddd, mmmm dd, yyyy',
    'mmm',
    '[Red]d;@',
  ].map((code): Line => ['46327', code, DAY]),
  ['46327.0', 14, DAY],
  ['4.6327E4', 14, DAY],
  ['46327.5625', 14, `${DAY}T13:30:00`],
  ['46327.5625', 'h:mm', `${DAY}T13:30:00`],
  ['46327.999999999', 14, '2026-11-02'],
  ['1', 14, '1900-01-01'],
  ['59', 14, '1900-02-28'],
  ['60', 14, '!an error'],
  ['61', 14, '1900-03-01'],
  ['0', 14, '!an error'],
  ['-1', 14, '!an error'],
  ['2958465', 14, '9999-12-31'],
  ['2958466', 14, '!an error'],
  ['0.5625', 'h:mm AM/PM', '13:30:00'],
  ['0.5625', 20, '13:30:00'],
  ['0', 'hh:mm:ss', '00:00:00'],
  ['1.5', '[h]:mm', '36:00:00'],
  ['1.5', 46, '36:00:00'],
  ['0.0625', '[mm]:ss', '01:30:00'],
];

const NOT_PLAIN: readonly Format[] = [
  ...[2, 4, 5, 9, 10, 11, 12, 13, 37, 38, 39, 41, 44, 48, 163],
  ...[
    '"$"#,##0.00',
    '0.00%',
    '#,##0,',
    '0"000"',
    '000000000000',
    '[$COP]\\ #,##0',
    '#,##0\\ "pesos"',
    '0.0',
    '00',
  ],
  ...['# ?/?', '##0.0E+0', '_-"$"* #,##0_-', '#,##0;[Red]-#,##0', '0;0', ''],
];

describe('a number cell', () => {
  it('becomes the digits that a person sees', assertEach(NUMBERS, { column: 'reference' }));

  for (const column of ['recipient', 'description', 'reference'] as const)
    it(`of a ${column} is refused in a format that can show another value, and the message quotes the format`, async () => {
      for (const format of CARRIES_VALUE)
        assertShown(
          await cellRead(numberCell('3001112234', format), { column, format }),
          `!"3001112234" in the format "${typeof format === 'number' ? '' : format}`,
          `${format}`,
        );
    });

  it('of a recipient is a phone in plain digits', async () => {
    for (const [value, format, expected] of [
      ['573001112233.0', null, '573001112233'],
      ['5.73001112233E+11', null, '573001112233'],
      ['573001112233', '0', '573001112233'],
      ['573001112233', '000000000000', '573001112233'],
      ['573001112233.5', null, '!is neither an alias'],
      ['60123456.75', null, '!is neither an alias'],
      ['-573001112233', null, '!is neither an alias'],
      ['5730011122330001', null, '!more than 15 digits'],
      ['46327', 14, '!a date or a time (2026-11-01)'],
    ] as const)
      assertShown(
        await cellRead(numberCell(value, format), { column: 'recipient', format }),
        expected,
        `${value} in ${format}`,
      );
  });

  it(
    'with a date or time format becomes ISO 8601 in a description',
    assertEach(DATES, { column: 'description' }),
  );

  it('with a date or time format is refused in a reference', async () => {
    const variant = { column: 'reference', format: 14 } as const;
    assertShown(await cellRead(numberCell('46327', 14), variant), `!(${DAY})`, 'a date');
  });

  it('counts days from 1904 if the workbook says so', async () => {
    for (const [value, expected] of [
      ['44865', DAY],
      ['44865.5625', `${DAY}T13:30:00`],
      ['0', '1904-01-01'],
      ['60', '1904-03-01'],
      ['2957003', '9999-12-31'],
      ['2957004', '!an error'],
    ] as const)
      assertShown(
        await cellRead(numberCell(value, 14), { column: 'description', format: 14, is1904: true }),
        expected,
        value,
      );
  });

  it('is an amount in the formats General, 0, #,##0 and text', async () => {
    for (const format of [null, 0, 1, 3, 49, 'General', 'GENERAL', 'Standard', '0', '#,##0', '@'])
      for (const value of ['150000', '150000.0', '1.5E5'])
        assert.equal(
          await cellRead(numberCell(value, format), { column: 'amount', format }),
          '150000',
          `${format}`,
        );
  });

  it('that shows a whole number but contains another is no amount, and the message says what it shows', async () => {
    for (const [value, format, shown] of [
      ['150009.99999999997', null, '150010'],
      ['1.5001000000000001E5', null, '150010'],
      ['150010.0000001', null, '150010'],
      ['12345678901.000002', null, '12345678901'],
      ['150009.6', '0', '150010'],
      ['150009.6', '#,##0', '150010'],
    ] as const)
      assertShown(
        await cellRead(numberCell(value, format), { column: 'amount', format }),
        `!the cell shows ${shown}, but contains "${value}"`,
        value,
      );
    for (const value of ['150009.5', '150009.99', '1E400', '-5.0000000001'])
      assertShown(
        await cellRead(numberCell(value), { column: 'amount' }),
        `!"${value}" is not a valid amount`,
        value,
      );
    assertShown(
      await cellRead(numberCell('0.30000000000000004'), { column: 'reference' }),
      '!(the cell shows 0.3)',
      'a reference',
    );
  });

  it('is not an amount in any other format, and the message explains the unit and what to write', async () => {
    const amounts = disjunction(ASSETS.map((asset) => formatAmount({ raw: 150_000n, asset })));
    for (const format of NOT_PLAIN)
      assertShown(
        await cellRead(numberCell('150000', format), { column: 'amount', format }),
        `! is not a valid amount. Use digits only, in the smallest unit (150000 is ${amounts}). Use the format General, 0, #,##0 or text.`,
        `${format}`,
      );
    for (const format of [14, 20, 46, 'd-mmm', '#,##0 USD'])
      assertShown(
        await cellRead(numberCell('46327', format), { column: 'amount', format }),
        '!is a date',
        `${format}`,
      );
  });

  it('with a style that the workbook lacks makes the file unreadable', async () => {
    assert.equal(
      await problemOf(workbook(sheetXml('<row><c s="2"><v>1</v></c></row>'))),
      'unreadable_file',
    );
    const without = { 'xl/styles.xml': xml(`<styleSheet xmlns="${MAIN}"/>`) };
    assert.equal(
      await problemOf(workbook(sheetXml('<row><c s="0"><v>1</v></c></row>'), without)),
      null,
    );
  });
});

describe('a text cell', () => {
  it('is taken as written, with any style', async () => {
    for (const [cell, expected] of [
      ['<c t="s"><v>0</v></c>', '1001.0'],
      ['<c t="s" s="1"><v>1</v></c>', '1001'],
      ['<c t="inlineStr" s="1"><is><t>1E3</t></is></c>', '1E3'],
      ['<c t="inlineStr"><is><r><t>00</t></r><r><t>42</t></r></is></c>', '0042'],
      ['<c t="str" s="1"><v>46327</v></c>', '46327'],
      ['<c t="b"><v>1</v></c>', 'TRUE'],
      ['<c t="e"><v>#REF!</v></c>', '!an error'],
      ['<c><f>1000+1</f><v>1001</v></c>', '!a formula'],
      ['<c t="str"><f>A1</f><v>1001</v></c>', '!a formula'],
      ['<c s="1"><f>TODAY()</f><v>46327</v></c>', '!a formula'],
    ] as const)
      for (const column of ['reference', 'description'] as const)
        assertShown(await cellRead(cell, { column, format: 14 }), expected, `${cell} in ${column}`);
    assert.equal(
      await cellRead('<c t="str" s="1"><v>150000</v></c>', {
        column: 'amount',
        format: '"$"#,##0.00',
      }),
      '150000',
    );
  });

  it('is refused in a format that shows another text, and the message quotes the format', async () => {
    const cell = '<c t="inlineStr" s="1"><is><t>3001112233</t></is></c>';
    const accounting = '_-* #,##0_-;-* #,##0_-;_-* "-"_-;_-@_-';
    for (const column of COLUMNS) {
      for (const format of [
        '"+1 "@',
        '\\+57 @',
        '[$+1]@',
        '@" mil"',
        '@@',
        ';;;',
        '0;0;0;"x"',
        '0;0;0;',
      ])
        assertShown(
          await cellRead(cell, { column, format }),
          `!is "3001112233" in the format "${format}"`,
          `${format} in ${column}`,
        );
      for (const format of [
        accounting,
        '"$"0',
        ';;',
        '[Red]@',
        '@* ',
        '_(@_)',
        '0;0;0;General',
        14,
      ])
        assertShown(
          await cellRead(cell, { column, format }),
          '3001112233',
          `${format} in ${column}`,
        );
    }
  });
});
