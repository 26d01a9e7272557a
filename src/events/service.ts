import { notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { type EventFilter, type EventOrder, type EventPage, findEvent, readEvents } from './log.js';

/** The tenant's event log, as the API reads it. */
export class EventLog {
  private readonly reader: Reader;

  constructor(reader: Reader) {
    this.reader = reader;
  }

  list(
    caller: Caller,
    filter: EventFilter,
    order: EventOrder,
    after: bigint | null,
    limit: number,
  ): Promise<EventPage> {
    return readEvents(this.reader, caller.tenantId, filter, order, after, limit);
  }

  /** The Event as it was serialised once. Throws not_found. */
  async read(caller: Caller, id: Uuid): Promise<string> {
    const body = await findEvent(this.reader, caller.tenantId, id);
    if (body === undefined) throw notFound();
    return body;
  }
}
