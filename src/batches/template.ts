import type ExcelJS from 'exceljs';
import { ASSET_NAMES, ASSETS } from '../core/amount.js';
import { EXAMPLE_AMOUNTS, EXAMPLE_RAW, MAX_ROWS } from './rules.js';
import { csvOf, HEADER_STYLE, FROZEN_HEADER, xlsxText } from '../spreadsheets/writing/cells.js';
import type { SheetKind, TemplateColumn } from './validation/sheet-kind.js';

/** The header, and the most rows that a file may have. */
const LAST_ROW = 1 + MAX_ROWS;
/** Returns the columns that follow those of the recipient. (docs/contract.md, Upload) */
export function paymentColumns(text: {
  readonly description: string;
  readonly readBy: string;
  readonly reference: string;
}): readonly TemplateColumn[] {
  return [
    {
      name: 'amount',
      kind: 'text',
      width: 24,
      isRequired: true,
      example: `${EXAMPLE_RAW}`,
      note: `A whole number in the smallest unit, without points or commas: ${EXAMPLE_RAW} are ${EXAMPLE_AMOUNTS}.`,
    },
    {
      name: 'asset',
      kind: 'text',
      width: 10,
      isRequired: true,
      example: ASSETS[0],
      note: `${ASSET_NAMES}. One file has one asset.`,
    },
    {
      name: 'description',
      kind: 'text',
      width: 44,
      isRequired: false,
      example: text.description,
      note: `May be empty. ${text.readBy}; at most 140 characters.`,
    },
    {
      name: 'reference',
      kind: 'text',
      width: 24,
      isRequired: false,
      example: text.reference,
      note: 'May be empty. Your own number for the row; no two rows may have the same.',
    },
  ];
}

const templates = new Map<SheetKind, Promise<Buffer>>();

export function templateXlsx(sheet: SheetKind): Promise<Buffer> {
  let template = templates.get(sheet);
  if (template === undefined) templates.set(sheet, (template = generateXlsx(sheet)));
  return template;
}

async function generateXlsx({ title, columns }: SheetKind): Promise<Buffer> {
  // Imported on first use, because it loads three hundred files.
  const { default: Excel } = await import('exceljs');
  const book = new Excel.Workbook();
  const sheet = book.addWorksheet(title, { views: FROZEN_HEADER }) as ValidatedSheet;
  // Text format keeps input exactly as typed.
  sheet.columns = columns.map(({ name, width }) => ({
    header: name,
    width,
    style: { numFmt: '@' },
  }));
  columns.forEach(({ note }, index) => {
    const cell = sheet.getCell(1, index + 1);
    cell.style = HEADER_STYLE;
    cell.note = note;
  });
  sheet.addRow(columns.map(({ example }) => xlsxText(example)));
  const { letter } = sheet.getColumn(columns.findIndex(({ name }) => name === 'asset') + 1);
  sheet.dataValidations.add(`${letter}2:${letter}${LAST_ROW}`, {
    type: 'list',
    allowBlank: true,
    showErrorMessage: true,
    errorTitle: 'asset',
    error: ASSET_NAMES,
    formulae: [`"${ASSETS.join(',')}"`],
  });
  return Buffer.from(await book.xlsx.writeBuffer());
}

/** exceljs supports this, but its types omit it. */
type ValidatedSheet = ExcelJS.Worksheet & {
  readonly dataValidations: { add(range: string, validation: ExcelJS.DataValidation): void };
};

export function templateCsv({ columns }: SheetKind): Buffer {
  return Buffer.from(csvOf(columns, [columns.map(({ example }) => example)]));
}
