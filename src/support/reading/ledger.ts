import { rangesWithin } from '../../accounts/movements.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { type Entry, entries, ledgerTransactions } from '../../db/entities/ledger.js';
import { type EventRow, events } from '../../db/entities/events.js';
import {
  type WebhookAttempt,
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import { columnList, literal, literals } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { eventsOf, gapsOf, sequencesWithin } from '../../events/log.js';

/** Finds entries and events, which have no index by resource, by the times of its changes. */

/** How many times of changes are searched: in a long history, only the newest. */
const MAX_INSTANTS = 24;
/** How many rows are read for each time. All commands of a group have the same time. */
const MAX_AT_ONE_INSTANT = 2_000;
/** Events are dated when their tenant's counter is locked, shortly after the change. */
const EVENT_LATER_MS = 5_000;

interface ChangedResource {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly accountIds: readonly Uuid[];
  readonly instants: readonly Instant[];
}

function distinct(instants: readonly Instant[]): readonly Instant[] {
  return [...new Set(instants)].sort((one, other) => one - other).slice(-MAX_INSTANTS);
}

export async function entriesOf(
  reader: Reader,
  { id, accountIds, instants }: ChangedResource,
): Promise<readonly Entry[]> {
  const found = await Promise.all(
    [...new Set(accountIds)].flatMap((accountId) =>
      distinct(instants).map((at) => entriesAt(reader, accountId, at, id)),
    ),
  );
  const all = new Map(found.flat().map((entry) => [entry.id, entry]));
  return [...all.values()].sort(
    (one, other) => one.createdAt - other.createdAt || (one.raw < other.raw ? -1 : 1),
  );
}

async function entriesAt(
  reader: Reader,
  accountId: Uuid,
  at: Instant,
  relatedId: Uuid,
): Promise<readonly Entry[]> {
  const ranges = await rangesWithin(reader, accountId, { from: at, to: at });
  const found = await Promise.all(
    ranges
      .filter(({ first, last }) => last === null || last >= first)
      .map(({ first, last }) =>
        reader.query(
          `SELECT ${columnList(entries, 'e')} FROM (SELECT * FROM entries FORCE INDEX (PRIMARY)
             WHERE account_id=${literal(entries, 'accountId', accountId)} AND seq>=${first}${last === null ? '' : ` AND seq<=${last}`}
             ORDER BY seq LIMIT ${MAX_AT_ONE_INSTANT}) e
           JOIN ledger_transactions x ON x.id=e.transaction_id
           WHERE x.related_id=${literal(ledgerTransactions, 'relatedId', relatedId)}`,
        ),
      ),
  );
  return found.flat().map((row) => parseRow(entries, row));
}

export async function eventsAbout(
  reader: Reader,
  { id, tenantId, instants }: Omit<ChangedResource, 'accountIds'>,
): Promise<readonly EventRow[]> {
  const rows = eventsOf(tenantId);
  const gaps = await gapsOf(reader, tenantId);
  const found = await Promise.all(
    distinct(instants).map(async (at) => {
      const { first, last } = await sequencesWithin(
        reader,
        tenantId,
        gaps,
        at,
        instant(at + EVENT_LATER_MS),
      );
      if (first > last) return [];
      return reader.query(
        `SELECT ${columnList(events, 'e')} FROM (SELECT * FROM events FORCE INDEX (PRIMARY)
           WHERE ${rows.owner} AND sequence>=${first} AND sequence<=${last} ORDER BY sequence LIMIT ${MAX_AT_ONE_INSTANT}) e
         WHERE e.resource_id=${literal(events, 'resourceId', id)}`,
      );
    }),
  );
  const all = new Map(found.flat().map((row) => [String(row.sequence), parseRow(events, row)]));
  return [...all.values()].sort((one, other) => (one.sequence < other.sequence ? -1 : 1));
}

export interface DeliveryHistory {
  readonly url: string;
  readonly delivery: WebhookDelivery;
  readonly attempts: readonly WebhookAttempt[];
}

/** Returns the events' deliveries to the tenant's endpoints. */
export async function deliveriesOf(
  reader: Reader,
  tenantId: Uuid,
  eventRows: readonly Pick<EventRow, 'id'>[],
): Promise<readonly DeliveryHistory[]> {
  if (eventRows.length === 0) return [];
  const endpoints = await endpointsOf(reader, tenantId);
  const ids = literals(
    webhookDeliveries,
    'eventId',
    eventRows.map(({ id }) => id),
  );
  const found = await Promise.all(
    endpoints.map(async ({ id: endpointId, url }) => {
      const deliveries = await reader.list(
        webhookDeliveries,
        `FORCE INDEX (event) WHERE endpoint_id=${literal(webhookDeliveries, 'endpointId', endpointId)}
         AND event_id IN (${ids}) ORDER BY id LIMIT 50`,
      );
      if (deliveries.length === 0) return [];
      const deliveryId = deliveries.map(({ id }) => id);
      const tried = await reader.select(
        webhookAttempts,
        { endpointId, deliveryId },
        { orderBy: ['deliveryId', 'id'] },
      );
      return deliveries.map((delivery) => ({
        url,
        delivery,
        attempts: tried.filter((attempt) => attempt.deliveryId === delivery.id),
      }));
    }),
  );
  return found.flat();
}

/** Returns the tenant's endpoints that are not deleted, at most 16, and its 50 newest. */
async function endpointsOf(reader: Reader, tenantId: Uuid): Promise<readonly WebhookEndpoint[]> {
  const tenant = `tenant_id=${literal(webhookEndpoints, 'tenantId', tenantId)}`;
  const [kept, newest] = await Promise.all([
    reader.list(
      webhookEndpoints,
      `FORCE INDEX (PRIMARY) WHERE id IN (SELECT endpoint_id FROM webhook_subscriptions WHERE ${tenant})`,
    ),
    reader.list(
      webhookEndpoints,
      `FORCE INDEX (tenant) WHERE ${tenant} ORDER BY created_at DESC, id DESC LIMIT 50`,
    ),
  ]);
  return [...new Map([...kept, ...newest].map((endpoint) => [endpoint.id, endpoint])).values()];
}
