import type { Reader } from '../db/database.js';
import { type BonusBatch, uploadChunks } from '../db/entities/bonuses.js';
import type { ByteSource } from '../spreadsheets/byte-source.js';

/** 1 MiB: a statement with one as text stays far below any server's max_allowed_packet. */
export const CHUNK_BYTES = 1024 * 1024;
/** A zip is read at its end, then from the beginning; everything else is read straight through. */
const CHUNKS_KEPT = 2;

export function storedFile(reader: Reader, { id: batchId, fileBytes }: BonusBatch): ByteSource {
  const kept = new Map<number, Buffer>();
  const chunk = async (number: number): Promise<Buffer> => {
    const known = kept.get(number);
    if (known !== undefined) return known;
    const found = await reader.find(uploadChunks, { batchId, number });
    if (found === undefined) throw new Error('the bytes of an uploaded file are gone');
    const [oldest] = kept.keys();
    if (kept.size === CHUNKS_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(number, found.content);
    return found.content;
  };
  return {
    size: fileBytes,
    read: async (offset, length) => {
      const end = Math.min(offset + length, fileBytes);
      const parts: Buffer[] = [];
      for (let at = offset; at < end;) {
        const number = Math.floor(at / CHUNK_BYTES);
        const from = at - number * CHUNK_BYTES;
        const part = (await chunk(number)).subarray(from, from + end - at);
        parts.push(part);
        at += part.length;
      }
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    },
  };
}
