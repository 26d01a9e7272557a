import {
  type ByteSource,
  isBlank,
  type OtherSheet,
  ReadingBudget,
  type ReadingLimits,
  SheetProblem,
  type SheetRow,
  unreadable,
  WHOLE_FILE,
} from '../sheet.js';
import { Archive } from '../zip/archive.js';
import { SheetRows, type WorkbookFacts } from './sheet-rows.js';
import { GENERAL, readStyles } from './styles.js';
import { isTrue, readPart, readWholePart, TextBuffer, SharedStrings, unescapeText } from './xml.js';

/** Yields the rows of the first visible sheet, also hidden ones. Throws `SheetProblem`. */
export async function* xlsxRows(
  source: ByteSource,
  limits: ReadingLimits,
): AsyncGenerator<SheetRow> {
  const budget = new ReadingBudget(limits);
  const archive = await Archive.open(source);
  const book = await readWorkbook(archive, budget);
  const { sheet, skippedSheets, is1904, sharedStrings, styles } = book;
  const cellStyles =
    styles === null ? [GENERAL] : await readStyles(archive.read(styles, budget), budget);
  const texts =
    sharedStrings === null
      ? null
      : await readSharedStrings(archive.read(sharedStrings, budget), budget);
  const facts = { texts, styles: cellStyles, is1904 };
  const otherSheets = await readOtherSheets(archive, book.others, facts, limits);
  const rows = new SheetRows(facts);
  const view = () => ({
    workbook: {
      sheet: sheet.name,
      skippedSheets,
      hiddenColumns: rows.hiddenColumns(),
      otherSheets,
    },
  });
  let isFirst = true;
  for await (const _ of readPart(archive.read(sheet.part, budget), budget, rows)) {
    const [first, ...more] = rows.take();
    if (first === undefined) continue;
    yield isFirst ? { ...first, ...view() } : first;
    isFirst = false;
    yield* more;
  }
  if (isFirst) yield { number: 1, cells: [], ...view() };
}

/** The share of the limits that sheets which are not read may use. */
const OTHERS_SHARE = 4;
const HEADER_TEXT = 40;

/**
 * Reads the first two rows with content of each sheet. Sheets without content are left out. A sheet
 * that is too large or cannot be read has no header.
 */
async function readOtherSheets(
  archive: Archive,
  sheets: readonly NamedPart[],
  facts: WorkbookFacts,
  limits: ReadingLimits,
): Promise<readonly OtherSheet[]> {
  const { inflatedBytes, marks } = limits;
  const budget = new ReadingBudget({
    ...limits,
    inflatedBytes: inflatedBytes / OTHERS_SHARE,
    marks: marks / OTHERS_SHARE,
  });
  const found: OtherSheet[] = [];
  for (const { name, part } of sheets)
    try {
      const [header, row] = await firstRows(archive.read(part, budget), facts, budget);
      if (header === undefined) continue;
      const texts = header.cells.map((cell) => cell?.text.slice(0, HEADER_TEXT) ?? '');
      found.push({ name, header: texts, hasRows: row !== undefined });
    } catch (failure) {
      if (!(failure instanceof SheetProblem)) throw failure;
      // The thread for long files has higher limits.
      if (failure.code === 'too_large_inflated' && marks < WHOLE_FILE.marks) throw failure;
      found.push({ name, header: [], hasRows: false });
    }
  return found;
}

async function firstRows(
  bytes: AsyncIterable<Buffer>,
  facts: WorkbookFacts,
  budget: ReadingBudget,
): Promise<readonly SheetRow[]> {
  const rows = new SheetRows(facts);
  const found: SheetRow[] = [];
  for await (const _ of readPart(bytes, budget, rows)) {
    found.push(...rows.take().filter(({ cells }) => !cells.every(isBlank)));
    if (found.length > 1) break;
  }
  return found;
}

async function readSharedStrings(
  bytes: AsyncIterable<Buffer>,
  budget: ReadingBudget,
): Promise<SharedStrings> {
  const texts = new SharedStrings(budget.limits);
  const item = new TextBuffer();
  let isItem = false;
  let isRun = false;
  let isText = false;
  await readWholePart(bytes, budget, {
    open(name, _attributes, depth) {
      // Programs read a text with an element in it differently.
      if (isText) throw unreadable('a text of the workbook has an element in it');
      if (depth === 2) isItem = name === 'si';
      if (depth === 3) isRun = name === 'r';
      isText = name === 't' && isItem && (depth === 3 || (depth === 4 && isRun));
    },
    close(name, depth) {
      isText = false;
      if (depth === 2 && name === 'si') texts.add(unescapeText(item.take()));
    },
    text(piece) {
      if (isText) item.add(piece);
    },
  });
  return texts;
}

