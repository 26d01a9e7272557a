import type { ByteSource } from '../byte-source.js';
import { ReadingBudget, type ReadingLimits } from '../limits.js';
import type { SheetRow } from '../sheet.js';
import { Archive } from '../zip/archive.js';
import { readSharedStrings } from './shared-strings.js';
import { SheetRows } from './sheet-rows.js';
import { GENERAL, readStyles } from './styles.js';
import { readWorkbook } from './workbook.js';
import { readPart } from './xml.js';

/**
 * Yields the rows of the first visible sheet, including hidden rows and columns. Throws
 * `SheetProblem`.
 */
export async function* xlsxRows(
  source: ByteSource,
  limits: ReadingLimits,
): AsyncGenerator<SheetRow> {
  const effort = new ReadingBudget(limits);
  const archive = await Archive.open(source);
  const { sheet, skippedSheets, is1904, sharedStrings, styles } = await readWorkbook(
    archive,
    effort,
  );
  const cellStyles =
    styles === null ? [GENERAL] : await readStyles(archive.read(styles, effort), effort);
  const texts =
    sharedStrings === null
      ? null
      : await readSharedStrings(archive.read(sharedStrings, effort), effort);
  const rows = new SheetRows({ texts, styles: cellStyles, is1904 }, skippedSheets);
  for await (const _ of readPart(archive.read(sheet, effort), effort, rows)) yield* rows.take();
}
