import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../core/collections.js';
import { timeOfId, type Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { bigint, nullable, time, uuid } from '../../db/columns.js';
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
import { type AuditRun, type Check, LONGEST_PASS_MS } from '../run.js';
import { sourceOf } from '../sources/index.js';
import type { OperationSource } from '../sources/types.js';
import { ownersById, ROWS_A_SLICE, walkTable, whereAll } from '../walk.js';

const DAY_MS = 86_400_000;

/**
 * Each tenant's log: gapless except where restores skipped numbers, never dated backwards, each body matching its row,
 * each event about something that exists.
 */
export const eventChecks: Check = {
  tables: ['events'],
  run: async (audit) => {
    const memory = audit.memory<{ before?: EventRow }>({});
    const mayBeUntallied = await audit.slice((reader) => readUntallied(audit, reader));
    await walkTable(audit, events, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('events', slice.length);
      const tenantIds = slice.map((event) => event.tenantId);
      const removals = await readRemovals(reader, tenantIds);
      const isUntallied = ({ tenantId, resourceId }: EventRow): boolean =>
        mayBeUntallied(resourceId, removals.get(tenantId));
      const bodies = new Map<EventRow, Body>();
      const gaps = await readGaps(reader, tenantIds);
      for (const event of slice) {
        const removedThrough = removals.get(event.tenantId)?.removedThrough ?? 0n;
        const { before } = memory;
        const follows = {
          before: before?.tenantId === event.tenantId ? before : undefined,
          removedThrough,
        };
        checkPlace(audit, event, { ...follows, gaps: gaps.get(event.tenantId) ?? [] });
        bodies.set(event, parseObject(event.body));
        checkBody(audit, event, bodies.get(event) ?? null);
        if (isOfOperation(event) && audit.isInTime(event.resourceId) && !isUntallied(event))
          audit.tally.add(event.resourceId, eventFact(event.type), -1);
        memory.before = event;
      }
      await checkResources(audit, reader, { slice, bodies, isUntallied });
    });
  },
};

