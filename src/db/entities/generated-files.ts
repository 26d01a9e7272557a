import * as column from '../columns.js';
import { defineTable } from '../table.js';

/** At most 64 KiB of a generated file, valid once the owner's row states the file's size. */
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
