import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { EventLoopYielder } from '../sheet.js';
import type { Column, TableRow } from './cells.js';
import type { TablePaths } from './table-files.js';

export interface Table {
  readonly columns: readonly Column[];
  readonly sheetName: string;
  readonly pieces: AsyncIterable<readonly TableRow[]>;
  /** Written in its own thread, which takes half a second to start. */
  readonly isLong: boolean;
}

/** Writes the table to temporary files, which exist until `use` has ended. */
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

/** A thread's initial data. Then it receives pieces of rows as JSON, and null after the last piece. */
export interface TableSpec {
  readonly columns: readonly Column[];
  readonly paths: TablePaths;
  readonly sheetName: string;
}
export type ThreadMessage = 'more' | 'done';

const THREAD = new URL('../worker-thread/write-table.js', import.meta.url);
/** Limits of V8's heap. A hundred thousand rows use a third of this memory. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

async function writeTableInThread(
  table: TableSpec,
  pieces: AsyncIterable<readonly TableRow[]>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // The thread receives neither configuration nor secrets.
  const thread = new Worker(THREAD, {
    workerData: table,
    resourceLimits: MEMORY,
    env: {},
    execArgv: [],
  });
  const messages = on(thread, 'message', { signal, close: ['exit'] });
  const until = async (expected: ThreadMessage): Promise<void> => {
    for (;;) {
      const next = await messages.next();
      if (next.done === true) throw new Error('the thread that writes a file was ended');
      if (next.value[0] === expected) return;
    }
  };
  try {
    for await (const rows of pieces) {
      await until('more');
      thread.postMessage(JSON.stringify(rows));
    }
    thread.postMessage(null);
    await until('done');
  } catch (failure) {
    throw signal.aborted ? signal.reason : failure;
  } finally {
    await thread.terminate();
  }
}
