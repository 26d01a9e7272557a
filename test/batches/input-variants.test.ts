import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, type Bank, list, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
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
const phone = (written: string): string => csv(`${written},100000,COPM,x,`);

/** The workbook that each producer wrote from the same five rows. */
const PRODUCED: Expected = [
  badPhone(2),
  beyond('una nota', 3),
  ['4 description invalid_field', /^description has a line break/],
  badPhone(5),
];
const lineBreakIn = (column: string, row: string): [string, string, Expected] => [
  ...([`a line break in ${column}`, csv(row)] as const),
  [[`2 ${column} invalid_field`, new RegExp(`^${column} has a line break`)]],
];
const inTabs = csv(ROW).replaceAll(',', '\t');
const inBars = csv(ROW).replaceAll(',', '|');
const inSemicolons = csv(ROW).replaceAll(',', ';');
const bars: Problem = ['  unreadable_file', /separated by vertical bars \(\|\)/];
const notUtf8: Problem = ['  bad_encoding', /not UTF-8/];
const missing = (row: number, code: string): Problem[] =>
  ['recipient', 'amount', 'asset'].map((column) => [`${row} ${column} ${code}`, /./]);
const FEW = 'recipient,amount,asset,note\n';

/** Quotation marks that hide rows, and the rows that are named for it. */
const IGNORED: readonly (readonly [title: string, file: string, ...rows: readonly string[]])[] = [
  [
    'a quotation mark that swallows two people',
    `recipient,amount,asset,reference,notes\n$dora,150000,COPM,N-1,"first half\n$dora,175000,COPM,N-2,\n$dora,160000,COPM,N-3,second half"\n$dora,110000,COPM,N-4,\n`,
    '2  invalid_field',
  ],
  [
    'a quotation mark that swallows whole lines',
    `${FEW}$dora,100000,COPM,"\n$dora,100000,COPM,"\n$dora,100000,COPM,x\n`,
    '2  invalid_field',
  ],
  ['a line break', `${FEW}$dora,100000,COPM,"a\nb"\n`, '2  invalid_field'],
  ['a line break at the end', `${FEW}$dora,100000,COPM,"a\n"\n`, '2  invalid_field'],
  ['nothing but a line break', `${FEW}$dora,100000,COPM,"\n"\n`, '2  invalid_field'],
  ['a carriage return', `${FEW}$dora,100000,COPM,"a\rb"\n`, '2  invalid_field'],
  [
    'CRLF',
    `${FEW}$dora,100000,COPM,"a\r\nb"\n`.replace(/([^\r])\n/g, '$1\r\n'),
    '2  invalid_field',
  ],
  ['a formula with a line break', `${FEW}$dora,100000,COPM,"=1\n+1"\n`, '2  invalid_field'],
  [
    'line breaks in two rows',
    `${FEW}$dora,100000,COPM,"a\nb"\n$dora,100000,COPM,x\n$dora,100000,COPM,"c\nd"\n`,
    '2  invalid_field',
    '4  invalid_field',
  ],
  [
    'a line break beyond 2,048 characters',
    `${FEW}$dora,100000,COPM,"${'x'.repeat(3000)}\n$dora,100000,COPM,"\n`,
    '2  invalid_field',
  ],
];

const RESULT = 'row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at';
const BONUS = '01a2257a-86ef-7241-8bc9-41ba9d4c73af';
const result = (...lines: readonly string[]): string => [RESULT, ...lines, ''].join('\n');
const PAID = `2,R-1,$dora,150000,COPM,paid,${BONUS},150,,,2026-11-29T04:05:16.652Z`;
const FAILED = '3,R-2,$dora,175000,COPM,failed,,,insufficient_funds,not enough,';
const alreadyPaid = (row: number): Problem => [
  `${row} status already_paid`,
  /^row \d has the status "paid", .*Remove the row/,
];
const inAnyCase = result(PAID).replace('status', ' Status ').replace('bonus_id', 'BONUS_ID');

/** Result files that are uploaded again. */
const RESULTS: readonly (readonly [title: string, file: string | Buffer, expected: Expected])[] = [
  ['a paid row', result(PAID), [alreadyPaid(2)]],
  ['paid rows', result(PAID, PAID.replace('R-1', 'R-3')), [alreadyPaid(2), alreadyPaid(3)]],
  ['failed rows', result(FAILED), 'ready'],
  ['paid and failed rows', result(FAILED, PAID), [alreadyPaid(3)]],
  ['the paid rows removed', result(FAILED, FAILED.replace('R-2', 'R-4')), 'ready'],
  ['Excel in Spanish, semicolons', `\ufeff${result(PAID).replaceAll(',', ';')}`, [alreadyPaid(2)]],
  ['headers in any case', inAnyCase, [alreadyPaid(2)]],
  ['a status in any case', result(PAID.replace('paid,', ' PAID ,')), [alreadyPaid(2)]],
  ['a bonus_id that is empty', result(PAID.replace(BONUS, '')), [alreadyPaid(2)]],
  [
    'columns in another order',
    `bonus_id,status,asset,amount,recipient\n${BONUS},paid,COPM,150000,$dora\n`,
    [alreadyPaid(2)],
  ],
  [
    'a paid row with another problem',
    result(PAID.replace('$dora', '$nobody')),
    [alreadyPaid(2), ['2 recipient not_found', /./]],
  ],
  [
    'two columns status',
    `${result(`${PAID},x`).replace(RESULT, `${RESULT},status`)}`,
    [alreadyPaid(2)],
  ],
  ['without bonus_id', 'recipient,amount,asset,status\n$dora,150000,COPM,paid\n', 'ready'],
  ['without status', `recipient,amount,asset,bonus_id\n$dora,150000,COPM,${BONUS}\n`, 'ready'],
  ['another status', result(PAID.replace('paid,', 'pending,')), 'ready'],
];

