/** Bytes fetched as needed: a file is never in memory as a whole. */
export interface ByteSource {
  readonly size: number;
  /** Exactly `length` bytes from `offset`, both within the size. Throws what the store throws. */
  read(offset: number, length: number): Promise<Buffer>;
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
        return from + length > 0 && from < piece.length ? [piece.subarray(Math.max(0, from), from + length)] : [];
      });
      const [only] = found;
      return Promise.resolve(only !== undefined && found.length === 1 ? only : Buffer.concat(found));
    },
  };
}

const BLOCK_BYTES = 64 * 1024;

/** Consecutive small reads share one read of the store: a zip directory is read by a few dozen bytes. */
export function readAhead(source: ByteSource): ByteSource {
  let block: Buffer = Buffer.alloc(0);
  let start = 0;
  return {
    size: source.size,
    async read(offset, length) {
      if (length > BLOCK_BYTES) return source.read(offset, length);
      if (offset < start || offset + length > start + block.length) {
        block = await source.read(offset, Math.min(BLOCK_BYTES, source.size - offset));
        start = offset;
      }
      return block.subarray(offset - start, offset - start + length);
    },
  };
}

export async function* piecesOf(
  source: ByteSource,
  offset: number,
  end: number,
  pieceBytes = BLOCK_BYTES,
): AsyncGenerator<Buffer> {
  for (let at = offset; at < end; at += pieceBytes) yield await source.read(at, Math.min(pieceBytes, end - at));
}
