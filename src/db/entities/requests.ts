import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { KEY_RESOURCE_TYPES } from './ledger.js';

/**
 * Requests of which nothing that they made says what became of them. Their ids are in the order of time, so that rows are
 * only ever added at one end and removed at the other. (docs/decisions/0034-what-became-of-a-request.md)
 */
export const requests = defineTable('requests', {
  id: column.uuid,
  tenantId: column.uuid,
  memberId: column.uuid,
  /** Of src/core/permissions.ts: whose scopes show it. */
  operation: column.string,
  method: column.string,
  /** The template with its ids filled in. */
  path: column.string,
  status: column.integer,
  /** Of the error; null where it was none. */
  code: column.nullable(column.string),
  /** What it made, or had made before under its key. */
  resourceType: column.nullable(column.oneOf(KEY_RESOURCE_TYPES)),
  resourceId: column.nullable(column.uuid),
});
export type StoredRequest = RowOf<typeof requests>;
