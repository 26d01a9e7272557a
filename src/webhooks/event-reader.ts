import { groupBy } from '../core/collections.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Traceparent } from '../core/trace.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { events, type SubscribableType } from '../db/entities/events.js';
import { webhookDeliveries, type WebhookDelivery } from '../db/entities/webhooks.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { parseStoredEvent, STORED_EVENT } from '../events/log.js';
import type { EndpointState } from './endpoint-state.js';
import { EVENTS_PER_READ } from './rules.js';

/** The number of sequences of the log that one read covers at most. */
export const MAX_SPAN = 1_000n;

export interface OpenDelivery {
  readonly delivery: WebhookDelivery;
  /** Null if retention has removed the event. */
  readonly body: Buffer | null;
  readonly traceparent: Traceparent | null;
  /** False for an event read from the log, until the delivery's row has been written. */
  hasRow: boolean;
}

export interface DeliveriesToSend {
  readonly pending: readonly OpenDelivery[];
  readonly retries: readonly OpenDelivery[];
  readonly events: readonly OpenDelivery[];
  /** The last sequence read. The log contains nothing else for the endpoint up to it. */
  readonly through: bigint;
}

export function newDelivery(
  endpointId: Uuid,
  event: { readonly id: Uuid; readonly type: string; readonly sequence: bigint | null },
  cause: WebhookDelivery['cause'],
  round: number,
  now: Instant,
): WebhookDelivery {
  return {
    endpointId,
    id: newId(),
    eventId: event.id,
    eventType: event.type,
    sequence: event.sequence,
    cause,
    round,
    state: 'pending',
    steps: 0,
    nextAttemptAt: now,
    createdAt: now,
    finishedAt: null,
  };
}

/** Reads what to send next to each of the endpoints, in their order. */
export async function readDeliveriesToSend(
  reader: Reader,
  states: readonly EndpointState[],
  now: Instant,
): Promise<readonly DeliveriesToSend[]> {
  const [due, logs] = await Promise.all([
    readDue(reader, states, now),
    readLogs(reader, states.map(rangeAhead)),
  ]);
  return states.map((state, index): DeliveriesToSend => {
    const { id } = state.endpoint;
    const { found, through } = logs[index] ?? { found: [], through: 0n };
    const own = due.get(id) ?? [];
    return {
      pending: own.filter(({ delivery }) => delivery.state === 'pending'),
      retries: own.filter(({ delivery }) => delivery.state === 'retrying'),
      events: found
        .filter((event) => isSubscribed(state, event))
        .map(({ body, traceparent, ...event }) => ({
          delivery: newDelivery(id, event, 'event', 1, now),
          body,
          traceparent,
          hasRow: false,
        })),
      through,
    };
  });
}

/** Returns each endpoint's due deliveries: a bounded number of pending ones, and of retries. */
async function readDue(
  reader: Reader,
  states: readonly EndpointState[],
  now: Instant,
): Promise<ReadonlyMap<Uuid, readonly OpenDelivery[]>> {
  const due = states.filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= now);
  if (due.length === 0) return new Map();
  const parts = due.flatMap(({ endpoint }) =>
    ['pending', 'retrying'].map(
      (state) => `(SELECT ${columnList(webhookDeliveries, 'd')}, v.body, v.traceparent
        FROM webhook_deliveries d FORCE INDEX (due)
        LEFT JOIN events v ON v.tenant_id=${column.uuid.literal(endpoint.tenantId)} AND v.sequence=d.sequence
        WHERE d.endpoint_id=${column.uuid.literal(endpoint.id)} AND d.state='${state}'
        AND d.next_attempt_at<=${column.time.literal(now)}
        ORDER BY d.next_attempt_at, d.id LIMIT ${2 * EVENTS_PER_READ})`,
    ),
  );
  const rows = await reader.query(`${parts.join(' UNION ALL ')} ORDER BY next_attempt_at, id`);
  const found = rows.map((row) => ({
    delivery: parseRow(webhookDeliveries, row),
    traceparent: column.nullable(column.string).parse(row.traceparent),
    body: row.body === null ? null : Buffer.from(column.string.parse(row.body), 'utf8'),
    hasRow: true,
  }));
  return groupBy(found, ({ delivery }) => delivery.endpointId);
}

