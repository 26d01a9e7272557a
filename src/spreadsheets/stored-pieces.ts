import { createReadStream } from 'node:fs';
import { notFound } from '../core/errors.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Uuid } from '../core/ids.js';
import type { FileKind } from './open-sheet.js';
import type { TablePaths } from './writing/table.js';

/** Files made once and stored in pieces. (docs/decisions/0030-files-of-a-batch-are-made-once.md) */

/** Each download holds one in memory, and so does MySQL's answer. */
const PIECE_BYTES = 64 * 1024;
const PIECES_A_TRANSACTION = 16;

/** Another process is making the same files, or they are no longer wanted. */
export class MakingSuperseded extends Error {
  override name = 'MakingSuperseded';
}

export interface Piece {
  readonly format: FileKind;
  readonly number: number;
  readonly content: Buffer;
}

/** What is left to store, at most a megabyte: everything for small files. */
export interface LastPieces {
  readonly rest: readonly Piece[];
  readonly csvBytes: number;
  readonly xlsxBytes: number;
}

/** Passes both files to `store`, a megabyte at a time, but for the last part, which is returned. */
export async function storeInPieces(
  paths: TablePaths,
  signal: AbortSignal,
  store: (pieces: readonly Piece[]) => Promise<void>,
): Promise<LastPieces> {
  let rest: Piece[] = [];
  const bytes = { csv: 0, xlsx: 0 };
  for (const format of ['csv', 'xlsx'] as const) {
    let number = 0;
    const contents: AsyncIterable<Buffer> = createReadStream(paths[format], { highWaterMark: PIECE_BYTES, signal });
    for await (const content of contents) {
      bytes[format] += content.length;
      rest.push({ format, number, content });
      number += 1;
      if (rest.length < PIECES_A_TRANSACTION) continue;
      await store(rest);
      rest = [];
    }
  }
  return { rest, csvBytes: bytes.csv, xlsxBytes: bytes.xlsx };
}

/** However many download at a time, nobody else's read waits behind more pieces of files than these. */
const PIECES_AT_A_TIME = 4;

export class StoredFiles {
  private readonly turns = new FairQueue(PIECES_AT_A_TIME);

  /** One of so many bytes, piece by piece, each read when it is taken. Throws not_found where it was not made. */
  open(
    tenantId: Uuid,
    size: number | null | undefined,
    read: (number: number) => Promise<{ readonly content: Buffer } | undefined>,
  ): AsyncIterable<Buffer> {
    if (size === undefined || size === null) throw notFound();
    return this.pieces(tenantId, size, read);
  }

  /** Throws where one is missing: the file was removed meanwhile. */
  private async *pieces(
    tenantId: Uuid,
    size: number,
    read: (number: number) => Promise<{ readonly content: Buffer } | undefined>,
  ): AsyncGenerator<Buffer> {
    for (let at = 0, number = 0; at < size; number += 1) {
      const leave = await this.turns.enter(tenantId);
      const piece = await read(number).finally(leave);
      if (piece === undefined) throw new Error('a piece of a stored file is gone');
      at += piece.content.length;
      yield piece.content;
    }
  }
}
