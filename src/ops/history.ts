import type { AuditAction } from '../access/audit-actions.js';
import { listAuditRows, memberOf, parseDetails } from '../access/audit-log.js';
import { counted } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { events } from '../db/entities/events.js';
import { members } from '../db/entities/parties.js';
import { webhookDeliveries } from '../db/entities/webhooks.js';
import { type History, readHistory } from '../support/reading/timeline.js';
import type { DeliveryWithAttempts } from '../webhooks/endpoints.js';
import { Described, type Fields, rowFields } from './fields.js';

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

/** Returns a delivery's event, its state, and when and how its last attempt ended. */
export function deliveryText(
  { eventType, state, attempts }: DeliveryWithAttempts,
  receiver = '',
): string {
  const last = attempts.at(-1);
  const made = `${eventType}${receiver}: ${state}, ${counted(attempts.length, 'attempt')}`;
  if (last === undefined) return made;
  const result = last.status === null ? last.failure : `answer ${last.status}`;
  return `${made}, the last at ${toRfc3339(last.at)}: ${result ?? 'no result yet'}`;
}

/** Shows a delivery with its last attempt. */
export function deliveryFields(delivery: DeliveryWithAttempts): Fields {
  const { attempts } = delivery;
  const last = attempts.at(-1);
  return {
    ...rowFields(webhookDeliveries, delivery, 'id eventId eventType cause'),
    status: delivery.state,
    attempts: attempts.length,
    last_attempt_at: toRfc3339(last?.at ?? null),
    last_result: last?.status ?? last?.failure ?? null,
    next_attempt_at: toRfc3339(delivery.nextAttemptAt),
  };
}

/** Reads by whom, when and why a resource was last changed by one of these actions. */
export async function readLastAction(
  reader: Reader,
  subjectId: Uuid,
  actions: readonly AuditAction[],
): Promise<Described | null> {
  const last = await findLastAction(reader, subjectId, actions);
  if (last === null) return null;
  const line = `${last.action} by ${last.by} (${last.channel}) at ${last.at}`;
  return Described.one(last.reason === null ? line : `${line}: ${String(last.reason)}`, last);
}

/** Finds by whom, when and why a resource was last changed by one of these actions. */
export async function findLastAction(
  reader: Reader,
  subjectId: Uuid,
  actions: readonly AuditAction[],
) {
  const [row] = await listAuditRows(reader, { subjectId, action: actions }, 1);
  if (row === undefined) return null;
  const { reason, why = reason ?? null } = parseDetails(row);
  const memberId = memberOf({ channel: row.channel, name: row.actorClaimed });
  const member = memberId === null ? undefined : await reader.find(members, { id: memberId });
  const [by, at] = [member?.name ?? row.actorClaimed, toRfc3339(row.at)];
  const { action, channel } = row;
  return { action, by, channel, at, reason: why };
}

/** Shows the events, their webhook deliveries and the notes of the staff. */
export function historyFields({ events: happened, deliveries, notes, taker }: History): Fields {
  return {
    events: Described.each(
      happened,
      ({ type, id, createdAt }) => `${type} at ${toRfc3339(createdAt)}: ${id}`,
      (event) => rowFields(events, event, 'id type sequence createdAt'),
    ),
    deliveries: Described.each(
      deliveries,
      ({ url, delivery, attempts, waitsFor }) => {
        const made = deliveryText({ ...delivery, attempts }, ` to ${url}`);
        return waitsFor === null || delivery.finishedAt !== null ? made : `${made}. ${waitsFor}`;
      },
      ({ url, delivery, attempts }) => {
        // A delivery of an event that its endpoint has not read has no row, so its id names nothing.
        const { id: _, ...fields } = deliveryFields({ ...delivery, attempts });
        return { url, ...fields };
      },
    ),
    notes: Described.each(
      notes,
      (row) => `${row.actorClaimed} at ${toRfc3339(row.at)}: ${String(parseDetails(row).note)}`,
      (row) => ({
        by: row.actorClaimed,
        at: toRfc3339(row.at),
        note: String(parseDetails(row).note),
      }),
    ),
    taken_by: taker?.name ?? null,
    taken_at: toRfc3339(taker?.since ?? null),
  };
}
