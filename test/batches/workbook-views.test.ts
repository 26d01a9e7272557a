import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { testDatabase } from '../helpers/database.js';
import { MAIN, relsXml, workbook, xml } from '../spreadsheets/workbooks.js';
import { BatchWorld, batchServiceOf, UNWATCHED } from './support.js';

/** The parts of a workbook that a person does not see: hidden columns, and sheets that are not read. */

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const rowXml = (cells: readonly string[], attributes = ''): string =>
  `<row ${attributes}>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
const COLUMNS = ['recipient', 'amount', 'asset', 'description', 'reference', 'note'];
const PAYROLL = rowXml(COLUMNS) + rowXml(['$dora', '150000', 'COPM', 'x', 'R-1', 'a']);
const sheetOf = (rows: string, before = ''): string =>
  xml(`<worksheet xmlns="${MAIN}">${before}<sheetData>${rows}</sheetData></worksheet>`);

interface View {
  readonly columns?: readonly string[];
  readonly skipped?: number;
  readonly unread?: readonly string[];
  /** Texts of the message of `ambiguous_sheet`, which is the only problem. */
  readonly ambiguous?: readonly string[];
  /** Codes of the problems; [] if the batch is ready. */
  readonly problems?: readonly string[];
}

type Variant = readonly [title: string, file: Buffer, view: View];

const columnsVariant = (title: string, before: string, ...columns: readonly string[]): Variant => [
  title,
  workbook(sheetOf(PAYROLL, before)),
  { columns },
];
const cols = (...attributes: readonly string[]): string =>
  `<cols>${attributes.map((one) => `<col ${one}/>`).join('')}</cols>`;
const WIDE = 'width="9.14"';

const HIDDEN_COLUMNS: readonly Variant[] = [
  columnsVariant('no column', ''),
  columnsVariant(
    'Excel: hidden',
    cols('min="2" max="2" width="0" hidden="1" customWidth="1"'),
    'amount',
  ),
  columnsVariant(
    'openpyxl: hidden',
    cols('hidden="1" width="13" customWidth="1" min="2" max="2"'),
    'amount',
  ),
  columnsVariant(
    'SheetJS: hidden',
    cols('min="1" max="1"', 'min="2" max="2" hidden="true"'),
    'amount',
  ),
  columnsVariant(
    'LibreOffice: hidden',
    cols(
      'collapsed="false" customWidth="false" hidden="false" outlineLevel="0" max="1" min="1" style="0" width="11.53"',
      'collapsed="false" customWidth="false" hidden="true" outlineLevel="0" max="2" min="2" style="0" width="11.53"',
      'collapsed="false" customWidth="false" hidden="false" outlineLevel="0" max="16384" min="3" style="0" width="11.53"',
    ),
    'amount',
  ),
  columnsVariant('width 0', cols('min="2" max="2" width="0" customWidth="1"'), 'amount'),
  columnsVariant(
    'less than a pixel',
    cols('min="5" max="5" width="0.02" customWidth="1"'),
    'reference',
  ),
  columnsVariant('narrow', cols('min="2" max="2" width="0.83" customWidth="1"')),
  columnsVariant('a customWidth alone', cols('min="2" max="2" customWidth="1"')),
  columnsVariant(
    'grouped and collapsed',
    cols(
      `min="4" max="5" ${WIDE} hidden="1" outlineLevel="1"`,
      `min="6" max="6" ${WIDE} collapsed="1"`,
    ),
    ...['description', 'reference'],
  ),
  columnsVariant('grouped and not collapsed', cols(`min="4" max="5" ${WIDE} outlineLevel="1"`)),
  columnsVariant(
    'a range of all columns',
    cols(`min="1" max="16384" ${WIDE} hidden="1"`),
    ...COLUMNS.slice(0, 5),
  ),
  columnsVariant('a column that is ignored', cols(`min="6" max="6" ${WIDE} hidden="1"`)),
  columnsVariant('columns without content', cols(`min="7" max="16384" ${WIDE} hidden="1"`)),
  columnsVariant(
    'several lists',
    cols(`min="1" max="1" ${WIDE}`) + cols(`min="2" max="2" ${WIDE} hidden="1"`),
    'amount',
  ),
  columnsVariant(
    'described twice',
    cols(`min="2" max="2" ${WIDE} hidden="1"`, `min="2" max="2" ${WIDE}`),
    'amount',
  ),
  columnsVariant(
    'hidden by default',
    '<sheetFormatPr defaultColWidth="0"/>',
    ...COLUMNS.slice(0, 5),
  ),
  columnsVariant(
    'hidden by default but for two',
    `<sheetFormatPr defaultColWidth="0"/>${cols(`min="1" max="2" ${WIDE}`)}`,
    ...['asset', 'description', 'reference'],
  ),
  columnsVariant('rows without content hidden by default', '<sheetFormatPr zeroHeight="1"/>'),
  columnsVariant('attributes that are no numbers', cols('min="x" max="-1" width="y" hidden="1"')),
  [
    'a header that is written otherwise',
    workbook(
      sheetOf(PAYROLL.replace('amount', ' AMOUNT '), cols(`min="2" max="2" ${WIDE} hidden="1"`)),
    ),
    { columns: ['amount'] },
  ],
  [
    'a hidden column of a file that is refused',
    workbook(sheetOf(PAYROLL.replace('150000', '1.5'), cols(`min="2" max="2" ${WIDE} hidden="1"`))),
    { columns: ['amount'], problems: ['invalid_field'] },
  ],
  [
    'columns after the cells, where no program has them',
    workbook(
      sheetOf(PAYROLL).replace('</worksheet>', `${cols('min="2" max="2" hidden="1"')}</worksheet>`),
    ),
    { problems: ['unreadable_file'] },
  ],
];

interface Sheet {
  readonly name: string;
  readonly rows: string;
  readonly state?: 'visible' | 'hidden' | 'veryHidden';
}

function sheetsVariant(
  title: string,
  sheets: readonly Sheet[],
  view: View,
  activeTab = 0,
): Variant {
  const list = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${name}" sheetId="${at + 1}" ${state === undefined ? '' : `state="${state}"`} r:id="rId${at}"/>`,
  );
  const parts = sheets.map(({ rows }, at) => [`xl/worksheets/s${at}.xml`, sheetOf(rows)] as const);
  return [
    title,
    workbook('', {
      'xl/workbook.xml': xml(
        `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><bookViews><workbookView activeTab="${activeTab}"/></bookViews><sheets>${list.join('')}</sheets></workbook>`,
      ),
      'xl/_rels/workbook.xml.rels': relsXml(
        ...sheets.map((_, at) => [`rId${at}`, 'worksheet', `worksheets/s${at}.xml`] as const),
      ),
      ...Object.fromEntries(parts),
    }),
    view,
  ];
}