const VARIANTS: readonly (readonly [title: string, file: string | Buffer, expected: Expected])[] = [
  ['pandas: a phone in a column with an empty cell', sample('phone_dot_zero.csv'), [badPhone()]],
  ['pandas to_csv: a phone without + as a float', phone('573001112236.0'), [badPhone()]],
  ['Excel in Spanish: a decimal comma between semicolons', semicolons('60123456,75'), [badPhone()]],
  ['Excel: an exponent', phone('3.9333E+11'), [badPhone()]],
  ['LibreOffice in Spanish: an exponent with a comma', semicolons('3,9333E+11'), [badPhone()]],
  ['points between groups of two or more digits', phone('300.111.22.33'), 'ready'],
  ['Excel in Spanish: thousands in a phone', semicolons('573.001.112.233'), 'ready'],
  ['Arabic digits', phone('٣٠٠١١١٢٢٣٣'), 'ready'],

  // Rows longer than the header
  ['an unquoted decimal comma in the amount', sample('ragged_1.csv'), [beyond('RG-1')]],
  ['an unquoted comma', `${FEW}$dora,100000,COPM,Pago, noviembre\n`, [beyond(' noviembre')]],
  ['CRLF line ends', csv(`${ROW},x`).replaceAll('\n', '\r\n'), [beyond('x')]],
  [
    'only a value beyond the header',
    csv(ROW, ',,,,,x'),
    [beyond('x', 3), ...missing(3, 'missing_field')],
  ],
  ['blank lines before the row', csv('', '', `${ROW},x`), [beyond('x', 4)]],
  [
    'several rows with a value beyond the header',
    csv(`${ROW},x`, ROW, `${ROW},y`),
    [beyond('x'), beyond('y', 4)],
  ],
  ['a formula beyond the header', csv(`${ROW},=1+1`), [beyond('=1+1')]],
  ['blank values after the header', csv(`${ROW},,,`), 'ready'],
  ['quoted blanks after the header', csv(`${ROW},""," "`), 'ready'],
  ['a quoted comma', csv('$dora,100000,COPM,"Pago, noviembre",'), 'ready'],
  ['a value under a column that is ignored', `${FEW}$dora,100000,COPM,x\n`, 'ready'],
  [
    '100 columns more',
    csv(`${ROW}${',x'.repeat(100)}`),
    [['  too_many_columns', /row 2 has more/]],
  ],

  // All three in workbooks
  ...['openpyxl', 'xlsxwriter', 'pandas', 'sheetjs', 'exceljs', 'libreoffice'].map(
    (by) => [`${by}: phones, more cells, line breaks`, sample(`${by}.xlsx`), PRODUCED] as const,
  ),

  ...RESULTS.map(([title, file, expected]) => [`a result: ${title}`, file, expected] as const),

  // What the file is
  ['Excel: a sep=; line', sample('sep_line.csv'), 'ready'],
  ...['SEP=;\n', '"sep=;"\r\n', 'sep=;;;;;\n', '\ufeffsep=;\n', 'Sep=; \r'].map(
    (line) => [`a line ${JSON.stringify(line)}`, `${line}${inSemicolons}`, 'ready'] as const,
  ),
  ['a sep=, line', `sep=,\n${csv(ROW)}`, 'ready'],
  ['a sep= line without a separator', `sep=\n${csv(ROW)}`, 'ready'],
  ['a sep=; line before commas', `sep=;\n${csv(ROW)}`, missing(1, 'missing_column')],
  ['a sep= line that names a tab', `sep=\t\n${inTabs}`, [tabs]],
  ['a sep=| line', `sep=|\n${inBars}`, [bars]],
  ['LibreOffice: tabs', sample('libreoffice-tabs.csv'), [tabs]],
  ['pandas to_csv with sep="\\t"', inTabs, [tabs]],
  ['vertical bars', inBars, [bars]],
  ['UTF-16', Buffer.from(`\ufeff${csv(ROW)}`, 'utf16le'), [notUtf8]],
  ['SheetJS: Unicode text with tabs', sample('sheetjs-unicode.txt'), [notUtf8]],
  lineBreakIn('description', '$dora,100000,COPM,"one\ntwo",'),
  lineBreakIn('reference', '$dora,100000,COPM,x,"R\n1"'),
  lineBreakIn('recipient', '"$do\nra",100000,COPM,x,'),
  lineBreakIn('amount', '$dora,"100\n000",COPM,x,'),
  lineBreakIn('asset', '$dora,100000,"CO\nPM",x,'),
  lineBreakIn('recipient', '"$dora\n",100000,COPM,x,'),
  lineBreakIn('recipient', '"\r$dora",100000,COPM,x,'),
  lineBreakIn('reference', '$dora,100000,COPM,x,"\n"'),
  lineBreakIn('description', `$dora,100000,COPM,"${'x'.repeat(3000)}\n",`),
  ...IGNORED.map(
    ([title, file, ...rows]) =>
      [
        `${title} in a column that is ignored`,
        file,
        rows.map((where): Problem => [where, /line break in column [45], .*quotation mark/]),
      ] as const,
  ),
  [
    'a line break in a row of nothing else',
    `${FEW},,,"a\nb"\n`,
    [['2  invalid_field', /line break in column 4/], ...missing(2, 'missing_field')],
  ],
  [
    'a line break beyond the header',
    `${FEW}$dora,100000,COPM,x,"a\nb"\n`,
    [['2  invalid_field', /in column 5, but the header has 4/]],
  ],
  [
    'nothing but a line break beyond the header',
    `${FEW}$dora,100000,COPM,x,"\n"\n`,
    [['2  invalid_field', /in column 5, but the header has 4/]],
  ],
  [
    'a line break in the header',
    `recipient,amount,asset,"note\n$dora,100000,COPM,x\n"\n$dora,100000,COPM,x\n`,
    [['1  invalid_field', /line break in column 4/]],
  ],
  [
    'a line break in a known column of the header',
    `recipient,"amount\n",asset\n$dora,100000,COPM\n`,
    [['1 amount invalid_field', /line break in column 2/]],
  ],
];

