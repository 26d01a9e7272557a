import type ExcelJS from 'exceljs';
import type { CellKind } from './cells.js';

export interface Column {
  readonly name: string;
  readonly kind: CellKind;
  /** Width in a sheet, in characters. */
  readonly width: number;
}

/** Null is an empty cell. */
export type TableRow = readonly (string | null)[];

/** Shared by all cells, because exceljs takes twice as long if each cell has its own style. */
export const TEXT = { numFmt: '@' };
export const HEADER: Partial<ExcelJS.Style> = {
  ...TEXT,
  font: { bold: true },
  fill: { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFE8EEF7' } },
};
/** Keeps the header visible while scrolling. */
export const VIEWS: ExcelJS.WorksheetView[] = [
  { state: 'frozen', ySplit: 1 } as ExcelJS.WorksheetView,
];