const paid: Sheet = { name: 'Octubre', rows: PAYROLL };
const other = (name: string, rows: string, state?: Sheet['state']): Sheet => ({
  name,
  rows,
  ...(state !== undefined && { state }),
});
const BOTH = ['"Octubre"', '"Noviembre"'];
const november = (rows = PAYROLL): Sheet => other('Noviembre', rows);
const twice: View = { unread: ['Noviembre'], ambiguous: BOTH };
const once: View = { unread: ['Noviembre'] };
const BLANK = '<row r="1"><c r="A1" s="1"/></row><row r="2"/>';

const SHEETS: readonly Variant[] = [
  sheetsVariant('one sheet', [paid], {}),
  sheetsVariant('a second payroll', [paid, november()], twice),
  sheetsVariant('a second payroll on the active tab', [paid, november()], twice, 1),
  sheetsVariant('notes on the active tab', [paid, november(rowXml(['Ojo']))], once, 1),
  sheetsVariant('a second payroll, hidden', [paid, other('N', PAYROLL, 'hidden')], {}),
  sheetsVariant('a second payroll, very hidden', [paid, other('N', PAYROLL, 'veryHidden')], {}),
  sheetsVariant('a hidden payroll before', [other('N', PAYROLL, 'hidden'), paid], { skipped: 1 }),
  sheetsVariant(
    'empty sheets',
    [paid, other('a', ''), other('b', BLANK), other('c', rowXml([' ']))],
    {},
  ),
  sheetsVariant('an empty sheet before', [other('Vacía', ''), november()], {
    unread: ['Noviembre'],
    ambiguous: ['"Vacía"', '"Noviembre"'],
  }),
  sheetsVariant('notes before', [other('Notas', rowXml(['Ojo'])), november()], {
    unread: ['Noviembre'],
    problems: ['missing_column', 'missing_column', 'missing_column', 'ambiguous_sheet'],
  }),
  sheetsVariant('a header alone', [paid, november(rowXml(COLUMNS))], once),
  sheetsVariant(
    'a header and blank rows',
    [paid, november(`${rowXml(COLUMNS)}${rowXml([' ', ''])}`)],
    once,
  ),
  sheetsVariant(
    'blank rows before the header',
    [paid, november(`${BLANK}${PAYROLL.replaceAll('<row ', '<row ')}`)],
    twice,
  ),
  sheetsVariant(
    'headers in any case',
    [paid, november(PAYROLL.replace('recipient', ' Recipient ').replace('amount', 'AMOUNT'))],
    twice,
  ),
  sheetsVariant(
    'recipient and amount alone',
    [paid, november(rowXml(['amount', 'recipient']) + rowXml(['1', '$x']))],
    twice,
  ),
  sheetsVariant('no recipient', [paid, november(PAYROLL.replace('recipient', 'person'))], once),
  sheetsVariant('no amount', [paid, november(PAYROLL.replace('amount', 'amount (raw)'))], once),
  sheetsVariant(
    'a hidden row',
    [paid, november(rowXml(COLUMNS) + rowXml(['$dora', '1'], 'hidden="1"'))],
    twice,
  ),
  sheetsVariant('three payrolls', [paid, november(), other('Diciembre', PAYROLL)], {
    unread: ['Noviembre', 'Diciembre'],
    ambiguous: [...BOTH, '"Diciembre"'],
  }),
  sheetsVariant(
    'two of notes',
    [paid, other('Notas', rowXml(['x'])), other('Más', rowXml(['', 'y']))],
    { unread: ['Notas', 'Más'] },
  ),
  sheetsVariant('all hidden', [{ ...paid, state: 'hidden' }, other('N', PAYROLL, 'hidden')], {}),
  sheetsVariant(
    'a broken second sheet',
    [paid, november('<row><c t="s"><v>9</v></c></row>')],
    once,
  ),
  sheetsVariant(
    'a second sheet of 200 columns',
    [paid, november(rowXml(Array.from({ length: 200 }, () => 'x')))],
    once,
  ),
  sheetsVariant(
    'a name with invisible characters',
    [paid, other('&#x202e;a&amp;b', rowXml(['x']))],
    { unread: ['\\u202ea&b'] },
  ),
  sheetsVariant('a long name', [paid, other('x'.repeat(100), rowXml(['x']))], {
    unread: [`${'x'.repeat(59)}…`],
  }),
  sheetsVariant(
    'a hundred long names with invisible characters',
    [paid, ...Array.from({ length: 100 }, () => other('&#xe0041;'.repeat(60), rowXml(['x'])))],
    { unread: Array.from({ length: 100 }, () => `${'\\udb40\\udc41'.repeat(5).slice(0, 59)}…`) },
  ),
  sheetsVariant(
    'more than a hundred sheets',
    [paid, ...Array.from({ length: 120 }, (_, at) => other(`S${at}`, rowXml(['x'])))],
    { unread: Array.from({ length: 100 }, (_, at) => `S${at}`) },
  ),
];

