import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Column, TableRow } from '../writing/cells.js';
import type { TablePaths } from '../writing/table-files.js';

/** Initial data. Then the thread receives pieces of rows as JSON, and null after the last. */
export interface TableSpec {
  readonly columns: readonly Column[];
  readonly paths: TablePaths;
  readonly sheetName: string;
}
export type ThreadMessage = 'more' | 'done';

const THREAD = new URL('./write-table.js', import.meta.url);
/** Limits for V8's heap. A hundred thousand rows use a third of it. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };

export async function writeTableInThread(
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
