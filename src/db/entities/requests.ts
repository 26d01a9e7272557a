import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { KEY_RESOURCE_TYPES } from './ledger.js';

/** Results of requests (docs/decisions/0034-a-resource-has-its-requests-id.md). */
export const requests = defineTable('requests', {
  id: column.uuid,
  tenantId: column.uuid,
  memberId: column.uuid,
  /** A key of PERMISSIONS. */
  operation: column.ascii(40),
  method: column.ascii(8),
  path: column.ascii(200),
  status: column.integer,
  code: column.nullable(column.ascii(40)),
  /** Created by the request, or by an earlier one with its key. */
  resourceType: column.nullable(column.asciiEnum(KEY_RESOURCE_TYPES, 20)),
  resourceId: column.nullable(column.uuid),
});
export type StoredRequest = RowOf<typeof requests>;
