import type { ByteSource } from '../byte-source.js';
import { ReadingBudget, type ReadingLimits } from '../limits.js';
import { type SheetRow, unreadable } from '../sheet.js';
import { Archive } from '../zip/archive.js';
import { SheetRows } from './sheet-rows.js';
import { GENERAL, readStyles } from './styles.js';
import { TextBuffer, Texts, unescaped } from './texts.js';
import { readWorkbook } from './workbook.js';
import { readPart, readWholePart } from './xml.js';

/** Yields the rows of the first visible sheet, also hidden ones. Throws `SheetProblem`. */
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

/** Drops the formatting of rich text. */
export async function readSharedStrings(
  bytes: AsyncIterable<Buffer>,
  effort: ReadingBudget,
): Promise<Texts> {
  const texts = new Texts(effort.limits);
  const item = new TextBuffer();
  let isItem = false;
  let isRun = false;
  let isText = false;
  await readWholePart(bytes, effort, {
    open(name, _attributes, depth) {
      // Programs differ on the rest of the text.
      if (isText) throw unreadable('a text of the workbook has an element in it');
      if (depth === 2) isItem = name === 'si';
      if (depth === 3) isRun = name === 'r';
      isText = name === 't' && isItem && (depth === 3 || (depth === 4 && isRun));
    },
    close(name, depth) {
      isText = false;
      if (depth === 2 && name === 'si') texts.add(unescaped(item.take()));
    },
    text(piece) {
      if (isText) item.add(piece);
    },
  });
  return texts;
}
