import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { type EventFilter, type EventOrder, type EventPage, findEvent, readEvents } from './log.js';
import { isExpired, removedThrough } from './retention.js';

export class EventLog {
  constructor(private readonly reader: Reader) {}

  /** Throws invalid_field (cursor, expired) if what followed is removed, so that a follower learns what it missed. */
  async list(
    caller: Caller,
    filter: EventFilter,
    order: EventOrder,
    after: bigint | null,
    limit: number,
  ): Promise<EventPage> {
    const page = await readEvents(this.reader, caller.tenantId, filter, order, after, limit);
    // Checked after the page was read, so that nothing can be removed unnoticed in between.
    if (after !== null && isExpired(after, order, await removedThrough(this.reader, caller.tenantId)))
      throw new ApiError(invalidField('cursor', 'expired'));
    return page;
  }

  /** The Event as JSON, the same bytes every time. Throws not_found. */
  async read(caller: Caller, id: Uuid): Promise<string> {
    const body = await findEvent(this.reader, caller.tenantId, id);
    if (body === undefined) throw notFound();
    return body;
  }
}
