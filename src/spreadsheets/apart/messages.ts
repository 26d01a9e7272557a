import type { Cell, SheetProblemCode, SheetRow } from '../sheet.js';

/** What the thread that reads files and whoever asks it tell one another. */

/** A file to read. `isShort`: only as far as a short one goes, and all of it in one message. */
export interface ReadFile {
  readonly bytes: Uint8Array;
  readonly isShort: boolean;
}

/** More rows are wanted. */
export const MORE = 'more';

/** `rows` as `packRows` makes them. What ends the reading comes with the last ones. */
export interface Told {
  readonly rows: string;
  readonly end: ReadingEnd | null;
}

/** `failed` is a fault of ours. */
export type ReadingEnd =
  | { readonly how: 'whole' | 'not_short' }
  | { readonly how: 'problem'; readonly code: SheetProblemCode; readonly message: string }
  | { readonly how: 'failed'; readonly message: string };

const KINDS = ['text', 'number', 'date', 'boolean', 'error', 'formula'] as const;

/**
 * Rows as one text, each a flat list: its number, then kind and text of each cell, or null. The service's thread unpacks a
 * large file in a third of the time that it takes for a clone of the rows.
 */
export function packRows(rows: readonly SheetRow[]): string {
  return JSON.stringify(
    rows.map(({ number, cells }) => [
      number,
      ...cells.flatMap((cell) => (cell === null ? [null] : [KINDS.indexOf(cell.kind), cell.text])),
    ]),
  );
}

type PackedRow = readonly [number: number, ...cells: (number | string | null)[]];

export function unpackRows(text: string): SheetRow[] {
  const packed: readonly PackedRow[] = JSON.parse(text);
  return packed.map(([number, ...values]) => ({ number, cells: cellsOf(values) }));
}

function cellsOf(values: readonly (number | string | null)[]): Cell[] {
  const cells: Cell[] = [];
  for (let at = 0; at < values.length; at += 1) {
    const kind = values[at];
    if (typeof kind !== 'number') cells.push(null);
    else cells.push({ kind: KINDS[kind] ?? 'text', text: String(values[(at += 1)]) });
  }
  return cells;
}
