import Table from 'cli-table3';
import { systemClock, toRfc3339 } from '../core/instant.js';
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

/** Returns rows as lines with aligned columns. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const table = new Table({ chars: NO_LINES, style: PLAIN_STYLE });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .replaceAll(/ +$/gm, '')
    .replaceAll(CELL, (cell) => (RIGHT_TO_LEFT.test(cell) ? `\u2068${cell}\u2069` : cell));
}

/** Breaks lines between words. A longer word, such as an address to copy, stays whole. */
export function wrapWords(text: string, width: number): string {
  const fitting = new RegExp(String.raw`(?!$)(?:.{1,${width}}|\S+)(?: |$)`, 'g');
  const wrapped = text.split('\n').map((line) => line.match(fitting)?.join('\n') ?? line);
  return wrapped.join('\n');
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

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The beginning of an id that has its time in milliseconds. */
export const SHORT_ID = 13;
const MIN_TEXT = 12;

/** Shortens ids, which stay distinct within their column, and leaves the present year out of times. */
function shorten({ names, rows }: TextTable, year: string): TextTable {
  const lengths = names.map((_, column) => {
    const ids = [...new Set(rows.map((row) => row[column] ?? ''))].filter((cell) => ID.test(cell));
    let length = SHORT_ID;
    while (new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1;
    return length;
  });
  const ofYear = new RegExp(`^${year}-(?=\\d\\d-\\d\\d \\d\\d:\\d\\d(?::\\d\\d)?Z$)`);
  const cellOf = (cell: string, column: number): string =>
    ID.test(cell) ? cell.slice(0, lengths[column]) : cell.replace(ofYear, '');
  return { names, rows: rows.map((row) => row.map(cellOf)) };
}

function without({ names, rows }: TextTable, leftOut: readonly string[]): TextTable {
  const rest = <Cell>(row: readonly Cell[]): Cell[] =>
    row.filter((_, column) => !leftOut.includes(names[column] ?? ''));
  return { names: rest(names), rows: rows.map(rest) };
}

/** Cuts the longest texts of these columns, until the table has this width or they are short. */
function cutTexts({ names, rows }: TextTable, cut: readonly string[], width: number): TextTable {
  const widths = names.map((name, column) =>
    Math.max(...[headingOf(name), ...rows.map((row) => row[column] ?? '')].map((c) => c.length)),
  );
  const isWiderThan = (column: number, most: number): boolean =>
    cut.includes(names[column] ?? '') && (widths[column] ?? 0) > most;
  const wide = widths.reduce((sum, one) => sum + one + GAP, -GAP);
  for (let excess = wide - width; excess > 0; excess -= 1) {
    const widest = widths.reduce(
      (best, _, at) => (isWiderThan(at, widths[best] ?? MIN_TEXT) ? at : best),
      -1,
    );
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const cellOf = (cell: string, column: number): string => {
    const most = widths[column] ?? Infinity;
    return cell.length > most ? `${cell.slice(0, most - 1)}…` : cell;
  };
  return { names, rows: rows.map((row) => row.map(cellOf)) };
}

export const PARTIES: readonly string[] = ['tenant', 'from', 'to'];

/** Columns that a list gives up in a narrow terminal. */
export interface Narrowing {
  /** Columns that are left out, in this order: by default those of times. */
  readonly expendable?: readonly string[];
  /** Columns whose texts are cut, unless columns are chosen: by default names of parties. */
  readonly cut?: readonly string[];
}

/**
 * Returns a table of at most `width` characters: if it is wider, its ids and times are shortened,
 * texts are cut, and then columns are left out, one after another. Undefined if it is still wider.
 */
export function tableWithin(
  width: number,
  table: TextTable,
  keepsColumns: boolean,
  {
    expendable = table.names.filter((name) => name.endsWith('_at')),
    cut = PARTIES,
  }: Narrowing = {},
): { readonly text: string; readonly leftOut: readonly string[] } | undefined {
  const textOf = ({ names, rows }: TextTable): string =>
    renderTable([names.map(headingOf), ...rows]);
  const whole = textOf(table);
  if (isWithin(whole, width)) return { text: whole, leftOut: [] };
  const short = shorten(table, toRfc3339(systemClock()).slice(0, 4));
  const given = keepsColumns ? [] : expendable.filter((name) => table.names.includes(name));
  for (let count = 0; count <= given.length; count += 1) {
    const leftOut = given.slice(0, count);
    const text = textOf(cutTexts(without(short, leftOut), keepsColumns ? [] : cut, width));
    if (isWithin(text, width)) return { text, leftOut };
  }
  return undefined;
}
