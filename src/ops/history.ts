import { parseDetails } from '../access/audit-log.js';
import { counted } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { type History, readHistory } from '../support/reading/timeline.js';
import type { Fields } from './output.js';

/** Reads what happened to a resource that changed at these times. */
export function readHistoryOf(
  reader: Reader,
  resource: { readonly id: Uuid; readonly tenantId: Uuid },
  instants: readonly (Instant | null)[],
  now: Instant,
): Promise<History> {
  const source = { accountIds: [], instants, lines: [] };
  return readHistory(reader, resource, { timeZone: 'UTC', now }, source);
}

/** Shows the webhook deliveries and the notes of the staff. */
export function historyFields({ deliveries, notes, taker }: History): Fields {
  return {
    deliveries: deliveries.map(({ url, delivery, attempts }) => {
      const { eventType, state } = delivery;
      const status = attempts.at(-1)?.status;
      const last = status === null || status === undefined ? '' : `, last answer ${status}`;
      return `${eventType} to ${url}: ${state}, ${counted(attempts.length, 'attempt')}${last}`;
    }),
    notes: notes.map(
      (row) => `${row.actorClaimed} at ${toRfc3339(row.at)}: ${String(parseDetails(row).note)}`,
    ),
    taken_by: taker && `${taker.name} since ${toRfc3339(taker.since)}`,
  };
}
