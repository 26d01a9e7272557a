import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Column, TableRow } from '../writing/columns.js';
import type { TablePaths } from '../writing/table.js';

/** The thread's initial data. Then it gets pieces of rows as JSON, and null after the last. */
export interface WantedTable {
  readonly columns: readonly Column[];
  readonly paths: TablePaths;
  readonly sheetName: string;
}
/** Its replies: send another piece; both files are written. */
export type Told = 'more' | 'done';

const THREAD = new URL('./table-thread.js', import.meta.url);
/** V8's heap. A hundred thousand rows take a third of it. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

/** In its own thread, since packing takes seconds. Rejects like the thread, the rows, or the signal's reason. */
export async function writeApart(
  wanted: WantedTable,
  pieces: AsyncIterable<readonly TableRow[]>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  // It gets neither the service's settings nor its secrets.
  const thread = new Worker(THREAD, {
    workerData: wanted,
    resourceLimits: MEMORY,
    env: {},
    execArgv: [],
  });
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
