import { type ResourceLimits, Worker } from 'node:worker_threads';
import { type SheetRow, SheetProblem, unreadable } from '../sheet.js';
import { MORE, type ReadFile, type ReadingEnd, type Told, unpackRows } from './messages.js';

const THREAD = new URL('./thread.js', import.meta.url);
/**
 * No file takes a tenth of this (effort.ts); a file that does has found a way around the limits.
 */
const MAX_SILENCE_MS = 60_000;
const BEATS = 60;

/** The thread ended before the file did, by its memory limit or by us. */
class ThreadEnded extends Error {
  override name = 'ThreadEnded';
}

/**
 * A worker thread that reads files, one at a time, with its own memory limit. It does not keep the
 * process alive.
 */
export class ReadingThread {
  private readonly worker: Worker;
  private told: Told[] = [];
  private wake = (): void => {};
  private fault: Error | null = null;

  constructor(
    resourceLimits: ResourceLimits,
    private readonly maxSilenceMs = MAX_SILENCE_MS,
  ) {
    // Code that reads untrusted files gets neither the service's settings nor its secrets.
    this.worker = new Worker(THREAD, { resourceLimits, env: {}, execArgv: [] });
    this.worker.unref();
    this.worker.on('message', (told: Told) => {
      this.told.push(told);
      this.wake();
    });
    this.worker.on('error', (fault) => this.failed(fault));
    this.worker.on('exit', () => this.failed(new ThreadEnded('the thread was ended')));
  }

  get isAlive(): boolean {
    return this.fault === null;
  }

  /**
   * Yields the rows of the file in pieces, and returns how reading ended. Throws SheetProblem if
   * the file needs more memory than the thread has, or more time than any file should, and the
   * signal's reason. After a throw, or if the caller stops early, the thread cannot be reused.
   */
  async *read(
    file: ReadFile,
    signal: AbortSignal,
  ): AsyncGenerator<readonly SheetRow[], ReadingEnd> {
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

  /** Only the first failure counts. */
  private failed(fault: Error): void {
    this.fault ??= fault;
    this.wake();
  }

  private async next(): Promise<Told> {
    // Counted in beats, of which a standstill of the process, and so of the thread, is one.
    let beats = 0;
    const late = setInterval(() => {
      beats += 1;
      if (beats === BEATS) this.failed(unreadable(TOO_LONG));
    }, this.maxSilenceMs / BEATS);
    try {
      for (;;) {
        const told = this.told.shift();
        if (told !== undefined) return told;
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
