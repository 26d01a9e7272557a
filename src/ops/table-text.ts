import Table from 'cli-table3';
import { RIGHT_TO_LEFT } from '../core/text.js';

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
