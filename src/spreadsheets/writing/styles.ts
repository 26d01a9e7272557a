import type ExcelJS from 'exceljs';

/** Shared by all cells: exceljs takes twice the time where each has a style of its own. */
export const TEXT = { numFmt: '@' };
/** Of the cells that name the columns. */
export const HEADER: Partial<ExcelJS.Style> = {
  ...TEXT,
  font: { bold: true },
  fill: { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFE8EEF7' } },
};
/** The header stays in view. */
export const VIEWS: ExcelJS.WorksheetView[] = [{ state: 'frozen', ySplit: 1 } as ExcelJS.WorksheetView];
