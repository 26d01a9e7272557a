import { parentPort } from 'node:worker_threads';
import { bytesOf, type ReadingLimits, SheetProblem, type SheetRow, WHOLE_FILE } from '../sheet.js';
import { openSheet } from '../open-sheet.js';
import { lowerPriority } from '../../core/scheduling.js';
import type { FileMessage, ReadingResult, RowsMessage } from './sheet-readers.js';

/** Worker thread that reads files. It sends up to PIECES_AHEAD pieces before more are requested. */

const ROWS_PER_PIECE = 250;
const LENGTH_PER_PIECE = 64 * 1024;
const PIECES_AHEAD = 2;

/** Limits of a short file: a few thousand rows. Reading it takes at most 200 ms. */
const SHORT: ReadingLimits = { ...WHOLE_FILE, inflatedBytes: 4 * 1024 * 1024, marks: 100_000 };
const SHORT_ROWS = 4_000;
const SHORT_LENGTH = 512 * 1024;

const port = parentPort;
if (port === null) throw new Error('this module runs only in a worker thread');

let credit = 0;
let wake = (): void => {};

port.on('message', (message: FileMessage | 'more') => {
  if (message === 'more') {
    credit += 1;
    wake();
  } else void read(message);
});

function send(rows: readonly SheetRow[], end: ReadingResult | null): void {
  const message: RowsMessage = { rows: JSON.stringify(rows), end };
  port?.postMessage(message);
}

async function read({ bytes, isShort }: FileMessage): Promise<void> {
  if (!isShort) lowerPriority('file');
  credit = PIECES_AHEAD;
  let piece: SheetRow[] = [];
  let length = 0;
  const hasReached = (rows: number, maxLength: number): boolean =>
    piece.length >= rows || length >= maxLength;
  try {
    const source = bytesOf([Buffer.from(bytes.buffer)]);
    for await (const row of openSheet(source, isShort ? SHORT : WHOLE_FILE)) {
      piece.push(row);
      length += lengthOf(row);
      if (isShort) {
        if (hasReached(SHORT_ROWS + 1, SHORT_LENGTH + 1)) return send([], { how: 'not_short' });
      } else if (hasReached(ROWS_PER_PIECE, LENGTH_PER_PIECE)) {
        await waitForCredit();
        send(piece, null);
        piece = [];
        length = 0;
      }
    }
    send(piece, { how: 'whole' });
  } catch (failure) {
    const end = endOf(failure);
    const isOverShort = isShort && end.how === 'problem' && end.code === 'too_large_inflated';
    // Rows before the failure are validated too.
    send(isOverShort ? [] : piece, isOverShort ? { how: 'not_short' } : end);
  }
}

async function waitForCredit(): Promise<void> {
  while (credit === 0) await new Promise<void>((resolve) => (wake = resolve));
  credit -= 1;
}

function lengthOf({ cells }: SheetRow): number {
  return cells.reduce(
    (sum, cell) => sum + (cell?.text.length ?? 0) + (cell?.format?.length ?? 0),
    0,
  );
}

function endOf(failure: unknown): ReadingResult {
  if (failure instanceof SheetProblem)
    return { how: 'problem', code: failure.code, message: failure.message };
  return { how: 'failed', message: failure instanceof Error ? failure.message : String(failure) };
}
