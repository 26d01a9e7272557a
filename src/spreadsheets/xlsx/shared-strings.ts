import type { ReadingBudget } from '../limits.js';
import { unreadable } from '../sheet.js';
import { TextBuffer, Texts, unescaped } from './texts.js';
import { readWholePart } from './xml.js';

/**
 * Reads the texts that cells refer to by index. Drops the formatting of rich text. Throws
 * `SheetProblem`.
 */
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
