import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Column, TableRow } from '../writing/columns.js';
import type { TablePaths } from '../writing/table.js';

/** What the thread begins with. Then it is sent pieces of rows as JSON, and null behind the last. */
export interface WantedTable {
  readonly columns: readonly Column[];
  readonly paths: TablePaths;
  readonly sheetName: string;
}
/** What it answers: a piece more is wanted; both files are written. */
export type Told = 'more' | 'done';

const THREAD = new URL('./table-thread.js', import.meta.url);
/** Of V8's heap. A hundred thousand rows take a third of it. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

/**
 * Writes a large table as TableFiles does, in a thread of its own that ends with it: packing takes seconds, and the service's
 * thread has others to serve. Rejects with what fails there, what the rows throw, and the signal's reason.
 */
export async function writeApart(
  wanted: WantedTable,
  pieces: AsyncIterable<readonly TableRow[]>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // Neither the service's settings nor its secrets are any business of it.
  const thread = new Worker(THREAD, { workerData: wanted, resourceLimits: MEMORY, env: {}, execArgv: [] });
  const told = on(thread, 'message', { signal, close: ['exit'] });
  const until = async (wanted: Told): Promise<void> => {
    for (;;) {
      const next = await told.next();
      if (next.done === true) throw new Error('the thread that writes a file was ended');
      if (next.value[0] === wanted) return;
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
