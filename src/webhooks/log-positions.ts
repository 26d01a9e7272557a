import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { eventCounters } from '../db/entities/events.js';

/** Places in a tenant's log. */

/** The sequence of its last event; 0 before the first. */
export async function headOf(reader: Reader, tenantId: Uuid): Promise<bigint> {
  return (await reader.find(eventCounters, { tenantId }))?.lastSequence ?? 0n;
}

/** The sequence of the first event at or after that time, or null. */
export async function firstSince(reader: Reader, tenantId: Uuid, since: Instant): Promise<bigint | null> {
  const [row] = await reader.query(
    `SELECT sequence FROM events FORCE INDEX (created)
     WHERE tenant_id=${column.uuid.literal(tenantId)} AND created_at>=${column.time.literal(since)}
     ORDER BY created_at, sequence LIMIT 1`,
  );
  return row === undefined ? null : column.bigint.parse(row.sequence);
}
