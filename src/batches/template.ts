import type ExcelJS from 'exceljs';
import { ASSET_NAMES, ASSETS, disjunction, formatAmount } from '../core/amount.js';
import { MAX_ROWS } from './rules.js';
import {
  type Column,
  csvOf,
  HEADER_STYLE,
  FROZEN_HEADER,
  xlsxText,
} from '../spreadsheets/writing/cells.js';

interface TemplateColumn extends Column {
  readonly example: string;
  readonly note: string;
}

/** The header, and the most rows that a file may have. */
const LAST_ROW = 1 + MAX_ROWS;
export const EXAMPLE_RAW = 150_000n;
export const EXAMPLE_AMOUNTS = disjunction(
  ASSETS.map((asset) => formatAmount({ raw: EXAMPLE_RAW, asset })),
);

/** (docs/contract.md, Upload) */
export const TEMPLATE_COLUMNS: readonly TemplateColumn[] = [
  {
    name: 'recipient',
    kind: 'party',
    width: 40,
    // No account has this alias, so a forgotten example is refused.
    example: '$example-delete-this-row',
    note: 'Who gets the bonus: an alias ($ana), a phone (+573001112233) or an account id.',
  },
  {
    name: 'amount',
    kind: 'text',
    width: 24,
    example: `${EXAMPLE_RAW}`,
    note: `A whole number in the smallest unit, without points or commas: ${EXAMPLE_RAW} are ${EXAMPLE_AMOUNTS}.`,
  },
  {
    name: 'asset',
    kind: 'text',
    width: 10,
    example: ASSETS[0],
    note: `${ASSET_NAMES}. One file has one asset.`,
  },
  {
    name: 'description',
    kind: 'text',
    width: 44,
    example: 'Bonus for November',
    note: 'May be empty. The recipient sees it; at most 140 characters.',
  },
  {
    name: 'reference',
    kind: 'text',
    width: 24,
    example: 'NOV-0001',
    note: 'May be empty. Your own number for the row; no two rows may have the same.',
  },
];

const EXAMPLE_ROW = TEMPLATE_COLUMNS.map(({ example }) => example);

let xlsx: Promise<Buffer> | undefined;

export function templateXlsx(): Promise<Buffer> {
  return (xlsx ??= generateXlsx());
}

async function generateXlsx(): Promise<Buffer> {
  // Imported on first use, because it loads three hundred files.
  const { default: Excel } = await import('exceljs');
  const book = new Excel.Workbook();
  const sheet = book.addWorksheet('Bonuses', { views: FROZEN_HEADER }) as ValidatedSheet;
  // Text format keeps input exactly as typed.
  sheet.columns = TEMPLATE_COLUMNS.map(({ name, width }) => ({
    header: name,
    width,
    style: { numFmt: '@' },
  }));
  TEMPLATE_COLUMNS.forEach(({ note }, index) => {
    const cell = sheet.getCell(1, index + 1);
    cell.style = HEADER_STYLE;
    cell.note = note;
  });
  sheet.addRow(EXAMPLE_ROW.map(xlsxText));
  sheet.dataValidations.add(`C2:C${LAST_ROW}`, {
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

export function templateCsv(): Buffer {
  return Buffer.from(csvOf(TEMPLATE_COLUMNS, [EXAMPLE_ROW]));
}