export interface LoggedEvent {
  readonly id: Uuid;
  readonly type: string;
  readonly sequence: bigint;
  readonly body: Buffer;
  readonly traceparent: Traceparent | null;
}

/** At most `limit` events of these types, after `after` and up to `until`. */
interface LogRange {
  readonly tenantId: Uuid;
  readonly types: Iterable<SubscribableType>;
  readonly after: bigint;
  readonly until: bigint;
  readonly limit: number;
}

interface LogPart {
  readonly found: readonly LoggedEvent[];
  /** The last sequence read. */
  readonly through: bigint;
}

function rangeAhead({
  endpoint,
  types,
  head,
  subscribedHead,
  removedThrough,
}: EndpointState): LogRange {
  const { tenantId, cursorSequence } = endpoint;
  const after = removedThrough > cursorSequence ? removedThrough : cursorSequence;
  const until = head > after ? head : after;
  const ahead = subscribedHead > after ? types.keys() : [];
  return { tenantId, types: ahead, after, until, limit: EVENTS_PER_READ };
}

/** Reads parts of logs in one statement; equal parts are read once. */
export async function readLogs(
  reader: Reader,
  ranges: readonly LogRange[],
): Promise<readonly LogPart[]> {
  const queries = ranges.map((range) => ({ ...range, ...logSql(range) }));
  const distinct = [...new Set(queries.flatMap(({ sql }) => sql ?? []))];
  const parts = distinct.map((sql, part) => `(SELECT ${part} AS part, ${sql})`);
  const rows = parts.length === 0 ? [] : await reader.query(parts.join(' UNION ALL '));
  const logged = groupBy(rows.map(parseLogged), ({ part }) => part);
  return Promise.all(
    queries.map(async ({ tenantId, sql, bound, until, limit }) => {
      if (sql === null) return { found: [], through: until };
      const found = (logged.get(distinct.indexOf(sql)) ?? []).toSorted((a, b) =>
        Number(a.sequence - b.sequence),
      );
      const last = found.at(-1);
      if (last === undefined)
        return { found, through: await skipGap(reader, tenantId, bound, until) };
      return { found, through: found.length === limit ? last.sequence : bound };
    }),
  );
}

/** `bound` is the last sequence covered. `sql` is null if nothing is to be read. */
function logSql({ tenantId, types, after, until, limit }: LogRange) {
  const typeList = [...types];
  const bound = after + MAX_SPAN < until ? after + MAX_SPAN : until;
  if (typeList.length === 0 || bound <= after) return { sql: null, bound };
  const sql = `${STORED_EVENT}, traceparent FROM events FORCE INDEX (PRIMARY)
    WHERE tenant_id=${column.uuid.literal(tenantId)} AND sequence>${after} AND sequence<=${bound}
    AND type IN (${literals(events, 'type', typeList)}) ORDER BY sequence LIMIT ${limit}`;
  return { sql, bound };
}

/** Skips a gap that a restore left, because it may be too long to read in steps. */
async function skipGap(
  reader: Reader,
  tenantId: Uuid,
  bound: bigint,
  until: bigint,
): Promise<bigint> {
  if (bound >= until) return bound;
  const [gap] = await reader.query(
    `SELECT through_sequence FROM event_gaps WHERE tenant_id=${column.uuid.literal(tenantId)}
     AND after_sequence<=${bound} AND through_sequence>${bound}`,
  );
  const through = gap === undefined ? bound : column.bigint.parse(gap.through_sequence);
  return through < until ? through : until;
}

function parseLogged(row: StoredRow): LoggedEvent & { readonly part: number } {
  const event = parseStoredEvent(row);
  return {
    ...event,
    part: column.integer.parse(row.part),
    body: Buffer.from(event.body, 'utf8'),
    traceparent: column.nullable(column.string).parse(row.traceparent),
  };
}

export function isSubscribed(
  { types }: Pick<EndpointState, 'types'>,
  { type, sequence }: Pick<LoggedEvent, 'type' | 'sequence'>,
): boolean {
  const from = (types as ReadonlyMap<string, bigint>).get(type);
  return from !== undefined && sequence >= from;
}
