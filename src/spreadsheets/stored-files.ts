import { notFound } from '../core/errors.js';
import { FairQueue } from '../core/fair-queue.js';
import type { Uuid } from '../core/ids.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { Throttle } from '../core/throttle.js';
import type { Reader } from '../db/database.js';
import { generatedFilePieces } from '../db/entities/generated-files.js';
import type { FileKind } from './open-sheet.js';

const PIECES_AT_A_TIME = 4;
/** 64 MB a second, so that many downloads leave CPU time for other requests. */
const PIECES_A_MS = 1;
const PIECES_KEPT = 64;
const KEPT_MS = 500;

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
  private readonly turns = new FairQueue(PIECES_AT_A_TIME);
  private readonly throttle = new Throttle(PIECES_A_MS);
  private readonly kept = new ExpiringCache<ReturnType<ReadPiece>>(PIECES_KEPT, KEPT_MS);

  open(file: StoredFile, read: ReadPiece): AsyncIterable<Buffer> {
    if (file.size === undefined || file.size === null) throw notFound();
    return this.pieces(file, file.size, read);
  }

  /** Throws if a piece is missing, because the file was removed during the download. */
  private async *pieces(file: StoredFile, size: number, read: ReadPiece): AsyncGenerator<Buffer> {
    for (let at = 0, number = 0; at < size; number += 1) {
      const piece = await this.piece(file, number, read);
      if (piece === undefined) throw new Error('a piece of a stored file is gone');
      await this.throttle.next(file.tenantId);
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
    const known = this.kept.get(key, now);
    if (known !== undefined) return known;
    const reading = this.turns.enter(tenantId).then((leave) => read(number).finally(leave));
    this.kept.set(key, reading, now);
    reading.catch(() => this.kept.delete(key));
    return reading;
  }
}