interface NamedPart {
  readonly name: string;
  readonly part: string;
}

interface Workbook {
  readonly sheet: NamedPart;
  readonly skippedSheets: number;
  /** The other visible sheets. */
  readonly others: readonly NamedPart[];
  /** True if dates count from 1904, as in old workbooks of a Mac. */
  readonly is1904: boolean;
  readonly sharedStrings: string | null;
  readonly styles: string | null;
}

const MAX_PARTS = 2_000;

/** Relationship types have the same ending in ordinary and strict files. */
const RELATIONSHIP_TYPE =
  /^http:\/\/(?:schemas\.openxmlformats\.org\/officeDocument\/2006|purl\.oclc\.org\/ooxml\/officeDocument)\/relationships\/(\w+)$/;

interface Relationship {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

interface NamedSheet {
  readonly name: string;
  readonly relationship: string;
  readonly isHidden: boolean;
}

/** Finds the parts by the package's relationships. Throws `SheetProblem` `unreadable_file`. */
async function readWorkbook(archive: Archive, budget: ReadingBudget): Promise<Workbook> {
  const root = await relationshipsOf(archive, '', budget);
  const part = root.find(({ type }) => type === 'officeDocument')?.target;
  if (part === undefined) throw unreadable('the file is not a workbook');
  const own = await relationshipsOf(archive, part, budget);
  const { sheets, is1904 } = await sheetsOf(archive, part, budget);
  const worksheets = sheets.flatMap(({ name, relationship, isHidden }) => {
    const found = own.find(({ id, type }) => id === relationship && type === 'worksheet');
    return found === undefined ? [] : [{ name, part: found.target, isHidden }];
  });
  // The first visible sheet, or the first if all are hidden.
  const skippedSheets = Math.max(
    0,
    worksheets.findIndex(({ isHidden }) => !isHidden),
  );
  const first = worksheets[skippedSheets];
  if (first === undefined) throw unreadable('the workbook has no sheet');
  const related = (name: string): string | null => {
    const [part, another] = own.filter(({ type }) => type === name);
    if (another !== undefined) throw unreadable(`the workbook has two parts ${name}`);
    return part?.target ?? null;
  };
  return {
    sheet: first,
    skippedSheets,
    others: worksheets.filter((sheet) => sheet !== first && !sheet.isHidden),
    is1904,
    sharedStrings: related('sharedStrings'),
    styles: related('styles'),
  };
}

async function sheetsOf(
  archive: Archive,
  part: string,
  budget: ReadingBudget,
): Promise<{ readonly sheets: readonly NamedSheet[]; readonly is1904: boolean }> {
  let is1904 = false;
  const sheets: NamedSheet[] = [];
  let isIn = false;
  await readWholePart(archive.read(part, budget), budget, {
    open(name, attributes, depth) {
      if (depth === 1 && name !== 'workbook') throw unreadable('the file is not a workbook');
      if (depth === 2 && name === 'workbookPr') is1904 = isTrue(attributes['date1904']);
      if (depth === 2) isIn = name === 'sheets';
      if (depth !== 3 || !isIn || name !== 'sheet') return;
      if (sheets.length > MAX_PARTS) throw unreadable('the workbook has too many sheets');
      // The prefix of the namespace may vary.
      const relationship =
        Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const { name: title = '', state = 'visible' } = attributes;
      sheets.push({ name: title, relationship, isHidden: state !== 'visible' });
    },
  });
  return { sheets, is1904 };
}

async function relationshipsOf(
  archive: Archive,
  part: string,
  budget: ReadingBudget,
): Promise<Relationship[]> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1);
  const found: Relationship[] = [];
  // Programs differ on which of two relationships with the same id they follow.
  const ids = new Set<string>();
  await readWholePart(
    archive.read(`${folder}_rels/${part.slice(folder.length)}.rels`, budget),
    budget,
    {
      open(name, attributes, depth) {
        if (depth !== 2 || name !== 'Relationship' || attributes['TargetMode'] === 'External')
          return;
        if (found.length > MAX_PARTS) throw unreadable('the workbook has too many parts');
        const { Id: id = '' } = attributes;
        if (ids.has(id)) throw unreadable('the workbook has two relationships of the same name');
        ids.add(id);
        const type = RELATIONSHIP_TYPE.exec(attributes['Type'] ?? '')?.[1];
        if (type === undefined) return;
        found.push({ id, type, target: partName(folder, attributes['Target'] ?? '') });
      },
    },
  );
  return found;
}

function partName(folder: string, target: string): string {
  const steps: string[] = [];
  const path = target.startsWith('/') ? target : `${folder}${target}`;
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  }
  return steps.join('/');
}
