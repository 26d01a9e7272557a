import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../core/scheduling.js';
import type { TableRow } from '../writing/cells.js';
import { TableFiles } from '../writing/table-files.js';
import type { TableSpec, ThreadMessage } from '../writing/with-table-files.js';

/** Worker thread that writes one table. An unhandled rejection ends it and is thrown in the main thread. */

const PIECES_AHEAD = 2;

const port = parentPort;
if (port === null) throw new Error('this module runs only in a worker thread');
const { columns, paths, sheetName } = workerData as TableSpec;
const files = new TableFiles(columns, paths, sheetName);
const send = (message: ThreadMessage): void => port.postMessage(message);

lowerPriority('file');

let lastWrite = Promise.resolve();
port.on('message', (piece: string | null) => {
  lastWrite = lastWrite.then(() => write(piece));
});
for (let piece = 0; piece < PIECES_AHEAD; piece += 1) send('more');

async function write(piece: string | null): Promise<void> {
  if (piece === null) {
    await files.end();
    send('done');
  } else {
    await files.add(JSON.parse(piece) as readonly TableRow[]);
    send('more');
  }
}
