import { FairQueue } from '../../core/fair-queue.js';
import { SheetProblem, type SheetRow } from '../sheet.js';
import type { ReadingResult } from './messages.js';
import { ReaderThread } from './reader-thread.js';

/** A file of a few thousand rows is smaller, unless it has much other content. */
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
