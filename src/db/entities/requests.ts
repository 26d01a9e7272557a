import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { KEY_RESOURCE_TYPES } from './ledger.js';

/**
 * Results of requests, by ids ordered by time
 * (docs/decisions/0034-a-resource-has-its-requests-id.md).
 */
export const requests = defineTable('requests', {
  id: column.uuid,
  tenantId: column.uuid,
  memberId: column.uuid,
  /** From src/core/permissions.ts: its scopes show the request. */
  operation: column.ascii(40),
  method: column.ascii(8),
  /** The template with its ids filled in. */
  path: column.ascii(200),
  status: column.integer,
  code: column.nullable(column.ascii(40)),
  /** Resource that the request created, or that an earlier request with the key created. */
  resourceType: column.nullable(column.wordOf(KEY_RESOURCE_TYPES, 20)),
  resourceId: column.nullable(column.uuid),
});
export type StoredRequest = RowOf<typeof requests>;
