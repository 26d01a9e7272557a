import type { Uuid } from '../../core/ids.js';
import type { Traceparent } from '../../core/trace.js';
import * as column from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import type { SubscribableType } from '../../db/entities/events.js';
import type { WebhookDelivery } from '../../db/entities/webhooks.js';
import { parseStoredEvent, STORED_EVENT } from '../../events/stored-event.js';
import type { OpenDelivery } from './open-deliveries.js';

/** An event of the log that endpoints may subscribe to. */
export interface LoggedEvent {
  readonly tenantId: Uuid;
  readonly id: Uuid;
  readonly type: SubscribableType;
  readonly sequence: bigint;
  /** Shared by all the endpoints that it is sent to. */
  readonly body: Buffer;
  readonly traceparent: Traceparent | null;
}

export const LOGGED_EVENT = `${STORED_EVENT},tenant_id,traceparent`;

/** What a SELECT of LOGGED_EVENT answers, all of it of these types. */
export async function readLogged(
  reader: Reader,
  sql: string,
  types: readonly SubscribableType[],
): Promise<readonly LoggedEvent[]> {
  const rows = await reader.query(sql);
  return rows.map((row) => {
    const event = parseStoredEvent(row);
    return {
      ...event,
      body: Buffer.from(event.body, 'utf8'),
      tenantId: column.uuid.parse(row.tenant_id),
      type: column.oneOf(types).parse(row.type),
      traceparent: column.nullable(column.string).parse(row.traceparent),
    };
  });
}

export function opened(
  delivery: WebhookDelivery,
  { body, traceparent }: LoggedEvent,
): OpenDelivery {
  return { delivery, body, traceparent };
}
