import * as column from '../db/columns.js';
import { rowParser } from '../db/table.js';

/** The columns of an event that readers of the log and webhooks need. */
export const STORED_EVENT = 'id,type,sequence,resource_id,created_at,body';

export const parseStoredEvent = rowParser({
  id: column.uuid,
  type: column.string,
  sequence: column.bigint,
  resourceId: column.uuid,
  createdAt: column.time,
  body: column.string,
});
export type StoredEvent = ReturnType<typeof parseStoredEvent>;
