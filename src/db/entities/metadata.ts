import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

export const METADATA_TYPES = ['transfer', 'bonus', 'payout'] as const;

/**
 * The index of operations by their metadata, of scheduled transfers by their schedule, and of refunds by
 * their original: a row for each pair, changed together with it.
 */
export const metadataPairs = defineTable(
  'metadata_pairs',
  {
    tenantId: column.uuid,
    resourceType: column.asciiEnum(METADATA_TYPES, 16),
    /** The first 16 bytes of the value's SHA-256. */
    valueHash: column.binary(16),
    name: column.ascii(40),
    /** When the operation was created. */
    createdAt: column.time,
    /** The operation's id. */
    id: column.uuid,
  },
  { key: ['tenantId', 'resourceType', 'valueHash', 'name', 'createdAt', 'id'] },
);
export type MetadataPair = RowOf<typeof metadataPairs>;
