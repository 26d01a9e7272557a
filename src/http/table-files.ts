import { z } from './zod.js';

/** The formats in which a table can be downloaded, and which one is requested. */

export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
export const FILE_TYPES = ['text/csv', CONTENT_TYPES.xlsx] as const;

export const FileQuery = z.strictObject({ format: z.enum(['csv', 'xlsx']).default('csv') });
