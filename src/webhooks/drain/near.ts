import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import * as column from '../../db/columns.js';
import type { Reader, Transaction } from '../../db/database.js';
import { events, SUBSCRIBABLE_TYPES } from '../../db/entities/events.js';
import { webhookDeliveries, webhookEndpoints } from '../../db/entities/webhooks.js';
import { insertSql, literals, statement, upsertSql } from '../../db/statements.js';
import type { RunOf } from './landed.js';
import { type EndpointState, LEASE_MS, lockStates } from './lease.js';
import { LOGGED_EVENT, type LoggedEvent, opened, readLogged } from './logged-events.js';
import { newDelivery, type OpenDelivery } from './open-deliveries.js';
import { isSubscribed, type Step } from './stepping.js';

/** Reads the log just ahead of many endpoints' cursors, for all of them at once. */

/** The most events read for one endpoint this way, and the most that it may want. */
export const MAX_SPAN = 200n;
const MAX_WANTED = 16;

/** True if little of the log is ahead, and nothing else must be done first. */
export function isNear(
  { endpoint, head, removedThrough }: EndpointState,
  span = MAX_SPAN,
): boolean {
  const { recoverAfter, cursorSequence } = endpoint;
  return recoverAfter === null && removedThrough <= cursorSequence && head - cursorSequence <= span;
}

export interface Wanted {
  readonly state: EndpointState;
  /** How far in the log these deliveries reach. */
  readonly through: bigint;
  /** In log order; they have no rows. */
  readonly deliveries: readonly OpenDelivery[];
}

/** For endpoints that are near, in order. */
export async function readWanted(
  reader: Reader,
  states: readonly EndpointState[],
  now: Instant,
): Promise<readonly Wanted[]> {
  const logs = groupBy(await readRanges(reader, rangesOf(states)), ({ tenantId }) => tenantId);
  return states.map((state) => wantedOf(state, logs.get(state.endpoint.tenantId) ?? [], now));
}

/** A run that wants to advance in the log, by at most this many deliveries. */
export interface StepWanted {
  readonly run: RunOf;
  readonly room: number;
}

/** In order: "far" if more lies ahead or somebody is changing the endpoint, null if another run has it. */
export async function stepTogether(
  transaction: Transaction,
  wanted: readonly StepWanted[],
  now: Instant,
): Promise<readonly (Step | 'far' | null)[]> {
  const ids = wanted.map(({ run }) => run.id);
  const { states } = await lockStates(transaction, ids, false);
  const near = await readWanted(
    transaction,
    [...states.values()].filter((state) => isNear(state)),
    now,
  );
  const ahead = new Map(near.map((one) => [one.state.endpoint.id, one]));
  const leaseUntil = instant(now + LEASE_MS);
  const steps = wanted.map(({ run, room }): Step | 'far' | null => {
    const state = states.get(run.id);
    if (state === undefined) return 'far';
    if (state.endpoint.fence !== run.fence) return null;
    const found = ahead.get(run.id);
    if (found === undefined || found.deliveries.length > Math.min(room, MAX_WANTED)) return 'far';
    const endpoint = { ...state.endpoint, cursorSequence: found.through, leaseUntil };
    return { state: { ...state, endpoint }, added: found.deliveries, madeDue: false };
  });
  const taken = steps.filter((one) => one !== null && one !== 'far');
  const deliveries = taken.flatMap(({ added }) => added.map(({ delivery }) => delivery));
  const endpoints = taken.map(({ state }) => state.endpoint);
  await transaction.all([
    ...statement(deliveries, (rows) => insertSql(webhookDeliveries, rows)),
    ...statement(endpoints, (rows) =>
      upsertSql(webhookEndpoints, rows, ['cursorSequence', 'leaseUntil']),
    ),
  ]);
  return steps;
}

/** A tenant's endpoints are mostly at the same position in its log. */
function rangesOf(states: readonly EndpointState[]): ReadonlyMap<Uuid, Range> {
  const ranges = new Map<Uuid, Range>();
  for (const { endpoint, head } of states) {
    const { tenantId, cursorSequence } = endpoint;
    const known = ranges.get(tenantId) ?? { after: cursorSequence, until: head };
    const after = cursorSequence < known.after ? cursorSequence : known.after;
    ranges.set(tenantId, { after, until: head > known.until ? head : known.until });
  }
  return ranges;
}

function wantedOf(state: EndpointState, log: readonly LoggedEvent[], now: Instant): Wanted {
  const { endpoint, types, head } = state;
  const deliveries = log
    .filter(
      ({ sequence, type }) =>
        sequence > endpoint.cursorSequence && sequence <= head && types.has(type),
    )
    .filter((event) => isSubscribed(state, event))
    .map((event) => opened(newDelivery(endpoint.id, event, 'event', 1, now), event));
  return { state, through: head, deliveries };
}

/** A part of one tenant's log: behind `after`, up to `until`. */
interface Range {
  readonly after: bigint;
  readonly until: bigint;
}

async function readRanges(
  reader: Reader,
  ranges: ReadonlyMap<Uuid, Range>,
): Promise<readonly LoggedEvent[]> {
  if (ranges.size === 0) return [];
  const types = literals(events, 'type', SUBSCRIBABLE_TYPES);
  const parts = Array.from(
    ranges,
    ([tenantId, { after, until }]) =>
      `(SELECT ${LOGGED_EVENT} FROM events FORCE INDEX (PRIMARY)
        WHERE tenant_id=${column.uuid.literal(tenantId)} AND sequence>${after} AND sequence<=${until} AND type IN (${types}))`,
  );
  return readLogged(
    reader,
    `${parts.join(' UNION ALL ')} ORDER BY tenant_id, sequence`,
    SUBSCRIBABLE_TYPES,
  );
}
