import { type Instant, instant } from '../../core/instant.js';
import type { Transaction } from '../../db/database.js';
import { outbox, type OutboxRow } from '../../db/entities/outbox.js';
import {
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import { insertSql, literals, upsertSql } from '../../db/statements.js';
import { type EndpointState, LEASE_MS, parseStates, stateSql } from '../drain/lease.js';
import { earliestSql, parseEarliest } from '../drain/open-deliveries.js';
import { hasMore } from '../drain/stepping.js';
import { attemptRows, deliveryAfter, healthAfterAll, healthColumns, type Outcome } from '../drain/storing.js';
import type { Random } from '../drain/types.js';
import { leaveBehind, nextDue } from '../rules.js';
import { noticeOf } from '../telling.js';
import type { Wanted } from './flight.js';

/** What came of a flight. */
export interface Landed {
  readonly wanted: Wanted;
  readonly ended: readonly Outcome[];
  /** They stay on their way, or were cut off: rows of them make them anybody's. */
  readonly untried: readonly WebhookDelivery[];
  /** Whether the run goes on with them: its lease stays. */
  readonly goesOn: boolean;
}

/** The endpoint as it is now; null where another run has it. */
export type StoredFlight = EndpointState | null;

/** Which columns of an endpoint a flight changes. */
const CHANGED = [
  ...(['cursorSequence', 'leaseUntil', 'nextDueAt', 'waitsUntil', 'status', 'disabledReason', 'disabledAt'] as const),
  ...(['failuresInRow', 'failingSince', 'probes', 'probeAt', 'lastSuccessAt'] as const),
];

/**
 * Stores what came of these flights in one transaction, each under its endpoint's lock and with its run's number: the attempts, the
 * deliveries as they ended, the cursors, and how each endpoint is left. Answers the endpoints in the order of the flights, and what
 * workflows have to learn.
 */
export async function storeFlights(
  transaction: Transaction,
  landed: readonly Landed[],
  now: Instant,
  random: Random,
): Promise<{ readonly stored: readonly StoredFlight[]; readonly notices: readonly OutboxRow[] }> {
  const ids = landed.map(({ wanted }) => wanted.state.endpoint.id);
  const lock = `SELECT id FROM webhook_endpoints WHERE id IN (${literals(webhookEndpoints, 'id', ids)}) ORDER BY id FOR UPDATE`;
  const [, rows = [], waiting = []] = await transaction.all([lock, stateSql(...ids), earliestSql(ids)]);
  const [states, earliest] = [parseStates(rows), parseEarliest(waiting)];
  const written = landed.flatMap((flight) => {
    const { id, fence } = flight.wanted.state.endpoint;
    const state = states.get(id);
    return state?.endpoint.fence === fence ? [writtenOf(flight, state, earliest.get(id) ?? null, now, random)] : [];
  });
  await transaction.all(statementsOf(written));
  const byId = new Map(written.map(({ state }) => [state.endpoint.id, state]));
  return {
    stored: ids.map((id) => byId.get(id) ?? null),
    notices: written.flatMap(({ notice }) => (notice === null ? [] : [notice])),
  };
}

interface Written {
  /** As it is left. */
  readonly state: EndpointState;
  readonly landed: Landed;
  readonly deliveries: readonly WebhookDelivery[];
  readonly notice: OutboxRow | null;
}

/** `waiting`: when the first of those is due that have rows already. */
function writtenOf(
  landed: Landed,
  state: EndpointState,
  waiting: Instant | null,
  now: Instant,
  random: Random,
): Written {
  const { wanted, ended, untried, goesOn } = landed;
  const before = state.endpoint;
  const deliveries = [...ended.map((outcome) => deliveryAfter(state, outcome, now, random)), ...untried];
  const cursorSequence = wanted.through > before.cursorSequence ? wanted.through : before.cursorSequence;
  const endpoint = { ...before, ...healthColumns(healthAfterAll(before, ended)), cursorSequence };
  const isNewStatus = endpoint.status !== before.status;
  const leave = (set: Partial<WebhookEndpoint>, isNews: boolean): Written => {
    const left = { ...state, endpoint: { ...endpoint, ...set } };
    return { state: left, landed, deliveries, notice: isNews ? noticeOf(endpoint, now) : null };
  };
  if (goesOn) return leave({ leaseUntil: instant(now + LEASE_MS) }, isNewStatus);
  const rows = [waiting, ...deliveries.map(({ nextAttemptAt }) => nextAttemptAt)].filter((at) => at !== null);
  const earliest = hasMore({ ...state, endpoint }) ? now : rows.length === 0 ? null : instant(Math.min(...rows));
  const { isNews, ...set } = leaveBehind(endpoint, nextDue(earliest, endpoint), now);
  return leave({ leaseUntil: null, ...set }, isNews || isNewStatus);
}

function statementsOf(written: readonly Written[]): string[] {
  const attempts = written.flatMap(({ state, landed }) => attemptRows(state.endpoint.id, landed.ended));
  const deliveries = written.flatMap((one) => one.deliveries);
  const notices = written.flatMap(({ notice }) => (notice === null ? [] : [notice]));
  const endpoints = written.map(({ state }) => state.endpoint);
  return [
    ...(attempts.length === 0 ? [] : [insertSql(webhookAttempts, attempts)]),
    ...(deliveries.length === 0 ? [] : [insertSql(webhookDeliveries, deliveries)]),
    ...(endpoints.length === 0 ? [] : [upsertSql(webhookEndpoints, endpoints, CHANGED)]),
    ...(notices.length === 0 ? [] : [insertSql(outbox, notices)]),
  ];
}
