import { newId, type Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Traceparent } from '../../core/trace.js';
import * as column from '../../db/columns.js';
import type { Reader, StoredRow } from '../../db/database.js';
import {
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
} from '../../db/entities/webhooks.js';
import { columnList, literals } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';

export interface OpenDelivery {
  readonly delivery: WebhookDelivery;
  /** Null if retention has removed the event. */
  readonly body: Buffer | null;
  readonly traceparent: Traceparent | null;
}

export function newDelivery(
  endpointId: Uuid,
  event: { readonly id: Uuid; readonly type: string; readonly sequence: bigint },
  cause: WebhookDelivery['cause'],
  round: number,
  now: Instant,
): WebhookDelivery {
  return {
    endpointId,
    id: newId(),
    eventId: event.id,
    eventType: event.type,
    sequence: event.sequence,
    cause,
    round,
    state: 'pending',
    steps: 0,
    nextAttemptAt: now,
    createdAt: now,
    finishedAt: null,
  };
}

/** Due deliveries of one lane, the longest waiting first. */
export async function readDue(
  reader: Reader,
  { id, tenantId }: WebhookEndpoint,
  state: 'pending' | 'retrying',
  now: Instant,
  limit: number,
): Promise<OpenDelivery[]> {
  const rows = await reader.query(
    `SELECT ${columnList(webhookDeliveries, 'd')}, v.body, v.traceparent FROM webhook_deliveries d FORCE INDEX (due)
     LEFT JOIN events v ON v.tenant_id=${column.uuid.literal(tenantId)} AND v.sequence=d.sequence
     WHERE d.endpoint_id=${column.uuid.literal(id)} AND d.state='${state}' AND d.next_attempt_at<=${column.time.literal(now)}
     ORDER BY d.next_attempt_at, d.id LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    delivery: parseRow(webhookDeliveries, row),
    traceparent: column.nullable(column.string).parse(row.traceparent),
    // Null if retention has removed the event.
    body: row.body === null ? null : Buffer.from(column.string.parse(row.body), 'utf8'),
  }));
}

/** When the first waiting delivery of each of these endpoints is due: the statement, and how to parse its result. */
export function earliestSql(endpointIds: Iterable<Uuid>): string {
  return `SELECT endpoint_id, state, MIN(next_attempt_at) AS at FROM webhook_deliveries FORCE INDEX (due)
    WHERE endpoint_id IN (${literals(webhookDeliveries, 'endpointId', endpointIds)}) AND state IN ('pending','retrying')
    GROUP BY endpoint_id, state`;
}

/** Endpoints without waiting deliveries are absent. */
export function parseEarliest(rows: readonly StoredRow[]): ReadonlyMap<Uuid, Instant> {
  const found = new Map<Uuid, Instant>();
  for (const row of rows) {
    const [id, at] = [column.uuid.parse(row.endpoint_id), column.time.parse(row.at)];
    const known = found.get(id);
    if (known === undefined || at < known) found.set(id, at);
  }
  return found;
}

export async function earliestDue(reader: Reader, endpointId: Uuid): Promise<Instant | null> {
  const first = (state: string): string =>
    `(SELECT next_attempt_at AS at FROM webhook_deliveries FORCE INDEX (due)
      WHERE endpoint_id=${column.uuid.literal(endpointId)} AND state='${state}' ORDER BY next_attempt_at LIMIT 1)`;
  const rows = await reader.query(
    `${first('pending')} UNION ALL ${first('retrying')} ORDER BY at LIMIT 1`,
  );
  return rows[0] === undefined ? null : column.time.parse(rows[0].at);
}

export async function earliestRetry(
  reader: Reader,
  endpointId: Uuid,
  now: Instant,
): Promise<Instant | null> {
  const [row] = await reader.query(
    `SELECT next_attempt_at AS at FROM webhook_deliveries FORCE INDEX (due)
     WHERE endpoint_id=${column.uuid.literal(endpointId)} AND state='retrying' AND next_attempt_at>${column.time.literal(now)}
     ORDER BY next_attempt_at LIMIT 1`,
  );
  return row === undefined ? null : column.time.parse(row.at);
}
