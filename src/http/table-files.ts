import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from './zod.js';

export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
export const FILE_TYPES = ['text/csv', CONTENT_TYPES.xlsx] as const;

export const FileQuery = z.strictObject({ format: z.enum(['csv', 'xlsx']).default('csv') });

/** `name` is without its ending. */
export function tableFile(
  name: string,
  format: keyof typeof CONTENT_TYPES,
  pieces: AsyncIterable<Buffer>,
) {
  const file = {
    contentType: CONTENT_TYPES[format],
    name: `${name}.${format}`,
    write: (out: Writable) => pipeline(pieces, out),
  };
  return { status: 200, file };
}
