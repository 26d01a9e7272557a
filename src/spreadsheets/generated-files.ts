import { createReadStream } from 'node:fs';
import { FairQueue, Throttle } from '../core/scheduling.js';
import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { generatedFilePieces } from '../db/entities/statements.js';
import { deleteSql, insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { notFound } from '../core/errors.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import type { FileKind } from './open-sheet.js';
import { type Table, withTableFiles } from './writing/with-table-files.js';

/**
 * Files of batches and statements, stored in pieces.
 * (docs/decisions/0030-files-of-a-batch-are-made-once.md)
 */

/** Each download holds one piece in memory. */
const PIECE_BYTES = 64 * 1024;
const PIECES_PER_TRANSACTION = 16;
const PIECES_PER_DELETE = 256;

/** Thrown if another process is generating the same files, or if they are no longer needed. */
export class GenerationSuperseded extends Error {
  override name = 'GenerationSuperseded';
}

/** Access to the rows that own files: the batches or the statements. */
export interface FileOwner {
  /** Locks the owner's row. Returns its last attempt, or null if the files exist or are not needed. */
  lockAttempt(transaction: Transaction, ownerId: Uuid): Promise<number | null>;
  /** Returns the SQL that stores the number of the last attempt. */
  attemptSql(ownerId: Uuid, attempt: number): string;
}

interface Piece {
  readonly format: FileKind;
  readonly number: number;
  readonly content: Buffer;
}

/** Generated files of an owner whose row does not state their sizes yet. */
export interface GeneratedFiles {
  readonly ownerId: Uuid;
  /** Null if no piece is stored yet. */
  readonly attempt: number | null;
  /** Pieces left to store, at most a megabyte. */
  readonly rest: readonly Piece[];
  readonly csvBytes: number;
  readonly xlsxBytes: number;
}

type PiecesToStore = Pick<GeneratedFiles, 'ownerId' | 'attempt' | 'rest'>;

/**
 * Writes the files and stores most of their pieces. The caller completes them with `storePieces`.
 * Calls may be repeated, late or concurrent.
 */
export function generateFiles(
  database: Database,
  owner: FileOwner,
  ownerId: Uuid,
  table: Table,
  signal: AbortSignal,
): Promise<GeneratedFiles> {
  return withTableFiles(table, signal, async (paths) => {
    const bytes = { csv: 0, xlsx: 0 };
    let attempt: number | null = null;
    let rest: Piece[] = [];
    for (const format of ['csv', 'xlsx'] as const) {
      let number = 0;
      const options = { highWaterMark: PIECE_BYTES, signal };
      const contents: AsyncIterable<Buffer> = createReadStream(paths[format], options);
      for await (const content of contents) {
        bytes[format] += content.length;
        rest.push({ format, number, content });
        number += 1;
        if (rest.length < PIECES_PER_TRANSACTION) continue;
        const pieces: PiecesToStore = { ownerId, attempt, rest };
        attempt = await transact(database, (transaction) =>
          storePieces(transaction, owner, pieces),
        );
        rest = [];
      }
    }
    return { ownerId, attempt, rest, csvBytes: bytes.csv, xlsxBytes: bytes.xlsx };
  });
}

/**
 * Stores pieces, which replace those of earlier attempts, and returns the number of the attempt.
 * The caller stores the sizes in the transaction of the last pieces. Throws `GenerationSuperseded`.
 */
export async function storePieces(
  transaction: Transaction,
  owner: FileOwner,
  { ownerId, attempt, rest }: PiecesToStore,
): Promise<number> {
  const last = await owner.lockAttempt(transaction, ownerId);
  if (last === null || (attempt !== null && attempt !== last))
    throw new GenerationSuperseded(
      'another process is generating these files, or they are no longer needed',
    );
  if (attempt === null) {
    await transaction.execute(deleteSql(generatedFilePieces, { ownerId }));
    await transaction.execute(owner.attemptSql(ownerId, last + 1));
  }
  const rows = rest.map((piece) => ({ ownerId, ...piece }));
  if (rows.length > 0) await transaction.execute(insertSql(generatedFilePieces, rows));
  return attempt ?? last + 1;
}

/** Removes up to PIECES_PER_DELETE pieces. Returns whether more may remain. */
export async function removePieces(transaction: Transaction, ownerId: Uuid): Promise<boolean> {
  const sql = `DELETE FROM generated_file_pieces WHERE owner_id=${uuid.literal(ownerId)}
    ORDER BY format, number LIMIT ${PIECES_PER_DELETE}`;
  return (await transaction.execute(sql)) === PIECES_PER_DELETE;
}

const CONCURRENT_READS = 4;
/** 64 MB a second, so that many downloads leave CPU time for other requests. */
const PIECES_PER_MS = 1;
const CACHED_PIECES = 64;
const CACHED_MS = 500;

type ReadPiece = (number: number) => Promise<{ readonly content: Buffer } | undefined>;

export function pieceReader(reader: Reader, ownerId: Uuid, format: FileKind): ReadPiece {
  return (number) => reader.find(generatedFilePieces, { ownerId, format, number });
}

interface StoredFile {
  readonly tenantId: Uuid;
  readonly id: Uuid;
  readonly format: FileKind;
  readonly size: number | null | undefined;
}

/** Sends files to clients piece by piece, tenants in turn. */
export class StoredFiles {
  private readonly reads = new FairQueue(CONCURRENT_READS);
  private readonly throttle = new Throttle(PIECES_PER_MS);
  private readonly cache = new ExpiringCache<ReturnType<ReadPiece>>(CACHED_PIECES, CACHED_MS);

  open(file: StoredFile, read: ReadPiece): AsyncIterable<Buffer> {
    if (file.size === undefined || file.size === null) throw notFound();
    return this.pieces(file, file.size, read);
  }

  /** Throws if a piece is missing, because the file was removed during the download. */
  private async *pieces(file: StoredFile, size: number, read: ReadPiece): AsyncGenerator<Buffer> {
    for (let at = 0, number = 0; at < size; number += 1) {
      const piece = await this.piece(file, number, read);
      if (piece === undefined) throw new Error('a piece of a stored file is missing');
      await this.throttle.waitForTurn(file.tenantId);
      at += piece.content.length;
      yield piece.content;
    }
  }

  private piece(
    { tenantId, id, format }: StoredFile,
    number: number,
    read: ReadPiece,
  ): ReturnType<ReadPiece> {
    const key = `${id} ${format} ${number}`;
    const now = performance.now();
    const cached = this.cache.get(key, now);
    if (cached !== undefined) return cached;
    const reading = this.reads.enter(tenantId).then((leave) => read(number).finally(leave));
    this.cache.set(key, reading, now);
    reading.catch(() => this.cache.delete(key));
    return reading;
  }
}