/** Workbooks with all of it, as programs write them (test/batches/samples/seen/README.md). */
const PRODUCED: readonly Variant[] = ['openpyxl', 'xlsxwriter', 'pandas', 'sheetjs', 'exceljs'].map(
  (by) => [
    by,
    readFileSync(`test/batches/samples/seen/${by}.xlsx`),
    {
      columns: [
        'amount',
        ...(['openpyxl', 'exceljs'].includes(by) ? [] : ['description']),
        'reference',
      ],
      skipped: 2,
      unread: ['Notas', 'Segunda'],
      problems: [
        'ambiguous_sheet',
        'invalid_field',
        'invalid_field',
        'invalid_field',
        'already_paid',
      ],
    },
  ],
);

const db = await testDatabase();
const world = await BatchWorld.open(db);
const source = await world.account({ alias: '$payroll' });
await world.account({ alias: '$dora' });

describe('what a person sees of a workbook', () => {
  const rule: Readonly<Record<string, readonly Variant[]>> = {
    'hidden columns that are read are named': HIDDEN_COLUMNS,
    'visible sheets that are not read are named, and refused if they could be the payroll': SHEETS,
    'columns, sheets, formats and paid rows are recognised in the file of a program': PRODUCED,
  };
  for (const [title, variants] of Object.entries(rule))
    for (const [name, file, view] of variants)
      it(`${title} (${name})`, async () => {
        const { columns = [], skipped = 0, unread = [], ambiguous } = view;
        const codes = view.problems ?? (ambiguous === undefined ? [] : ['ambiguous_sheet']);
        const { id } = await world.uploaded(source, file);
        await batchServiceOf(world.deps).validate(id, UNWATCHED);
        const batch = await world.batch(id);
        const problems = await world.problems(id);
        assert.deepEqual(problems.map(({ code }) => code).toSorted(), codes.toSorted());
        assert.equal(batch.status, codes.length === 0 ? 'ready' : 'rejected');
        assert.deepEqual(
          [batch.hiddenColumns, batch.skippedSheets, batch.unreadSheets],
          [columns, skipped, unread],
        );
        for (const one of ambiguous ?? []) assert(problems[0]?.message.includes(one), one);
      });
});
