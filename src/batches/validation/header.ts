import {
  changedMetadata,
  isMetadataKey,
  MAX_METADATA_BYTES,
  MAX_METADATA_PAIRS,
  MAX_METADATA_VALUE,
  type Metadata,
  metadataFault,
} from '../../core/metadata.js';
import { type FilledCell, isBlank, type SheetRow } from '../../spreadsheets/sheet.js';
import {
  cellProblem,
  concealProblems,
  lineBreakProblem,
  type Problem,
  quote,
  readText,
} from './cells.js';
import type { SheetKind } from './sheet-kind.js';

/** The position of each column. */
type Columns = Readonly<Record<string, number | undefined>>;

export interface Header {
  readonly sheet: SheetKind;
  readonly columns: Columns;
  /** The columns that show whether a row of a result file was paid. Empty for any other file. */
  readonly paidColumns: readonly number[];
  /** The position of each column `metadata.<key>`, by its key. */
  readonly metadata: ReadonlyMap<string, number>;
  readonly width: number;
  readonly problems: readonly Problem[];
}

export function readHeader({ cells }: SheetRow, sheet: SheetKind): Header {
  const columns: Record<string, number> = {};
  const known = new Set(sheet.columns.map(({ name }) => name));
  const metadata = new Map<string, number>();
  const problems: Problem[] = [];
  const texts = cells.map((cell) => cell?.text.trim().toLowerCase());
  cells.forEach((cell, index) => {
    const text = cell?.text.trim() ?? '';
    const name = known.has(texts[index] ?? '') ? texts[index] : undefined;
    if (cell?.hasLineBreak === true) problems.push(lineBreakProblem(name ?? '', cell, index));
    if (text.toLowerCase().startsWith(METADATA))
      problems.push(...addMetadata(metadata, text.slice(METADATA.length), index, cell));
    if (name === undefined) return;
    const twice = `there are two columns ${name}: keep one`;
    if (columns[name] === undefined) columns[name] = index;
    else problems.push(cellProblem(name, 'duplicate_column', twice, cell));
  });
  const found = cells.map((cell) => (sheet.conceal ?? String)(cell?.text ?? ''));
  for (const { name, isRequired } of sheet.columns)
    if (isRequired && columns[name] === undefined)
      problems.push(cellProblem(name, 'missing_column', missing(name, found), null));
  const width = cells.findLastIndex((cell) => !isBlank(cell)) + 1;
  const isResult = texts.includes(sheet.paid.file);
  const paidColumns = texts.flatMap((text, index) =>
    isResult && text === sheet.paid.column ? [index] : [],
  );
  // A line break in the header may have put a row into it.
  const shown = concealProblems(problems, sheet.conceal);
  return { sheet, columns, metadata, paidColumns, width, problems: shown };
}

const METADATA = 'metadata.';

/** Adds a column unless its key is not valid or another column has it. Returns the problem. */
function addMetadata(
  columns: Map<string, number>,
  key: string,
  index: number,
  cell: FilledCell | null,
): readonly Problem[] {
  const problem = (code: Problem['code'], message: string): readonly Problem[] => [
    cellProblem('metadata', code, message, cell),
  ];
  if (!isMetadataKey(key))
    return problem(
      'invalid_field',
      `${quote(key)} is not a key of metadata: use 1 to 40 of the characters a to z, 0 to 9 and _`,
    );
  if (columns.has(key))
    return problem('duplicate_column', `there are two columns ${METADATA}${key}: keep one`);
  columns.set(key, index);
  return [];
}

/** Returns the names of the columns that are read, by their positions. */
export function positionsOf({
  columns,
  metadata,
}: Pick<Header, 'columns' | 'metadata'>): ReadonlyMap<number, string> {
  const named = Object.entries(columns).flatMap(([name, index]) =>
    index === undefined ? [] : [[index, name] as const],
  );
  const labels = Array.from(metadata, ([key, index]) => [index, `${METADATA}${key}`] as const);
  return new Map([...named, ...labels]);
}

/** Reads the pairs of a row. A blank cell has none. */
export function readMetadata(
  cells: SheetRow['cells'],
  columns: Header['metadata'],
): { readonly metadata: Metadata | null; readonly problems: readonly Problem[] } {
  const change: Record<string, string | null> = {};
  const problems: Problem[] = [];
  for (const [key, index] of columns) {
    const read = readText(`${METADATA}${key}`, cells[index] ?? null, MAX_METADATA_VALUE);
    if ('problem' in read) problems.push(read.problem);
    else change[key] = read.value;
  }
  const metadata = changedMetadata(null, change);
  const fault = metadata === null ? null : metadataFault(metadata);
  if (fault !== null)
    problems.push(cellProblem('metadata', 'invalid_field', METADATA_FAULTS[fault], null));
  return { metadata, problems };
}

const METADATA_FAULTS = {
  too_many: `a row has at most ${MAX_METADATA_PAIRS} pairs of metadata`,
  too_long: `the keys and values of a row's metadata have at most ${MAX_METADATA_BYTES} bytes`,
};

function missing(name: string, found: readonly string[]): string {
  const there = found.filter((text) => text.trim() !== '').slice(0, 10);
  const has =
    there.length === 0
      ? 'the first row is empty'
      : `the first row has ${there.map((text) => quote(text, 20)).join(', ')}`;
  return `there is no column ${name}: ${has}`;
}
