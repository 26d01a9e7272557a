import { isBlank, type SheetRow } from '../../spreadsheets/sheet.js';
import { cellProblem, type Problem, quoted } from './problems.js';

/** Other columns are ignored. */
const COLUMNS = ['recipient', 'amount', 'asset', 'description', 'reference'] as const;
export type ColumnName = (typeof COLUMNS)[number];
export const REQUIRED_COLUMNS: readonly ColumnName[] = ['recipient', 'amount', 'asset'];

export type Columns = Readonly<Partial<Record<ColumnName, number>>>;

export interface Header {
  readonly columns: Columns;
  /** Number of columns up to the last one with a header. */
  readonly width: number;
  readonly problems: readonly Problem[];
}

/** Reads the headers in any order and case. */
export function readHeader({ cells }: SheetRow): Header {
  const columns: Partial<Record<ColumnName, number>> = {};
  const problems: Problem[] = [];
  cells.forEach((cell, index) => {
    const text = cell?.text.trim().toLowerCase();
    const name = COLUMNS.find((known) => known === text);
    if (name === undefined) return;
    if (columns[name] === undefined) columns[name] = index;
    else
      problems.push(
        cellProblem(name, 'duplicate_column', `there are two columns ${name}: keep one`, cell),
      );
  });
  for (const name of REQUIRED_COLUMNS)
    if (columns[name] === undefined)
      problems.push(
        cellProblem(
          name,
          'missing_column',
          missing(
            name,
            cells.map((cell) => cell?.text ?? ''),
          ),
          null,
        ),
      );
  return { columns, width: cells.findLastIndex((cell) => !isBlank(cell)) + 1, problems };
}

function missing(name: ColumnName, found: readonly string[]): string {
  const there = found.filter((text) => text.trim() !== '').slice(0, 10);
  const has =
    there.length === 0
      ? 'the first row is empty'
      : `the first row has ${there.map((text) => quoted(text, 20)).join(', ')}`;
  return `there is no column ${name}: ${has}`;
}
