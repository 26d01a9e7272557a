/** Files that are made once and kept in MySQL in pieces: of batches and of statements. (docs/decisions/0030-files-of-a-batch-are-made-once.md) */

/** Each download has one in memory, and so has MySQL's answer. */
export const PIECE_BYTES = 64 * 1024;
export const PIECES_A_TRANSACTION = 16;

/** Another process makes the same files, or they are no longer wanted. */
export class MakingSuperseded extends Error {
  override name = 'MakingSuperseded';
}

/** The pieces of a finished file of so many bytes, read as they are taken. Throws where one is missing: it was removed meanwhile. */
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
