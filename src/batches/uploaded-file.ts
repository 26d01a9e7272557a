import type { Reader } from '../db/database.js';
import { type BonusBatch, uploadChunks } from '../db/entities/bonuses.js';
import type { FileToRead } from '../spreadsheets/worker-thread/sheet-readers.js';

/** A statement with a chunk as text is far smaller than any server's `max_allowed_packet`. */
export const CHUNK_BYTES = 1024 * 1024;

export function storedFile(
  reader: Reader,
  { id: batchId, fileBytes: size }: BonusBatch,
): FileToRead {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let number = 0; number * CHUNK_BYTES < size; number += 1) {
      const chunk = await reader.find(uploadChunks, { batchId, number });
      if (chunk === undefined) throw new Error('the bytes of an uploaded file are gone');
      yield chunk.content;
    }
  }
  return { size, pieces };
}
