import * as column from '../columns.js';
import { defineTable } from '../table.js';

/**
 * The bytes of generated files, at most 64 KiB per row. They are valid once the row of the owner, a
 * batch or a statement, states their size.
 */
export const generatedFilePieces = defineTable(
  'generated_file_pieces',
  {
    ownerId: column.uuid,
    format: column.oneOf(['csv', 'xlsx']),
    /** From 0; each but the last is full. */
    number: column.integer,
    content: column.bytes,
  },
  { key: ['ownerId', 'format', 'number'] },
);
