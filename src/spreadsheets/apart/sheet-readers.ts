import { FairQueue } from '../../core/fair-queue.js';
import { SheetProblem, type SheetRow } from '../sheet.js';
import type { ReadingEnd } from './messages.js';
import { ReadingThread } from './reading-thread.js';

/** A file of a few thousand rows is smaller, unless it is full of other things. */
const SHORT_FILE_BYTES = 512 * 1024;

/** V8's heap. Texts are outside it, with their own bound (texts.ts). */
const SHORT_MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };
const WHOLE_MEMORY = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** A stored file: its pieces are read when its turn has come. */
export interface FileToRead {
  readonly size: number;
  pieces(): AsyncIterable<Buffer>;
}

/** The file's tenant, and the signal that it is no longer wanted. */
export interface ReadingFor {
  readonly tenantId: string;
  readonly signal: AbortSignal;
}

/**
 * Reads the files of a process in separate threads, so that no file takes the service's thread or memory. Total memory
 * is bounded by their number: one short file at a time, in a thread that is kept (a new one takes 150 ms), and one long
 * one, in a thread that ends with it and leaves nothing behind. Files take turns, one for each tenant, and a short one
 * never waits for a long one.
 */
export class SheetReaders {
  private readonly short = new FairQueue(1);
  private readonly whole = new FairQueue(1);
  private readonly stopping = new AbortController();
  private kept: ReadingThread | null = null;

  /** Like openSheet. Also throws the signal's reason, and what the file's pieces throw. */
  async *rows(file: FileToRead, { tenantId, signal }: ReadingFor): AsyncGenerator<SheetRow> {
    const until = AbortSignal.any([signal, this.stopping.signal]);
    const short = file.size > SHORT_FILE_BYTES ? null : await this.readShort(file, tenantId, until);
    if (short === null) {
      for await (const piece of this.readWhole(file, tenantId, until))
        for (const row of piece) yield row;
      return;
    }
    for (const row of short.rows) yield row;
    assertWhole(short.end);
  }

  async close(): Promise<void> {
    this.stopping.abort(new Error('the readers of files are stopped'));
    await this.kept?.end();
  }

  /** The whole file, or null if it is not short after all. */
  private async readShort(
    file: FileToRead,
    tenantId: string,
    signal: AbortSignal,
  ): Promise<{ readonly rows: readonly SheetRow[]; readonly end: ReadingEnd } | null> {
    const leave = await this.short.enter(tenantId, signal);
    try {
      const bytes = await bytesOf(file);
      if (this.kept?.isAlive !== true) this.kept = new ReadingThread(SHORT_MEMORY);
      const reading = this.kept.read({ bytes, isShort: true }, signal);
      const rows: SheetRow[] = [];
      let next = await reading.next();
      for (; next.done !== true; next = await reading.next()) rows.push(...next.value);
      return next.value.how === 'not_short' ? null : { rows, end: next.value };
    } catch (failure) {
      await this.kept?.end();
      // Too large for this thread; the other has more memory and time.
      if (failure instanceof SheetProblem) return null;
      throw failure;
    } finally {
      leave();
    }
  }

  private async *readWhole(
    file: FileToRead,
    tenantId: string,
    signal: AbortSignal,
  ): AsyncGenerator<readonly SheetRow[]> {
    const leave = await this.whole.enter(tenantId, signal);
    try {
      const thread = new ReadingThread(WHOLE_MEMORY);
      try {
        assertWhole(yield* thread.read({ bytes: await bytesOf(file), isShort: false }, signal));
      } finally {
        await thread.end();
      }
    } finally {
      leave();
    }
  }
}

/** Throws unless the file was read to its end. */
function assertWhole(end: ReadingEnd): void {
  if (end.how === 'problem') throw new SheetProblem(end.code, end.message);
  if (end.how === 'failed') throw new Error(`reading a file failed: ${end.message}`);
}

/** In a separate buffer, which can be transferred to a thread. */
async function bytesOf(file: FileToRead): Promise<Uint8Array> {
  const all = new Uint8Array(file.size);
  let at = 0;
  for await (const piece of file.pieces()) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
