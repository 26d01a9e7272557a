import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../core/collections.js';
import { timeOfId, type Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import {
  type EventRemoval,
  eventRemovals,
  eventRetention,
  EVENT_TYPES,
  events,
  type EventType,
} from '../../db/entities/events.js';
import { RESOURCE_TYPES } from '../../db/entities/ledger.js';
import { type EventGap, eventGaps } from '../../db/entities/restores.js';
import { accounts } from '../../db/entities/parties.js';
import { eventFact, type Totals } from '../totals.js';
import {
  type AuditRun,
  type Check,
  readOwners,
  ROWS_PER_SLICE,
  scanTable,
  whereAll,
} from '../scan.js';
import { SOURCE_OF } from '../sources.js';
import type { Expectation } from '../operation-source.js';
import { bigint, nullable, string, time, uuid } from '../../db/columns.js';
import { defineTable, type RowOf } from '../../db/table.js';

const DAY_MS = 86_400_000;
/** If an audit takes longer, ranges from which events were removed are compared exactly. */
const LONGEST_AUDIT_MS = DAY_MS;

/** `events` with types of any release: a later one, or a damage, may have stored others. */
const storedEvents = defineTable(
  events.name,
  {
    tenantId: uuid,
    sequence: bigint,
    id: uuid,
    type: string,
    resourceId: uuid,
    body: string,
    createdAt: time,
  },
  { key: ['tenantId', 'sequence'] },
);
type StoredEvent = RowOf<typeof storedEvents>;

/**
 * Checks event logs: numbers without gaps except those of restores, dates in order, bodies that
 * match their rows, and resources that exist.
 */
export async function checkEvents(
  audit: AuditRun,
  totals: Totals,
  isExcluded: IsExcluded,
): Promise<void> {
  let before: StoredEvent | undefined;
  await scanTable(audit, storedEvents, ROWS_PER_SLICE, async (reader, slice) => {
    audit.countRows('events', slice.length);
    const tenantIds = slice.map((event) => event.tenantId);
    const [removals, gaps] = [
      await readRemovals(reader, tenantIds),
      await readGaps(reader, tenantIds),
    ];
    const resources = await readResources(reader, slice);
    for (const event of slice) {
      const { tenantId, resourceId, type } = event;
      const removedThrough = removals.get(tenantId)?.removedThrough ?? 0n;
      const own = before?.tenantId === tenantId ? before : undefined;
      checkNumber(audit, event, own, removedThrough, gaps.get(tenantId) ?? []);
      before = event;
      if (!EVENT_TYPES.some((known) => known === type)) {
        audit.report('event_type', `event ${event.id}`, `this version knows no type ${type}`);
        continue;
      }
      const resource = resources.get(resourceName(event));
      checkBody(audit, event, resource);
      const isOfOperation = !type.startsWith('account.');
      const excluded = isExcluded(resourceId, tenantId);
      if (isOfOperation && !excluded) totals.add(resourceId, eventFact(type), -1);
      checkResource(audit, event, resource, excluded);
    }
  });
}

export async function readRemovals(
  reader: Reader,
  tenantIds?: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, EventRemoval>> {
  const filter = tenantIds === undefined ? {} : { tenantId: [...new Set(tenantIds)] };
  const rows = await reader.select(eventRemovals, filter);
  return new Map(rows.map((row) => [row.tenantId, row]));
}

/** Returns whether retention may have removed events of the operation, which is older than they. */
export function mayBeRemoved(operationId: Uuid, removal: EventRemoval | undefined): boolean {
  return removal !== undefined && timeOfId(operationId) <= removal.removedUntil;
}

type IsExcluded = (operationId: Uuid, tenantId: Uuid) => boolean;

/**
 * Returns which operations' events stay out of the totals, because retention has removed them or
 * may do so before the audit ends. The scans of operations and of events must exclude the same ones.
 */
export async function readExcluded(reader: Reader, now: number): Promise<IsExcluded> {
  const days = (await reader.find(eventRetention, { name: 'events' }))?.days ?? null;
  const until = days === null ? -Infinity : now + LONGEST_AUDIT_MS - days * DAY_MS;
  const removals = await readRemovals(reader);
  return (operationId, tenantId) =>
    timeOfId(operationId) <= until || mayBeRemoved(operationId, removals.get(tenantId));
}

async function readGaps(
  reader: Reader,
  tenantIds: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, readonly EventGap[]>> {
  const filter = { tenantId: [...new Set(tenantIds)] };
  const rows = await reader.select(eventGaps, filter, { orderBy: ['tenantId', 'afterSequence'] });
  return groupBy(rows, ({ tenantId }) => tenantId);
}

/** Returns the last number skipped by the gaps that begin at `last`, or `last` without a gap. */
function acrossGaps(last: bigint, gaps: readonly EventGap[]): bigint {
  return gaps.reduce(
    (at, { afterSequence, throughSequence }) => (afterSequence === at ? throughSequence : at),
    last,
  );
}

/** Checks the number. The first remaining event follows the last one that retention removed. */
function checkNumber(
  audit: AuditRun,
  event: StoredEvent,
  before: StoredEvent | undefined,
  removedThrough: bigint,
  gaps: readonly EventGap[],
): void {
  const last = before?.sequence ?? 0n;
  const previous = acrossGaps(last > removedThrough ? last : removedThrough, gaps);
  if (event.sequence !== previous + 1n)
    audit.report(
      'event_sequence',
      `event ${event.id}`,
      `it is number ${event.sequence} and follows number ${previous}`,
    );
  if (before !== undefined && event.createdAt < before.createdAt)
    audit.report('event_time', `event ${event.id}`, 'it is dated before the event that it follows');
}

interface Resource {
  readonly tenantId: Uuid;
  /** Null for an account. */
  readonly operation: Expectation | null;
}

type Json = Readonly<Record<string, unknown>> | null;

function checkBody(audit: AuditRun, event: StoredEvent, resource: Resource | undefined): void {
  const body = parseObject(event.body);
  const object = asObject(asObject(body?.data)?.object);
  const row: Readonly<Record<string, string>> = {
    id: event.id,
    type: event.type,
    sequence: event.sequence.toString(),
    created_at: toRfc3339(event.createdAt),
  };
  const wrong = Object.keys(row).filter((field) => String(body?.[field]) !== row[field]);
  // The object in the event of a verification contains `account_id`.
  if ((object?.id ?? object?.account_id) !== event.resourceId) wrong.push('data.object');
  if (wrong.length > 0)
    audit.report('event_body', `event ${event.id}`, `its body differs in ${wrong.join(', ')}`);
  const operation = resource?.tenantId === event.tenantId ? resource.operation : null;
  if (object === null || operation === null) return;
  // Older events lack the columns that were added later.
  const columns = operation.columns().filter(([name]) => name in object);
  const expected = { ...Object.fromEntries(columns), ...operation.eventFields };
  const other = Object.keys(expected).filter(
    (field) => !isDeepStrictEqual(object[field] ?? null, expected[field]),
  );
  if (other.length > 0)
    audit.report(
      'event_body',
      `event ${event.id}`,
      `its body shows another ${other.join(' and ')}`,
    );
}

function parseObject(text: string): Json {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

/** Reports an event without a resource, and an excluded operation's event that its state lacks. */
function checkResource(
  audit: AuditRun,
  event: StoredEvent,
  resource: Resource | undefined,
  isExcluded: boolean,
): void {
  const { id, type, tenantId } = event;
  const subject = resourceName(event);
  if (resource?.tenantId !== tenantId)
    audit.report('event_resource', `event ${id}`, `the tenant has no ${subject}`);
  else if (isExcluded && resource.operation?.events.every((one) => one !== type) === true)
    audit.report('operation_event', subject, `its state has no event ${type}`);
}

async function readResources(
  reader: Reader,
  slice: readonly StoredEvent[],
): Promise<ReadonlyMap<string, Resource>> {
  const resources = new Map<string, Resource>();
  for (const [resourceType, own] of groupBy(slice, (event) => resourceTypeOf(event.type))) {
    const ids = own.map((event) => event.resourceId);
    const type = RESOURCE_TYPES.find((one) => one === resourceType);
    const operations = type === undefined ? [] : await SOURCE_OF[type].expectations(reader, ids);
    for (const [id, operation] of operations)
      resources.set(`${resourceType} ${id}`, { tenantId: operation.tenantId, operation });
    if (resourceType !== 'account') continue;
    for (const [id, tenantId] of await readOwners(reader, accounts, ids))
      resources.set(`${resourceType} ${id}`, { tenantId, operation: null });
  }
  return resources;
}

function resourceName({ type, resourceId }: StoredEvent): string {
  return `${resourceTypeOf(type)} ${resourceId}`;
}

function resourceTypeOf(type: string): string {
  return type.split('.')[0] ?? '';
}

type AccountEvent = Extract<EventType, `account.${string}`>;

/** Compares each type of account events with the accounts. */
const ACCOUNT_CHECKS: Readonly<Record<AccountEvent, (audit: AuditRun) => Promise<void>>> = {
  'account.verified': checkVerified,
};

/** Compares event logs with their counters and heads, and events of accounts with the accounts. */
export const eventLogChecks: Check = {
  tables: [],
  run: async (audit) => {
    for (const check of Object.values(ACCOUNT_CHECKS)) await check(audit);
    await checkCounters(audit);
    await checkHeads(audit);
  },
};

/**
 * Checks that each verified account has one event, because only its first declaration causes one.
 */
async function checkVerified(audit: AuditRun): Promise<void> {
  const rows = await audit.slice((reader) =>
    reader.query(
      `SELECT STRAIGHT_JOIN e.resource_id, CAST(COUNT(*) AS CHAR) AS events,
         MAX(a.verified_at) AS verified_at
       FROM tenants t JOIN events e FORCE INDEX (type)
         ON e.tenant_id=t.id AND e.type='account.verified'
       JOIN accounts a ON a.id=e.resource_id${whereAll(audit.tenantConditions('t.id'))}
       GROUP BY e.resource_id HAVING COUNT(*)>1 OR MAX(a.verified_at) IS NULL`,
    ),
  );
  for (const row of rows) {
    const state = row.verified_at === null ? 'not verified' : 'verified';
    const message = `it is ${state}, but has ${bigint.parse(row.events)} event(s) account.verified`;
    audit.report('account_verified', `account ${uuid.parse(row.resource_id)}`, message);
  }
}

async function checkCounters(audit: AuditRun): Promise<void> {
  await audit.slice(async (reader) => {
    const last = (column: string): string =>
      `(SELECT e.${column} FROM events e WHERE e.tenant_id=t.id
        ORDER BY e.sequence DESC LIMIT 1) AS ${column}`;
    const rows = await reader.query(
      `SELECT t.id, c.last_sequence, c.last_at, r.removed_through, ${last('sequence')},
         ${last('created_at')}
       FROM tenants t LEFT JOIN event_counters c ON c.tenant_id=t.id
       LEFT JOIN event_removals r ON r.tenant_id=t.id${whereAll(audit.tenantConditions('t.id'))}`,
    );
    audit.countRows('event_counters', rows.length);
    const gaps = await readGaps(
      reader,
      rows.map((row) => uuid.parse(row.id)),
    );
    const number = nullable(bigint);
    for (const row of rows) {
      const id = uuid.parse(row.id);
      const counter = number.parse(row.last_sequence);
      const lastKnown = number.parse(row.sequence) ?? number.parse(row.removed_through) ?? 0n;
      const end = acrossGaps(lastKnown, gaps.get(id) ?? []);
      const lastAt = nullable(time).parse(row.last_at);
      const createdAt = nullable(time).parse(row.created_at);
      const isBefore = lastAt !== null && createdAt !== null && lastAt < createdAt;
      const message =
        counter !== end
          ? `its counter is at ${counter ?? 'nothing'}, and its log ends at ${end}`
          : isBefore && 'its counter is dated before its last event';
      audit.report('event_counter', `tenant ${id}`, message);
    }
  });
}

/** Webhooks skip events after the head of their type. Retention may have removed the last event. */
async function checkHeads(audit: AuditRun): Promise<void> {
  const rows = await audit.slice((reader) =>
    reader.query(
      `SELECT found.* FROM
         (SELECT h.tenant_id, h.type, h.last_sequence AS head,
            (SELECT MAX(e.sequence) FROM events e WHERE e.tenant_id=h.tenant_id AND e.type=h.type) AS last
          FROM event_heads h${whereAll(audit.tenantConditions('h.tenant_id'))}
          UNION ALL SELECT logged.tenant_id, logged.type, NULL, logged.last FROM
            (SELECT e.tenant_id, e.type, MAX(e.sequence) AS last FROM events e FORCE INDEX (type)
             ${whereAll(audit.tenantConditions('e.tenant_id'))} GROUP BY e.tenant_id, e.type) logged
          LEFT JOIN event_heads h ON h.tenant_id=logged.tenant_id AND h.type=logged.type
          WHERE h.type IS NULL) found
       LEFT JOIN event_removals r ON r.tenant_id=found.tenant_id
       WHERE NOT found.head<=>found.last AND NOT COALESCE(
         found.head>COALESCE(found.last, 0) AND found.head<=r.removed_through, FALSE)`,
    ),
  );
  const number = nullable(bigint);
  for (const row of rows) {
    const [head, last] = [number.parse(row.head), number.parse(row.last)];
    const message = `its head of ${string.parse(row.type)} is at ${head ?? 'nothing'}, and its last such event is ${last ?? 'missing'}`;
    audit.report('event_head', `tenant ${uuid.parse(row.tenant_id)}`, message);
  }
}
