import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Account } from '../../src/db/entities/parties.js';
import { parseUuid } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, openBank, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { BatchWorld, batchServiceOf, formOf, UNWATCHED } from './support.js';

/** Files as payroll programs and spreadsheets write them, and what becomes of each. */

const FOLDER = 'test/batches/samples/inputs';
const sample = (name: string): Buffer => readFileSync(`${FOLDER}/${name}`);

/** A problem as `row column code`, and what its message says. */
type Problem = readonly [where: string, message: RegExp];
type Expected = 'ready' | readonly Problem[];

const HEADER = 'recipient,amount,asset,description,reference';
const ROW = '$dora,100000,COPM,Bono,';
const csv = (...lines: readonly string[]): string => [HEADER, ...lines, ''].join('\n');
const semicolons = (...lines: readonly string[]): string =>
  csv(...lines.map((line) => `${line};100000;COPM;x;`)).replaceAll(
    HEADER,
    HEADER.replaceAll(',', ';'),
  );

const NOT_A_PHONE = /nor a phone \(.*without a decimal point\)/;
const badPhone = (row = 2): Problem => [`${row} recipient invalid_field`, NOT_A_PHONE];
const beyond = (value: string, row = 2): Problem => [
  `${row}  invalid_field`,
  new RegExp(
    `row ${row} has "${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}" .*put text that contains the separator in quotation marks`,
  ),
];
const tabs: Problem = [
  '  unreadable_file',
  /separated by tabs: save the file as CSV with commas or semicolons/,
];
const lineBreak = (column: string): Problem => [
  `2 ${column} invalid_field`,
  new RegExp(`^${column} has a line break`),
];
const phone = (written: string): string => csv(`${written},100000,COPM,x,`);

/** The workbook that each producer wrote from the same five rows. */
const PRODUCED: Expected = [
  badPhone(2),
  beyond('una nota', 3),
  ['4 description invalid_field', /^description has a line break/],
  badPhone(5),
];

