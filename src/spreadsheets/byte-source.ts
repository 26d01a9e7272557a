/** A file in memory, received in pieces. */
export interface ByteSource {
  readonly size: number;
  /** Returns exactly `length` bytes from `offset`. Both must be within the size. */
  read(offset: number, length: number): Buffer;
}

export function bytesOf(pieces: readonly Buffer[]): ByteSource {
  const starts: number[] = [];
  let size = 0;
  for (const piece of pieces) {
    starts.push(size);
    size += piece.length;
  }
  return {
    size,
    read(offset, length) {
      const found = pieces.flatMap((piece, index) => {
        const from = offset - (starts[index] ?? 0);
        return from + length > 0 && from < piece.length
          ? [piece.subarray(Math.max(0, from), from + length)]
          : [];
      });
      const [only] = found;
      return only !== undefined && found.length === 1 ? only : Buffer.concat(found);
    },
  };
}

const PIECE_BYTES = 64 * 1024;

export function* piecesOf(
  source: ByteSource,
  offset: number,
  end: number,
  pieceBytes = PIECE_BYTES,
): Generator<Buffer> {
  for (let at = offset; at < end; at += pieceBytes)
    yield source.read(at, Math.min(pieceBytes, end - at));
}