/** What retention has removed from these tenants' logs; without ids: from all. */
export async function readRemovals(
  reader: Reader,
  tenantIds?: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, EventRemoval>> {
  const rows = await reader.select(
    eventRemovals,
    tenantIds === undefined ? {} : { tenantId: [...new Set(tenantIds)] },
  );
  return new Map(rows.map((row) => [row.tenantId, row]));
}

/** An event is never older than its operation, whose id begins with its time. */
export function mayBeRemoved(operationId: Uuid, removal: EventRemoval | undefined): boolean {
  return removal !== undefined && timeOfId(operationId) <= removal.removedUntil;
}

type Untallied = (operationId: Uuid, removal: EventRemoval | undefined) => boolean;

/**
 * Whose events are in no tally: what retention has removed, or may remove before the pass ends. Both sides must leave
 * out the same, and hours may lie between their walks.
 */
export async function readUntallied(audit: AuditRun, reader: Reader): Promise<Untallied> {
  const days = (await reader.find(eventRetention, { name: 'events' }))?.days ?? null;
  const until = days === null ? -Infinity : audit.beganAt + LONGEST_PASS_MS - days * DAY_MS;
  return (operationId, removal) =>
    timeOfId(operationId) <= until || mayBeRemoved(operationId, removal);
}

function isOfOperation({ type }: Pick<EventRow, 'type'>): boolean {
  return !type.startsWith('account.');
}

async function readGaps(
  reader: Reader,
  tenantIds: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, readonly EventGap[]>> {
  const rows = await reader.select(
    eventGaps,
    { tenantId: [...new Set(tenantIds)] },
    { orderBy: ['tenantId', 'afterSequence'] },
  );
  return groupBy(rows, ({ tenantId }) => tenantId);
}

/** Where the log continues after a gap that begins there, or several. `gaps` in order. */
function acrossGaps(last: bigint, gaps: readonly EventGap[]): bigint {
  return gaps.reduce(
    (at, { afterSequence, throughSequence }) => (afterSequence === at ? throughSequence : at),
    last,
  );
}

interface Preceding {
  readonly before: EventRow | undefined;
  readonly removedThrough: bigint;
  readonly gaps: readonly EventGap[];
}

/** The first event kept follows the last one removed. */
function checkPlace(
  audit: AuditRun,
  event: EventRow,
  { before, removedThrough, gaps }: Preceding,
): void {
  const last = before?.sequence ?? 0n;
  const follows = acrossGaps(last > removedThrough ? last : removedThrough, gaps);
  if (event.sequence !== follows + 1n)
    audit.report(
      'event_sequence',
      nameOf(event),
      `it is number ${event.sequence} and follows number ${follows}`,
    );
  if (before !== undefined && event.createdAt < before.createdAt)
    audit.report('event_time', nameOf(event), 'it is dated before the event that it follows');
}

/** The JSON of an event's whole body; null if it is none. */
type Body = Readonly<Record<string, unknown>> | null;

function checkBody(audit: AuditRun, event: EventRow, body: Body): void {
  const wanted: Readonly<Record<string, string>> = {
    id: event.id,
    type: event.type,
    sequence: event.sequence.toString(),
    created_at: toRfc3339(event.createdAt),
  };
  const wrong = Object.keys(wanted).filter((field) => String(body?.[field]) !== wanted[field]);
  if (idOfObject(body) !== event.resourceId) wrong.push('data.object');
  if (wrong.length > 0)
    audit.report('event_body', nameOf(event), `its body differs in ${wrong.join(', ')}`);
}

/** The resource in the body. A verification event names the account. */
function idOfObject(body: Body): unknown {
  const object = objectOf(body);
  return object?.id ?? object?.account_id;
}

function objectOf(body: Body): Body {
  return asObject(asObject(body?.data)?.object);
}

/** What its body shows of the resource, of that which never changes. */
function checkShown(
  audit: AuditRun,
  event: EventRow,
  body: Body,
  shown: Readonly<Record<string, unknown>>,
): void {
  const object = objectOf(body);
  if (object === null) return;
  const wrong = Object.keys(shown).filter(
    (field) => !isDeepStrictEqual(object[field] ?? null, shown[field]),
  );
  if (wrong.length > 0)
    audit.report('event_body', nameOf(event), `its body shows another ${wrong.join(' and ')}`);
}

function parseObject(text: string): Body {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Body {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

interface ReadEvents {
  readonly slice: readonly EventRow[];
  readonly bodies: ReadonlyMap<EventRow, Body>;
  readonly isUntallied: (event: EventRow) => boolean;
}

/** If an operation's other events may have been removed, this also reports events that its state does not call for. */
async function checkResources(
  audit: AuditRun,
  reader: Reader,
  { slice, bodies, isUntallied }: ReadEvents,
): Promise<void> {
  for (const [word, own] of groupBy(slice, (event) => event.type.split('.')[0] ?? '')) {
    const ids = own.map((event) => event.resourceId);
    const owners = await ownersOf(reader, word, ids);
    const expected = await sourceCalled(word)?.expectations(
      reader,
      own.map((event) => event.resourceId),
    );
    for (const event of own) {
      const resource = expected?.get(event.resourceId);
      if (owners.get(event.resourceId) !== event.tenantId)
        audit.report(
          'event_resource',
          nameOf(event),
          `the tenant has no ${word} ${event.resourceId}`,
        );
      else if (resource !== undefined) {
        checkShown(audit, event, bodies.get(event) ?? null, resource.shown);
        if (isUntallied(event) && !resource.events.includes(event.type))
          audit.report(
            'operation_event',
            `${word} ${event.resourceId}`,
            `its state has no event ${event.type}`,
          );
      }
    }
  }
}

async function ownersOf(
  reader: Reader,
  word: string,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, Uuid>> {
  if (word === 'account') return ownersById(reader, accounts, ids);
  return (await sourceCalled(word)?.owners(reader, ids)) ?? new Map<Uuid, Uuid>();
}

function sourceCalled(word: string): OperationSource | undefined {
  const type = RESOURCE_TYPES.find((one) => one === word);
  return type === undefined ? undefined : sourceOf(type);
}

function nameOf(event: EventRow): string {
  return `event ${event.id}`;
}

/** The events of verified accounts, tenant by tenant: only the first declaration of an account emits one. */
export const verifiedChecks: Check = {
  tables: [],
  run: async (audit) => {
    const tenantIds = audit.tenantId === undefined ? await readTenantIds(audit) : [audit.tenantId];
    for (const tenantId of tenantIds) {
      const rows = await audit.slice((reader) =>
        reader.query(
          `SELECT e.resource_id, CAST(COUNT(*) AS CHAR) AS events, MAX(a.verified_at) AS verified_at
           FROM events e FORCE INDEX (type) STRAIGHT_JOIN accounts a ON a.id=e.resource_id
           WHERE e.tenant_id=${uuid.literal(tenantId)} AND e.type='account.verified'
           GROUP BY e.resource_id HAVING COUNT(*)>1 OR MAX(a.verified_at) IS NULL`,
        ),
      );
      for (const { resource_id: id, events: count, verified_at: verifiedAt } of rows)
        audit.report(
          'account_verified',
          `account ${uuid.parse(id)}`,
          `it is ${verifiedAt === null ? 'not ' : ''}verified, but has ${bigint.parse(count)} event(s) account.verified`,
        );
    }
  },
};

async function readTenantIds(audit: AuditRun): Promise<readonly Uuid[]> {
  const rows = await audit.slice((reader) => reader.query('SELECT id FROM tenants ORDER BY id'));
  return rows.map((row) => uuid.parse(row.id));
}

/** Each tenant's counter matches its last event. */
export const eventCounterChecks: Check = {
  tables: [],
  run: (audit) =>
    audit.slice(async (reader) => {
      const last = (column: string): string =>
        `(SELECT e.${column} FROM events e WHERE e.tenant_id=t.id ORDER BY e.sequence DESC LIMIT 1)`;
      const rows = await reader.query(
        `SELECT t.id, c.last_sequence, c.last_at, r.removed_through, ${last('sequence')} AS sequence,
           ${last('created_at')} AS created_at
         FROM tenants t LEFT JOIN event_counters c ON c.tenant_id=t.id
         LEFT JOIN event_removals r ON r.tenant_id=t.id${whereAll(audit.own('t.id'))}`,
      );
      audit.counted('event_counters', rows.length);
      const tenantIds = rows.map((row) => uuid.parse(row.id));
      const gaps = await readGaps(reader, tenantIds);
      for (const row of rows) {
        const subject = `tenant ${uuid.parse(row.id)}`;
        const counter = nullable(bigint).parse(row.last_sequence);
        const lastAt = nullable(time).parse(row.last_at);
        const last =
          nullable(bigint).parse(row.sequence) ?? nullable(bigint).parse(row.removed_through) ?? 0n;
        const sequence = acrossGaps(last, gaps.get(uuid.parse(row.id)) ?? []);
        const createdAt = nullable(time).parse(row.created_at);
        if (counter !== sequence)
          audit.report(
            'event_counter',
            subject,
            `its counter stands at ${counter ?? 'nothing'}, and its log ends at ${sequence}`,
          );
        else if (createdAt !== null && lastAt !== null && lastAt < createdAt)
          audit.report('event_counter', subject, 'its counter is dated before its last event');
      }
    }),
};