const VARIANTS: readonly (readonly [title: string, file: string | Buffer, expected: Expected])[] = [
  // Phones
  ['pandas: a phone in a column with an empty cell', sample('phone_dot_zero.csv'), [badPhone()]],
  ['pandas to_csv: a phone without + as a float', phone('573001112236.0'), [badPhone()]],
  ['pandas to_csv: two digits after the point', phone('60123456.75'), [badPhone()]],
  ['Excel in Spanish: a decimal comma between semicolons', semicolons('60123456,75'), [badPhone()]],
  ['Excel: a quoted decimal comma', phone('"60123456,75"'), [badPhone()]],
  ['Excel: an exponent', phone('3.9333E+11'), [badPhone()]],
  ['LibreOffice in Spanish: an exponent with a comma', semicolons('3,9333E+11'), [badPhone()]],
  ['Excel: an exponent without a point', phone('573001112236E0'), [badPhone()]],
  ['Excel: a format with two decimals', phone('+39333123456.00'), [badPhone()]],
  [
    'LibreOffice in Spanish: thousands and decimals',
    semicolons('573.001.112.236,00'),
    [badPhone()],
  ],
  ['Excel in English: thousands and decimals', phone('"573,001,112,236.00"'), [badPhone()]],
  ['Excel: the format "0."', phone('573001112236.'), [badPhone()]],
  ['a space before the point', phone('+39333123456 .0'), [badPhone()]],
  ['full-width digits and point', phone('＋３９３３３１２３４５６．０'), [badPhone()]],
  ['Arabic digits and a point', phone('+٣٩٣٣٣١٢٣٤٥٦.٠'), [badPhone()]],
  ['points between groups of which the last is zero', phone('+39.333.123.456.00'), [badPhone()]],
  [
    'points between groups of which the last has one digit',
    phone('+39.333.123.456.0'),
    [badPhone()],
  ],
  ['points between groups of two or more digits', phone('300.111.22.33'), 'ready'],
  ['points between groups with a country code', phone('+57.300.111.22.33'), 'ready'],
  ['Excel in Spanish: thousands in a phone', semicolons('573.001.112.233'), 'ready'],
  ['spaces, brackets and dashes', phone('+57 (300) 111-22-33'), 'ready'],
  ['Arabic digits', phone('٣٠٠١١١٢٢٣٣'), 'ready'],

  // Rows longer than the header
  ['an unquoted decimal comma in the amount', sample('ragged_1.csv'), [beyond('RG-1')]],
  [
    'an unquoted decimal comma shifts 00 into the reference',
    csv('$dora,1500000,00,COPM,Bono,R-1').replace(
      HEADER,
      'recipient,amount,reference,asset,description',
    ),
    [beyond('R-1')],
  ],
  [
    'an unquoted thousands separator',
    'recipient,asset,amount\n$dora,COPM,100,000\n',
    [beyond('000'), ['2 amount below_minimum', /minimum/]],
  ],
  [
    'an unquoted comma in the description',
    'recipient,amount,asset,description\n$dora,100000,COPM,Pago, noviembre\n',
    [beyond(' noviembre')],
  ],
  [
    'an unquoted semicolon in the description',
    'recipient;amount;asset;description\n$dora;100000;COPM;Pago;noviembre\n',
    [beyond('noviembre')],
  ],
  ['CRLF line ends', csv(`${ROW},x`).replaceAll('\n', '\r\n'), [beyond('x')]],
  ['CR line ends', csv(`${ROW},x`).replaceAll('\n', '\r'), [beyond('x')]],
  ['a byte order mark', `\ufeff${csv(`${ROW},x`)}`, [beyond('x')]],
  ['no line end after the last row', csv(`${ROW},x`).trimEnd(), [beyond('x')]],
  ['a quoted value beyond the header', csv(`${ROW},"x"`), [beyond('x')]],
  [
    'quoted names in the header',
    `"recipient","amount","asset"\n$dora,100000,COPM,x\n`,
    [beyond('x')],
  ],
  ['a blank before the value', csv(`${ROW}, ,x`), [beyond('x')]],
  [
    'blanks at the end of the header',
    `recipient,amount,asset,, \n$dora,100000,COPM,,x\n`,
    [beyond('x')],
  ],
  [
    'a value in a row that is otherwise empty',
    csv(ROW, ',,,,,x'),
    [
      beyond('x', 3),
      ...['recipient', 'amount', 'asset'].map((column): Problem => [
        `3 ${column} missing_field`,
        /empty/,
      ]),
    ],
  ],
  ['blank lines before the row', csv('', '', `${ROW},x`), [beyond('x', 4)]],
  ['several such rows', csv(`${ROW},x`, ROW, `${ROW},y`), [beyond('x'), beyond('y', 4)]],
  ['a formula beyond the header', csv(`${ROW},=1+1`), [beyond('=1+1')]],
  ['a sep= line before', `sep=;\n${csv(`${ROW},x`).replaceAll(',', ';')}`, [beyond('x')]],
  ['blank values after the header', csv(`${ROW},,,`), 'ready'],
  ['spaces after the header', csv(`${ROW}, ,\t, `), 'ready'],
  ['quoted blanks after the header', csv(`${ROW},""," "`), 'ready'],
  ['a quoted comma', csv('$dora,100000,COPM,"Pago, noviembre",'), 'ready'],
  [
    'a value under a column that the service ignores',
    'recipient,amount,asset,note\n$dora,100000,COPM,x\n',
    'ready',
  ],
  ['UTF-16', Buffer.from(`\ufeff${csv(`${ROW},x`)}`, 'utf16le'), [['  bad_encoding', /not UTF-8/]]],
  [
    'more than 100 columns',
    csv(`${ROW}${',x'.repeat(100)}`),
    [['  too_many_columns', /row 2 has more than 100 columns/]],
  ],

  // All three in workbooks
  ...['openpyxl', 'xlsxwriter', 'pandas', 'sheetjs', 'exceljs', 'libreoffice'].map(
    (producer) =>
      [
        `${producer}: phones, a cell under no header and a line break`,
        sample(`${producer}.xlsx`),
        PRODUCED,
      ] as const,
  ),

  // What the file is
  ['Excel: a sep=; line', sample('sep_line.csv'), 'ready'],
  ...['SEP=;\n', '"sep=;"\r\n', 'sep=;;;;;\n', '\ufeffsep=;\n', 'Sep=; \r'].map(
    (line) =>
      [
        `the first line ${JSON.stringify(line)}`,
        `${line}${csv(ROW).replaceAll(',', ';')}`,
        'ready',
      ] as const,
  ),
  ['a sep=, line', `sep=,\n${csv(ROW)}`, 'ready'],
  ['a sep= line without a separator', `sep=\n${csv(ROW)}`, 'ready'],
  [
    'a sep=; line before commas',
    `sep=;\n${csv(ROW)}`,
    [
      ['1 recipient missing_column', /"recipient,amount,ass…"|has "recipient/],
      ['1 amount missing_column', /./],
      ['1 asset missing_column', /./],
    ],
  ],
  ['a sep= line that names a tab', `sep=\t\n${csv(ROW).replaceAll(',', '\t')}`, [tabs]],
  [
    'a sep=| line',
    `sep=|\n${csv(ROW).replaceAll(',', '|')}`,
    [['  unreadable_file', /separated by vertical bars \(\|\)/]],
  ],
  ['LibreOffice: tabs', sample('libreoffice-tabs.csv'), [tabs]],
  ['tabs and quotation marks', sample('tsv_quoted.csv'), [tabs]],
  ['pandas to_csv with sep="\\t"', csv(ROW).replaceAll(',', '\t'), [tabs]],
  ['Google Sheets: TSV with CRLF', csv(ROW).replaceAll(',', '\t').replaceAll('\n', '\r\n'), [tabs]],
  ['a comma in a value between tabs', 'recipient\tamount\tasset\n"$dora"\t100,000\tCOPM\n', [tabs]],
  [
    'vertical bars',
    csv(ROW).replaceAll(',', '|'),
    [['  unreadable_file', /separated by vertical bars/]],
  ],
  [
    'SheetJS: Unicode text with tabs',
    sample('sheetjs-unicode.txt'),
    [['  bad_encoding', /not UTF-8/]],
  ],
  ['Excel: Alt+Enter in a description', sample('alt-enter_desc.xlsx'), [lineBreak('description')]],
  [
    'a line break in a description',
    csv('$dora,100000,COPM,"one\ntwo",'),
    [lineBreak('description')],
  ],
  [
    'a line break of Windows in a description',
    csv('$dora,100000,COPM,"one\r\ntwo",'),
    [lineBreak('description')],
  ],
  [
    'a line break of an old Mac in a description',
    csv('$dora,100000,COPM,"one\rtwo",'),
    [lineBreak('description')],
  ],
  [
    'a line separator in a description',
    csv('$dora,100000,COPM,one\u2028two,'),
    [lineBreak('description')],
  ],
  ['a line break in a reference', csv('$dora,100000,COPM,x,"R\n1"'), [lineBreak('reference')]],
  ['a line break in a recipient', csv('"$do\nra",100000,COPM,x,'), [lineBreak('recipient')]],
  ['a line break in an amount', csv('$dora,"100\n000",COPM,x,'), [lineBreak('amount')]],
  ['a line break in an asset', csv('$dora,100000,"CO\nPM",x,'), [lineBreak('asset')]],
  ['a line break after a value', csv('"$dora\n",100000,COPM,x,'), 'ready'],
];

/** Files that are not stored, and what the answer says that they are. */
const REFUSED: readonly (readonly [title: string, file: string | Buffer, what: RegExp])[] = [
  ['HTML', sample('html_table_named_xls.csv'), /an HTML page/],
  ['LibreOffice: HTML', sample('libreoffice-html.xls'), /an HTML page/],
  ['SheetJS: HTML', sample('sheetjs-html.xls'), /an HTML page/],
  ['pandas: HTML', sample('pandas-html.xls'), /an HTML page/],
  ['HTML after white space and a byte order mark', '\ufeff\r\n\t<HTML>', /an HTML page/],
  ['HTML that begins with another element', '<center><table><tr><td>recipient', /an HTML page/],
  [
    'XML of a workbook without a declaration',
    '<Workbook xmlns="urn:x"><Worksheet><Table>',
    /an XML document/,
  ],
  [
    '.xls of Excel 97 without its container',
    Buffer.from('0908100000060500bb0dcc07', 'hex'),
    /an old Excel workbook \(\.xls\)/,
  ],
  ['HTML in UTF-16', Buffer.from('\ufeff<html>', 'utf16le'), /an HTML page/],
  ['SheetJS: XML of Excel 2003', sample('sheetjs-2003.xls'), /an XML document/],
  ['SheetJS: flat OpenDocument', sample('sheetjs.fods'), /an XML document/],
  [
    'Excel: a web archive',
    'MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\n',
    /a web archive/,
  ],
  ['LibreOffice: .xls', sample('libreoffice.xls'), /an old Excel workbook \(\.xls\)/],
  ['xlwt: .xls', sample('xlwt.xls'), /an old Excel workbook \(\.xls\)/],
  ['SheetJS: .xls', sample('sheetjs.xls'), /an old Excel workbook \(\.xls\)/],
  ['SheetJS: .xls of Excel 5', sample('sheetjs-5.xls'), /an old Excel workbook \(\.xls\)/],
  ['SheetJS: .xls of Excel 2', sample('sheetjs-2.xls'), /an old Excel workbook \(\.xls\)/],
  [
    'a workbook with a password',
    Buffer.concat([
      sample('xlwt.xls').subarray(0, 512),
      Buffer.from('EncryptedPackage', 'utf16le'),
    ]),
    /protected by a password/,
  ],
  ['LibreOffice: .ods', sample('libreoffice.ods'), /an OpenDocument file \(\.ods\)/],
  ['pandas: .ods', sample('pandas.ods'), /an OpenDocument file \(\.ods\)/],
  ['SheetJS: .xlsb', sample('sheetjs.xlsb'), /a binary workbook \(\.xlsb\)/],
  ['a PDF', '%PDF-1.7\n', /a PDF/],
  ['nothing', '', /empty/],
];

const db = await testDatabase();

describe('a payroll file as programs write it', () => {
  let world: BatchWorld;
  let source: Account;

  before(async () => {
    world = await BatchWorld.open(db);
    source = await world.account({ alias: '$payroll' });
    await world.account({ alias: '$dora', phone: '+573001112233' });
    // Strangers, whom a misread decimal would pay.
    for (const stranger of ['+393331234560', '+576012345675', '+5730011122360'])
      await world.account({ phone: stranger });
  });

  for (const [title, file, expected] of VARIANTS)
    it(`a payroll file as programs write it: ${title}: is ${expected === 'ready' ? 'ready' : `rejected with ${expected.map(([where]) => where.trim()).join(', ')}`}`, async () => {
      const { id } = await world.uploaded(source, Buffer.from(file));
      const batch = await batchServiceOf(world.deps).validate(id, UNWATCHED);
      const problems = await world.problems(id);
      const found = problems.map(
        ({ number, field, code }) => `${number === 0 ? '' : number} ${field} ${code}`,
      );
      if (expected === 'ready') return assert.deepEqual([batch.status, found], ['ready', []]);
      assert.deepEqual(
        found,
        expected.map(([where]) => where),
      );
      expected.forEach(([, message], index) => assert.match(problems[index]!.message, message));
      assert.equal(batch.status, 'rejected');
    });
});

describe('the upload of a file that is not a spreadsheet that the service reads', () => {
  let api: TestApi;
  let bank: Bank;
  let source: Account;

  before(async () => {
    api = await startTestApi(await testDatabase());
    bank = await openBank(api);
    source = await bank.account();
  });

  const upload = (file: string | Buffer, name: string) =>
    bank.request('POST', '/v1/bonus_batches', {
      form: formOf(Buffer.from(file), { source_account: source.id }, { name }),
    });

  for (const [title, file, what] of REFUSED)
    it(`the upload of a file that is not a spreadsheet that the service reads: ${title}: is 400 not_a_spreadsheet, and the message says what it is`, async () => {
      for (const name of ['payroll.xls', 'payroll.csv']) {
        const { details, json } = answered(await upload(file, name), 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], ['file', 'not_a_spreadsheet']);
        assert.match(JSON.stringify(json), what);
      }
    });

  it('the upload of a file that is not a spreadsheet that the service reads accepts a CSV, whatever its name', async () => {
    const { json } = answered(await upload(csv(ROW), 'payroll.xls'), 201);
    assert.ok(parseUuid(text(json.id)));
  });
});
