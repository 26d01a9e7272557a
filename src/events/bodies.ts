import { toRfc3339 } from '../core/instant.js';
import type { ApiVersion } from '../core/versions.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { EVENT_SHAPES, type EventShape, type ShortBody, shortBody } from '../db/entities/events.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { DatabaseUnavailable } from '../db/failures.js';
import { rowParser } from '../db/table.js';
import { eventText } from '../ledger/event-log.js';
import { presentTransfer } from '../transfers/presenter.js';

export const STORED_EVENT = 'id,type,sequence,resource_id,created_at,body';

/** A row of the log, of a type that this process need not know. */
export const parseStoredEvent = rowParser({
  id: column.uuid,
  type: column.string,
  sequence: column.bigint,
  resourceId: column.uuid,
  createdAt: column.time,
  body: column.string,
});
export type StoredEvent = ReturnType<typeof parseStoredEvent>;

interface Shape {
  readonly version: ApiVersion;
  readonly present: (ended: Transfer) => Readonly<Record<string, unknown>>;
}

/** What presents a transfer with another field is another shape: each says the same bytes for ever. */
const SHAPES: Readonly<Record<EventShape, Shape>> = { t1: { version: '2026-11-01', present: presentTransfer } };

/**
 * The same with each body as JSON, the same bytes whenever it is read: as it was stored, or told from the row of what it is about, which
 * has ended and never changes again. Throws UnknownEnumValue on a shape of a later release, DatabaseUnavailable where the row has not ended:
 * a server that has just become the primary may be behind what the event was read from. (docs/decisions/0047-a-body-is-stored-once.md)
 */
export async function withWholeBodies<E extends StoredEvent>(reader: Reader, stored: readonly E[]): Promise<E[]> {
  const read = stored.map((event) => ({ event, short: shortBody(event.body) }));
  const ids = read.filter(({ short }) => short !== null).map(({ event }) => event.resourceId);
  const ended = ids.length === 0 ? [] : await reader.select(transfers, { id: [...new Set(ids)] });
  const byId = new Map(ended.map((transfer) => [transfer.id, transfer]));
  return read.map(({ event, short }) =>
    short === null ? event : { ...event, body: toldBy(event, short, byId.get(event.resourceId)) },
  );
}

function toldBy(event: StoredEvent, { shape, restored }: ShortBody, transfer: Transfer | undefined): string {
  const { version, present } = SHAPES[column.oneOf(EVENT_SHAPES).parse(shape)];
  if (transfer === undefined || transfer.status === 'pending_approval')
    throw new DatabaseUnavailable(`the transfer of event ${event.id} is not there as it ended`);
  const { head, data } = eventText(event.id, event.type, version, present(transfer));
  return `${head}${toRfc3339(event.createdAt)}","sequence":${event.sequence}${restored}${data}`;
}
