import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeApart } from '../apart/table-writing.js';
import { Turns } from '../turns.js';
import type { Column, TableRow } from './columns.js';
import type { TablePaths } from './table.js';

interface Table {
  readonly columns: readonly Column[];
  readonly sheetName: string;
  readonly pieces: AsyncIterable<readonly TableRow[]>;
  /** A long table gets its own thread, which takes half a second to start, with its packages. */
  readonly isLong: boolean;
}

/** In a temporary folder, which goes when `use` has ended. Rejects like the rows and files, or the signal's reason. */
export async function withTableFiles<T>(
  table: Table,
  signal: AbortSignal,
  use: (paths: TablePaths) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'table-'));
  try {
    const paths = { csv: join(folder, 'csv'), xlsx: join(folder, 'xlsx') };
    const { columns, sheetName, pieces, isLong } = table;
    if (isLong) await writeApart({ columns, sheetName, paths }, pieces, signal);
    else await writeHere(table, paths, signal);
    return await use(paths);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeHere(
  { columns, sheetName, pieces }: Table,
  paths: TablePaths,
  signal: AbortSignal,
): Promise<void> {
  // It imports exceljs, three hundred files that every process would otherwise load at its start.
  const { TableFiles } = await import('./table.js');
  const files = new TableFiles(columns, paths, sheetName);
  const turns = new Turns();
  try {
    for await (const rows of pieces) {
      signal.throwIfAborted();
      await files.add(rows);
      await turns.pause();
    }
    await files.end();
  } finally {
    files.destroy();
  }
}