const HTML = /an HTML page/;
const XML = /an XML document/;
const XLS = /an old Excel workbook \(\.xls\)/;
const LOCKED = Buffer.from('EncryptedPackage', 'utf16le');

/** Files that are not stored, and what the answer says that they are. */
const REFUSED: readonly (readonly [title: string, file: string | Buffer, what: RegExp])[] = [
  ['HTML', sample('html_table_named_xls.csv'), HTML],
  ['LibreOffice: HTML', sample('libreoffice-html.xls'), HTML],
  ['HTML after white space and a byte order mark', '\ufeff\r\n\t<HTML>', HTML],
  ['HTML that begins with another element', '<center><table><tr><td>recipient', HTML],
  ['a workbook without a declaration', '<Workbook xmlns="urn:x"><Worksheet><Table>', XML],
  ['.xls without its container', Buffer.from('0908100000060500bb0dcc07', 'hex'), XLS],
  ['SheetJS: XML of Excel 2003', sample('sheetjs-2003.xls'), XML],
  ['SheetJS: flat OpenDocument', sample('sheetjs.fods'), XML],
  [
    'Excel: a web archive',
    'MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n',
    /web archive/,
  ],
  ['LibreOffice: .xls', sample('libreoffice.xls'), XLS],
  ['xlwt: .xls', sample('xlwt.xls'), XLS],
  ['SheetJS: .xls', sample('sheetjs.xls'), XLS],
  ['SheetJS: .xls of Excel 5', sample('sheetjs-5.xls'), XLS],
  ['a password', Buffer.concat([sample('xlwt.xls').subarray(0, 512), LOCKED]), /by a password/],
  ['LibreOffice: .ods', sample('libreoffice.ods'), /an OpenDocument file \(\.ods\)/],
  ['SheetJS: .xlsb', sample('sheetjs.xlsb'), /a binary workbook \(\.xlsb\)/],
  ['a PDF', '%PDF-1.7\n', /a PDF/],
  ['an empty file', '', /empty/],
];

const db = await testDatabase();

describe('a payroll file written by a common program', () => {
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
    it(`a payroll file (${title}) is ${expected === 'ready' ? 'ready' : `rejected with ${expected.map(([where]) => where.trim()).join(', ')}`}`, async () => {
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

  const key = randomUUID();
  const upload = (file: string | Buffer, name: string) =>
    bank.request('POST', '/v1/bonus_batches', {
      form: formOf(Buffer.from(file), { source_account: source.id }, { name }),
      key,
    });

  for (const [title, file, what] of REFUSED)
    it(`the upload of ${title} is 400 not_a_spreadsheet, and the message names the format`, async () => {
      for (const name of ['payroll.xls', 'payroll.csv']) {
        const { details, json } = answered(await upload(file, name), 400, 'invalid_field');
        assert.deepEqual([details?.field, details?.reason], ['file', 'not_a_spreadsheet']);
        assert.match(JSON.stringify(json), what);
      }
    });

  it('an upload that is refused leaves its key free and no batch; a CSV file is accepted under any file name', async () => {
    const { json } = answered(await upload(csv(ROW), 'payroll.xls'), 201);
    const { items } = answered(await bank.get('/v1/bonus_batches'), 200).json;
    assert.deepEqual(
      list(items).map(({ id }) => id),
      [json.id],
    );
  });
});
