import type { FileAnswer } from './route.js';
import { z } from './zod.js';

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
export const FILE_TYPES = ['text/csv', CONTENT_TYPES.xlsx] as const;

export const FileQuery = z.strictObject({ format: z.enum(['csv', 'xlsx']).default('csv') });

/** `name` is without its ending. */
export function tableFile(
  name: string,
  format: keyof typeof CONTENT_TYPES,
  pieces: FileAnswer['pieces'],
) {
  const contentType = CONTENT_TYPES[format];
  return { status: 200, file: { contentType, name: `${name}.${format}`, pieces } };
}
