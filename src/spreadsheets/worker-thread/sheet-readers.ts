import { on } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { FairQueue } from '../../core/scheduling.js';
import { SheetProblem, type SheetProblemCode, type SheetRow, unreadable } from '../sheet.js';

/** Most files of a few thousand rows are smaller. */
const SHORT_FILE_BYTES = 512 * 1024;

/** Limits of V8's heap. Texts are outside the heap and have a separate limit. */
const SHORT_MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };
const LONG_MEMORY = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

export interface FileToRead {
  readonly size: number;
  pieces(): AsyncIterable<Buffer>;
}

export interface ReadingOptions {
  readonly tenantId: string;
  readonly signal: AbortSignal;
}

/**
 * Reads files in worker threads: one kept for short files, because starting one takes 150 ms, and
 * one for each long file. Tenants take turns, and short files do not wait for long ones.
 */
export class SheetReaders {
  private readonly short = new FairQueue(1);
  private readonly long = new FairQueue(1);
  private readonly stopping = new AbortController();
  private shortThread: ReaderThread | null = null;

  /** Throws what `openSheet` throws, the reason of `signal`, and errors of `file.pieces()`. */
  async *rows(file: FileToRead, { tenantId, signal }: ReadingOptions): AsyncGenerator<SheetRow> {
    const until = AbortSignal.any([signal, this.stopping.signal]);
    const short = file.size > SHORT_FILE_BYTES ? null : await this.readShort(file, tenantId, until);
    if (short === null) {
      for await (const piece of this.readLong(file, tenantId, until))
        for (const row of piece) yield row;
      return;
    }
    for (const row of short.rows) yield row;
    assertComplete(short.end);
  }

  async close(): Promise<void> {
    this.stopping.abort(new Error('the readers of files are stopped'));
    await this.shortThread?.end();
  }

  private async readShort(
    file: FileToRead,
    tenantId: string,
    signal: AbortSignal,
  ): Promise<{ readonly rows: readonly SheetRow[]; readonly end: ReadingResult } | null> {
    const leave = await this.short.enter(tenantId, signal);
    try {
      const bytes = await bytesOf(file);
      if (this.shortThread?.isAlive !== true) this.shortThread = new ReaderThread(SHORT_MEMORY);
      const reading = this.shortThread.read({ bytes, isShort: true }, signal);
      const rows: SheetRow[] = [];
      let next = await reading.next();
      for (; next.done !== true; next = await reading.next()) rows.push(...next.value);
      return next.value.how === 'not_short' ? null : { rows, end: next.value };
    } catch (failure) {
      await this.shortThread?.end();
      // The thread for long files has more memory.
      if (failure instanceof SheetProblem) return null;
      throw failure;
    } finally {
      leave();
    }
  }

  private async *readLong(
    file: FileToRead,
    tenantId: string,
    signal: AbortSignal,
  ): AsyncGenerator<readonly SheetRow[]> {
    const leave = await this.long.enter(tenantId, signal);
    try {
      const thread = new ReaderThread(LONG_MEMORY);
      try {
        assertComplete(yield* thread.read({ bytes: await bytesOf(file), isShort: false }, signal));
      } finally {
        await thread.end();
      }
    } finally {
      leave();
    }
  }
}

function assertComplete(end: ReadingResult): void {
  if (end.how === 'problem') throw new SheetProblem(end.code, end.message);
  if (end.how === 'failed') throw new Error(`reading a file failed: ${end.message}`);
}

/** Reads the file into one buffer, which can be transferred to a thread. */
async function bytesOf(file: FileToRead): Promise<Uint8Array> {
  const all = new Uint8Array(file.size);
  let at = 0;
  for await (const piece of file.pieces()) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const THREAD = new URL('./read-files.js', import.meta.url);
/** Ten times longer than any file takes within the limits. */
const MAX_SILENCE_MS = 60_000;
const TICKS = 60;

/** A worker thread that reads one file at a time, with its own memory limit. */
export class ReaderThread {
  isAlive = true;
  private readonly worker: Worker;

  constructor(
    resourceLimits: ResourceLimits,
    private readonly maxSilenceMs = MAX_SILENCE_MS,
  ) {
    // The thread reads untrusted files, so it receives neither configuration nor secrets.
    this.worker = new Worker(THREAD, { resourceLimits, env: {}, execArgv: [] });
    this.worker.unref();
    const over = (): void => void (this.isAlive = false);
    this.worker.on('error', over).on('exit', over);
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
    const late = new AbortController();
    const until = AbortSignal.any([signal, late.signal]);
    const messages = on(this.worker, 'message', { signal: until, close: ['exit'] });
    try {
      this.worker.postMessage(file, [file.bytes.buffer as ArrayBuffer]);
      for (;;) {
        const stopWatch = watchSilence(this.maxSilenceMs, () => late.abort(unreadable(TOO_LONG)));
        const next = await messages.next().finally(stopWatch);
        if (next.done === true) throw new Error('the thread that reads a file was ended');
        const [{ rows, end }] = next.value as [RowsMessage];
        yield JSON.parse(rows) as readonly SheetRow[];
        if (end !== null) return end;
        this.worker.postMessage('more');
      }
    } catch (failure) {
      this.isAlive = false;
      if (until.aborted) throw until.reason;
      throw isOutOfMemory(failure) ? tooLarge() : failure;
    } finally {
      void messages.return?.();
    }
  }

  async end(): Promise<void> {
    this.isAlive = false;
    await this.worker.terminate();
  }
}

/** Calls `onLate` after `ms`. Counts ticks, so that time in which the process was suspended hardly counts. */
function watchSilence(ms: number, onLate: () => void): () => void {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks === TICKS) onLate();
  }, ms / TICKS);
  return () => clearInterval(timer);
}

const TOO_LONG =
  'reading the file took more than a minute: save it anew with your spreadsheet program';

function isOutOfMemory(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooLarge(): SheetProblem {
  return new SheetProblem(
    'too_large_inflated',
    'reading the file takes more memory than a file may take',
  );
}

/** A file to read. If `isShort`, the limits of short files apply, and all rows are sent at once. */
export interface FileMessage {
  readonly bytes: Uint8Array;
  readonly isShort: boolean;
}

/** A piece of the rows. The last message also contains the result. */
export interface RowsMessage {
  /** As JSON, which the main thread reads faster than clones. */
  readonly rows: string;
  readonly end: ReadingResult | null;
}

/** `failed` is a bug or fault of the service. */
export type ReadingResult =
  | { readonly how: 'whole' | 'not_short' }
  | { readonly how: 'problem'; readonly code: SheetProblemCode; readonly message: string }
  | { readonly how: 'failed'; readonly message: string };
