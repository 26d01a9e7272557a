import { parentPort, workerData } from 'node:worker_threads';
import type { TableRow } from '../writing/columns.js';
import { TableFiles } from '../writing/table.js';
import { giveWay } from '../../core/priority.js';
import type { Told, WantedTable } from './table-writing.js';

/**
 * Worker thread that writes one table (write-in-thread.ts). A rejection ends the thread and is
 * rethrown there.
 */

const PIECES_AHEAD = 2;

const asker = parentPort;
if (asker === null) throw new Error('it runs as a thread alone');
const { columns, paths, sheetName } = workerData as WantedTable;
const files = new TableFiles(columns, paths, sheetName);
const tell = (told: Told): void => asker.postMessage(told);

giveWay('file');

let before = Promise.resolve();
asker.on('message', (piece: string | null) => {
  before = before.then(() => written(piece));
});
for (let piece = 0; piece < PIECES_AHEAD; piece += 1) tell('more');

async function written(piece: string | null): Promise<void> {
  if (piece === null) {
    await files.end();
    tell('done');
  } else {
    await files.add(JSON.parse(piece) as readonly TableRow[]);
    tell('more');
  }
}
