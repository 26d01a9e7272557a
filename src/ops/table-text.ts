import Table from 'cli-table3';
import { escapeInvisible, RIGHT_TO_LEFT } from '../core/text.js';

/** Spaces between columns. */
export const GAP = 2;
/** Tables have neither lines nor colours, because they are pasted into tickets. */
const LINES =
  'top top-left top-mid top-right mid left-mid mid-mid right-mid ' +
  'bottom bottom-left bottom-mid bottom-right left middle right';
const NO_LINES = Object.fromEntries(LINES.split(' ').map((name) => [name, '']));
const PLAIN_STYLE = { head: [], border: [], 'padding-left': 0, 'padding-right': GAP };

/** A cell of a line; two spaces end it. Isolated once widths are known, so that columns stay in order. */
const CELL = /\S+(?: \S+)*/g;

/** Returns rows as lines, whose columns have these widths or those of their texts. */
export function renderTable(rows: readonly (readonly string[])[], colWidths?: number[]): string {
  const wrapping = { wordWrap: true, wrapOnWordBoundary: false };
  const table = new Table({
    chars: NO_LINES,
    style: PLAIN_STYLE,
    ...(colWidths === undefined ? {} : { ...wrapping, colWidths }),
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .replaceAll(/ +$/gm, '')
    .replaceAll(CELL, (cell) => (RIGHT_TO_LEFT.test(cell) ? `\u2068${cell}\u2069` : cell));
}

export function headingOf(name: string): string {
  return escapeInvisible(name).replaceAll('_', ' ');
}

export function isWithin(text: string, width: number): boolean {
  return text.split('\n').every((line) => line.length <= width);
}

interface TextTable {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Columns of ids, whose beginnings commands accept. */
const IDS: readonly string[] = ['id', 'event_id', 'related_id'];
/** The beginning of an id that has its time in milliseconds. */
export const SHORT_ID = 13;

/** Shortens ids, which stay distinct within their column. */
function shortenIds({ names, rows }: TextTable): TextTable {
  const lengths = names.map((name, column) => {
    if (!IDS.includes(name)) return Infinity;
    const ids = [...new Set(rows.map((row) => row[column] ?? ''))];
    let length = SHORT_ID;
    while (new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1;
    return length;
  });
  return {
    names,
    rows: rows.map((row) => row.map((cell, column) => cell.slice(0, lengths[column]))),
  };
}

function without({ names, rows }: TextTable, leftOut: readonly string[]): TextTable {
  const rest = <Cell>(row: readonly Cell[]): Cell[] =>
    row.filter((_, column) => !leftOut.includes(names[column] ?? ''));
  return { names: rest(names), rows: rows.map(rest) };
}

/**
 * Returns a table of at most `width` characters: if it is wider, its ids are shortened, and then
 * columns of times are left out, one after another. Undefined if it is still wider.
 */
export function tableWithin(
  width: number,
  table: TextTable,
  keepsColumns: boolean,
): { readonly text: string; readonly leftOut: readonly string[] } | undefined {
  const textOf = ({ names, rows }: TextTable): string =>
    renderTable([names.map(headingOf), ...rows]);
  const whole = textOf(table);
  if (isWithin(whole, width)) return { text: whole, leftOut: [] };
  const short = shortenIds(table);
  const times = keepsColumns ? [] : table.names.filter((name) => name.endsWith('_at'));
  for (let count = 0; count <= times.length; count += 1) {
    const leftOut = times.slice(0, count);
    const text = textOf(without(short, leftOut));
    if (isWithin(text, width)) return { text, leftOut };
  }
  return undefined;
}
