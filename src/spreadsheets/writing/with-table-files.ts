import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventLoopYielder } from '../limits.js';
import { writeTableInThread } from '../worker-thread/write-in-thread.js';
import type { Column, TableRow } from './cells.js';
import type { TablePaths } from './table-files.js';

export interface Table {
  readonly columns: readonly Column[];
  readonly sheetName: string;
  readonly pieces: AsyncIterable<readonly TableRow[]>;
  /** Written in its own thread, which takes half a second to start. */
  readonly isLong: boolean;
}

export async function withTableFiles<T>(
  table: Table,
  signal: AbortSignal,
  use: (paths: TablePaths) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'table-'));
  try {
    const paths = { csv: join(folder, 'csv'), xlsx: join(folder, 'xlsx') };
    const { columns, sheetName, pieces, isLong } = table;
    if (isLong) await writeTableInThread({ columns, sheetName, paths }, pieces, signal);
    else await writeInMainThread(table, paths, signal);
    return await use(paths);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeInMainThread(
  { columns, sheetName, pieces }: Table,
  paths: TablePaths,
  signal: AbortSignal,
): Promise<void> {
  // Imported on first use, because exceljs loads three hundred files.
  const { TableFiles } = await import('./table-files.js');
  const files = new TableFiles(columns, paths, sheetName);
  const yielder = new EventLoopYielder();
  try {
    for await (const rows of pieces) {
      signal.throwIfAborted();
      await files.add(rows);
      await yielder.yieldIfDue();
    }
    await files.end();
  } finally {
    files.destroy();
  }
}
