import { type ResourceLimits, Worker } from 'node:worker_threads';
import { type SheetRow, SheetProblem, unreadable } from '../sheet.js';
import {
  MORE,
  type FileMessage,
  type ReadingResult,
  type RowsMessage,
  unpackRows,
} from './messages.js';

const THREAD = new URL('./read-files.js', import.meta.url);
/** Ten times longer than any file takes within the limits. */
const MAX_SILENCE_MS = 60_000;
const TICKS = 60;

/** The thread ended before the file did: its memory limit, or this process stopped it. */
class ThreadEnded extends Error {
  override name = 'ThreadEnded';
}

/** A worker thread that reads one file at a time, with its own memory limit. */
export class ReaderThread {
  private readonly worker: Worker;
  private messages: RowsMessage[] = [];
  private wake = (): void => {};
  private fault: Error | null = null;

  constructor(
    resourceLimits: ResourceLimits,
    private readonly maxSilenceMs = MAX_SILENCE_MS,
  ) {
    // The thread reads untrusted files, so it receives neither configuration nor secrets.
    this.worker = new Worker(THREAD, { resourceLimits, env: {}, execArgv: [] });
    this.worker.unref();
    this.worker.on('message', (message: RowsMessage) => {
      this.messages.push(message);
      this.wake();
    });
    this.worker.on('error', (fault) => this.failed(fault));
    this.worker.on('exit', () => this.failed(new ThreadEnded('the thread was ended')));
  }

  get isAlive(): boolean {
    return this.fault === null;
  }

  /**
   * Yields the rows in pieces, and returns the result. Throws `SheetProblem` if the file exceeds
   * the thread's memory or the time limit. After a throw or early stop, the thread cannot be used
   * again.
   */
  async *read(
    file: FileMessage,
    signal: AbortSignal,
  ): AsyncGenerator<readonly SheetRow[], ReadingResult> {
    signal.throwIfAborted();
    const stop = (): void =>
      this.failed(signal.reason instanceof Error ? signal.reason : new ThreadEnded('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    try {
      this.worker.postMessage(file, [file.bytes.buffer as ArrayBuffer]);
      for (;;) {
        const { rows, end } = await this.next();
        yield unpackRows(rows);
        if (end !== null) return end;
        this.worker.postMessage(MORE);
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async end(): Promise<void> {
    this.failed(new ThreadEnded('the thread was ended'));
    await this.worker.terminate();
  }

  /** Keeps the first failure only. */
  private failed(fault: Error): void {
    this.fault ??= fault;
    this.wake();
  }

  private async next(): Promise<RowsMessage> {
    // If the process stands still, and the thread with it, this counts as one tick.
    let ticks = 0;
    const late = setInterval(() => {
      ticks += 1;
      if (ticks === TICKS) this.failed(unreadable(TOO_LONG));
    }, this.maxSilenceMs / TICKS);
    try {
      for (;;) {
        const message = this.messages.shift();
        if (message !== undefined) return message;
        if (this.fault !== null) throw isOutOfMemory(this.fault) ? tooLarge() : this.fault;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      clearInterval(late);
    }
  }
}

const TOO_LONG =
  'reading the file took more than a minute: save it anew with your spreadsheet program';

function isOutOfMemory(fault: Error): boolean {
  return 'code' in fault && fault.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(): SheetProblem {
  return new SheetProblem(
    'too_large_inflated',
    'reading the file takes more memory than a file may take',
  );
}
