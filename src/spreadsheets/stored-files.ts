import { createReadStream } from 'node:fs';
import { notFound } from '../core/errors.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Uuid } from '../core/ids.js';
import { Throttle } from '../core/throttle.js';
import { Recent } from '../core/recent.js';
import type { FileKind } from './open-sheet.js';
import type { TablePaths } from './writing/table-files.js';

/**
 * Size of a stored piece. Each download holds one in memory, and MySQL's response holds another.
 */
const PIECE_BYTES = 64 * 1024;
const PIECES_A_TRANSACTION = 16;

/** Thrown if another process is generating the same files, or if they are no longer needed. */
export class GenerationSuperseded extends Error {
  override name = 'GenerationSuperseded';
}

export interface Piece {
  readonly format: FileKind;
  readonly number: number;
  readonly content: Buffer;
}

/** Pieces left to store, at most a megabyte. Contains all pieces of small files. */
export interface LastPieces {
  readonly rest: readonly Piece[];
  readonly csvBytes: number;
  readonly xlsxBytes: number;
}

/**
 * Passes both files to `store` in parts of a megabyte. Returns the last part instead of storing it.
 */
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

/** Maximum of concurrent reads of pieces, so that downloads do not delay other queries. */
const PIECES_AT_A_TIME = 4;
/** Maximum rate, 64 MB a second, so that many downloads leave CPU time for other requests. */
const PIECES_A_MS = 1;
/** Pieces kept for concurrent downloads of the same file, 4 MB in total. */
const PIECES_KEPT = 64;
const KEPT_MS = 500;

type ReadPiece = (number: number) => Promise<{ readonly content: Buffer } | undefined>;

/** A complete file. */
interface StoredFile {
  readonly tenantId: Uuid;
  readonly id: Uuid;
  readonly format: FileKind;
  /** Null or absent if the file was not generated. */
  readonly size: number | null | undefined;
}

export class StoredFiles {
  private readonly turns = new FairQueue(PIECES_AT_A_TIME);
  private readonly throttle = new Throttle(PIECES_A_MS);
  private readonly kept = new Recent<ReturnType<ReadPiece>>(PIECES_KEPT, KEPT_MS);

  /**
   * Returns the pieces of a file, each read on request. Throws `not_found` if the file was not
   * generated.
   */
  open(file: StoredFile, read: ReadPiece): AsyncIterable<Buffer> {
    if (file.size === undefined || file.size === null) throw notFound();
    return this.pieces(file, file.size, read);
  }

  /**
   * Yields the pieces. Throws if one is missing, because the file was removed during the download.
   */
  private async *pieces(file: StoredFile, size: number, read: ReadPiece): AsyncGenerator<Buffer> {
    for (let at = 0, number = 0; at < size; number += 1) {
      const piece = await this.piece(file, number, read);
      if (piece === undefined) throw new Error('a piece of a stored file is gone');
      await this.throttle.next(file.tenantId);
      at += piece.content.length;
      yield piece.content;
    }
  }

  /** Reads a piece. Concurrent requests for the same piece share one read. */
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
