import { createReadStream } from 'node:fs';
import type { FileKind } from './open-sheet.js';
import type { TablePaths } from './writing/table.js';

/**
 * Files of batches and statements, made once and stored in MySQL in pieces.
 * (docs/decisions/0030-files-of-a-batch-are-made-once.md)
 */

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

/**
 * Passes both files to `store`, a megabyte at a time, except the last part, which is returned. Rejects like `store` and
 * the file system.
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

/**
 * The pieces of a finished file of this many bytes, read as they are sent. Throws if one is missing because the file
 * was removed meanwhile.
 */
export async function* storedPieces(
  read: (number: number) => Promise<{ readonly content: Buffer } | undefined>,
  size: number,
  turn: () => Promise<() => void>,
): AsyncGenerator<Buffer> {
  for (let at = 0, number = 0; at < size; number += 1) {
    const leave = await turn();
    const piece = await read(number).finally(leave);
    if (piece === undefined) throw new Error('a piece of a stored file is gone');
    at += piece.content.length;
    yield piece.content;
  }
}
