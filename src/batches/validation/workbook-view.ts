import { escapeInvisible } from '../../core/text.js';
import type { WorkbookView } from '../../spreadsheets/sheet.js';
import { fileProblem, type Problem, quote, shorten } from './cells.js';
import { type Header, positionsOf } from './header.js';
import type { SheetKind } from './sheet-kind.js';

const MAX_SHEETS_NAMED = 100;
const MAX_SHEET_NAME = 60;

/** Returns the names of the visible sheets that are not read. (docs/contract.md, Review) */
export function unreadSheets({ otherSheets }: WorkbookView): readonly string[] {
  return otherSheets
    .slice(0, MAX_SHEETS_NAMED)
    .map(({ name }) => shorten(escapeInvisible(shorten(name, MAX_SHEET_NAME)), MAX_SHEET_NAME));
}

/** Returns the hidden columns among those that are read, in the order of the file. */
export function hiddenColumns(header: Header, view: WorkbookView | undefined): readonly string[] {
  const read = positionsOf(header);
  return (view?.hiddenColumns ?? []).flatMap((index) => read.get(index) ?? []);
}

/** Returns a problem if another visible sheet could be the one to pay too. (docs/contract.md, Validation) */
export function sheetProblem(
  { sheet, otherSheets }: WorkbookView,
  [recipient, amount]: SheetKind['markers'],
): Problem | null {
  const payrolls = otherSheets.filter(({ header, hasRows }) => {
    const names = header.map((text) => text.trim().toLowerCase());
    return hasRows && names.includes(recipient) && names.includes(amount);
  });
  if (payrolls.length === 0) return null;
  const names = [sheet, ...payrolls.map(({ name }) => name)].slice(0, MAX_NAMED_IN_MESSAGE);
  const message = `several visible sheets have the columns ${recipient} and ${amount} and at least one row: ${names.map((name) => quote(name, 31)).join(', ')}. Keep the one that is to be paid, or hide the other sheets.`;
  return fileProblem('ambiguous_sheet', message);
}

/** More names would not fit into a message. */
const MAX_NAMED_IN_MESSAGE = 3;
