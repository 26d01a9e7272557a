import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../core/collections.js';
import { timeOfId, type Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import {
  type EventRemoval,
  eventRemovals,
  eventRetention,
  type EventRow,
  events,
} from '../../db/entities/events.js';
import { RESOURCE_TYPES } from '../../db/entities/ledger.js';
import { type EventGap, eventGaps } from '../../db/entities/restores.js';
import { accounts } from '../../db/entities/parties.js';
import { eventFact } from '../facts.js';
import type { AuditRun } from '../run.js';
import { ownersById, ROWS_A_SLICE, scanTable } from '../scan.js';
import { sourceOf } from '../sources/index.js';
import type { Expectation } from '../sources/types.js';
import type { Totals } from '../totals.js';

const DAY_MS = 86_400_000;
/** In a longer audit, ranges with removed events are compared exactly. */
const LONGEST_AUDIT_MS = DAY_MS;

/**
 * Checks event logs: numbers without gaps except those of restores, dates in order, bodies that
 * match their rows, and resources that exist.
 */
export async function checkEvents(
  audit: AuditRun,
  totals: Totals,
  isUncounted: Uncounted,
): Promise<void> {
  let before: EventRow | undefined;
  await scanTable(audit, events, ROWS_A_SLICE, async (reader, slice) => {
    audit.counted('events', slice.length);
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
      const resource = resources.get(nameOf(event));
      checkBody(audit, event, resource);
      const isOfOperation = !type.startsWith('account.');
      const uncounted = isUncounted(resourceId, tenantId);
      if (isOfOperation && !uncounted) totals.add(resourceId, eventFact(type), -1);
      checkResource(audit, event, resource, uncounted);
      before = event;
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

/** Returns whether retention may have removed events of the operation, which is never younger. */
export function mayBeRemoved(operationId: Uuid, removal: EventRemoval | undefined): boolean {
  return removal !== undefined && timeOfId(operationId) <= removal.removedUntil;
}

type Uncounted = (operationId: Uuid, tenantId: Uuid) => boolean;

/**
 * Returns which operations' events stay out of the totals, because retention has removed them or
 * may do so before the audit ends. Both sides must exclude the same.
 */
export async function readUncounted(reader: Reader, now: number): Promise<Uncounted> {
  const days = (await reader.find(eventRetention, { name: 'events' }))?.days ?? null;
  const until = days === null ? -Infinity : now + LONGEST_AUDIT_MS - days * DAY_MS;
  const removals = await readRemovals(reader);
  return (operationId, tenantId) =>
    timeOfId(operationId) <= until || mayBeRemoved(operationId, removals.get(tenantId));
}

export async function readGaps(
  reader: Reader,
  tenantIds: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, readonly EventGap[]>> {
  const filter = { tenantId: [...new Set(tenantIds)] };
  const rows = await reader.select(eventGaps, filter, { orderBy: ['tenantId', 'afterSequence'] });
  return groupBy(rows, ({ tenantId }) => tenantId);
}

/** Returns the number at which the log continues after the gaps that begin at `last`. */
export function acrossGaps(last: bigint, gaps: readonly EventGap[]): bigint {
  return gaps.reduce(
    (at, { afterSequence, throughSequence }) => (afterSequence === at ? throughSequence : at),
    last,
  );
}

/** Checks the number. The first remaining event follows the last one that retention removed. */
function checkNumber(
  audit: AuditRun,
  event: EventRow,
  before: EventRow | undefined,
  removedThrough: bigint,
  gaps: readonly EventGap[],
): void {
  const last = before?.sequence ?? 0n;
  const follows = acrossGaps(last > removedThrough ? last : removedThrough, gaps);
  if (event.sequence !== follows + 1n)
    audit.report(
      'event_sequence',
      `event ${event.id}`,
      `it is number ${event.sequence} and follows number ${follows}`,
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

function checkBody(audit: AuditRun, event: EventRow, resource: Resource | undefined): void {
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
  const shown = resource?.tenantId === event.tenantId ? resource.operation?.shown : undefined;
  if (object === null || shown === undefined) return;
  const other = Object.keys(shown).filter(
    (field) => !isDeepStrictEqual(object[field] ?? null, shown[field]),
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

/** Reports an event without a resource, or one outside the totals that does not fit its state. */
function checkResource(
  audit: AuditRun,
  event: EventRow,
  resource: Resource | undefined,
  isUncounted: boolean,
): void {
  const { id, type, tenantId } = event;
  const subject = nameOf(event);
  if (resource?.tenantId !== tenantId)
    audit.report('event_resource', `event ${id}`, `the tenant has no ${subject}`);
  else if (isUncounted && resource.operation?.events.includes(type) === false)
    audit.report('operation_event', subject, `its state has no event ${type}`);
}

async function readResources(
  reader: Reader,
  slice: readonly EventRow[],
): Promise<ReadonlyMap<string, Resource>> {
  const resources = new Map<string, Resource>();
  for (const [word, own] of groupBy(slice, (event) => wordOf(event.type))) {
    const ids = own.map((event) => event.resourceId);
    const type = RESOURCE_TYPES.find((one) => one === word);
    const operations = type === undefined ? [] : await sourceOf(type)?.expectations(reader, ids);
    for (const [id, operation] of operations ?? [])
      resources.set(`${word} ${id}`, { tenantId: operation.tenantId, operation });
    if (word !== 'account') continue;
    for (const [id, tenantId] of await ownersById(reader, accounts, ids))
      resources.set(`${word} ${id}`, { tenantId, operation: null });
  }
  return resources;
}

function nameOf({ type, resourceId }: EventRow): string {
  return `${wordOf(type)} ${resourceId}`;
}

function wordOf(type: string): string {
  return type.split('.')[0] ?? '';
}
