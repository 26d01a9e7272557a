import * as column from '../columns.js';
import { defineTable } from '../table.js';

/**
 * The bytes of generated files, at most 64 KiB per row, valid once the owner's row states their
 * size.
 */
export const generatedFilePieces = defineTable(
  'generated_file_pieces',
  {
    ownerId: column.uuid,
    format: column.oneOf(['csv', 'xlsx']),
    number: column.integer,
    content: column.bytes,
  },
  { key: ['ownerId', 'format', 'number'] },
);
