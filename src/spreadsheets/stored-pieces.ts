import { createReadStream } from 'node:fs';
import { notFound } from '../core/errors.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Uuid } from '../core/ids.js';
import { Throttle } from '../core/throttle.js';
import { Recent } from '../core/recent.js';
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
    const contents: AsyncIterable<Buffer> = createReadStream(paths[format], {
      highWaterMark: PIECE_BYTES,
      signal,
    });
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
/** 64 MB a second: a crowd would otherwise take whatever the machine has, and others' reads wait for a processor. */
const PIECES_A_MS = 1;
/** Pieces that many who download the same file are given without reading them again: 4 MB. */
const PIECES_KEPT = 64;
const KEPT_MS = 500;

type ReadPiece = (number: number) => Promise<{ readonly content: Buffer } | undefined>;

/** A finished file. */
interface StoredFile {
  readonly tenantId: Uuid;
  readonly id: Uuid;
  readonly format: FileKind;
  /** Absent or null where it was not made. */
  readonly size: number | null | undefined;
}

export class StoredFiles {
  private readonly turns = new FairQueue(PIECES_AT_A_TIME);
  private readonly throttle = new Throttle(PIECES_A_MS);
  private readonly kept = new Recent<ReturnType<ReadPiece>>(PIECES_KEPT, KEPT_MS);

  /** Piece by piece, each read when it is taken. Throws not_found where it was not made. */
  open(file: StoredFile, read: ReadPiece): AsyncIterable<Buffer> {
    if (file.size === undefined || file.size === null) throw notFound();
    return this.pieces(file, file.size, read);
  }

  /** Throws where one is missing: the file was removed meanwhile. */
  private async *pieces(file: StoredFile, size: number, read: ReadPiece): AsyncGenerator<Buffer> {
    for (let at = 0, number = 0; at < size; number += 1) {
      const piece = await this.piece(file, number, read);
      if (piece === undefined) throw new Error('a piece of a stored file is gone');
      await this.throttle.next(file.tenantId);
      at += piece.content.length;
      yield piece.content;
    }
  }

  /** Concurrent requests for the same piece share one read. */
  private piece(
    { tenantId, id, format }: StoredFile,
    number: number,
    read: ReadPiece,
  ): ReturnType<ReadPiece> {
    const key = `${id} ${format} ${number}`;
    const now = performance.now();
    const known = this.kept.get(key, now);
    if (known !== undefined) return known;
    const reading = this.turns.enter(tenantId).then((leave) => read(number).finally(leave));
    this.kept.set(key, reading, now);
    reading.catch(() => this.kept.delete(key));
    return reading;
  }
}
