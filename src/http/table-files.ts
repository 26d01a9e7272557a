import { z } from './zod.js';

/** The files that a table is given back as, and which of them is asked for. */

export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;
export const FILE_TYPES = ['text/csv', CONTENT_TYPES.xlsx] as const;

export const FileQuery = z.strictObject({ format: z.enum(['csv', 'xlsx']).default('csv') });
