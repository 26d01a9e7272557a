import type { Uuid } from '../../core/ids.js';
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
import { insertSql, statement, upsertSql } from '../../db/statements.js';
import { leaveBehind, nextDue } from '../rules.js';
import { noticeOf } from '../telling.js';
import { type EndpointState, isHeld, LEASE_MS, lockStates } from './lease.js';
import { earliestSql, parseEarliest } from './open-deliveries.js';
import { hasMore } from './stepping.js';
import {
  attemptRows,
  deliveryAfter,
  healthAfterAll,
  healthColumns,
  lostWith,
  type Outcome,
} from './outcomes.js';
import type { Random } from './types.js';

export interface RunOf {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly fence: bigint;
}

export interface Landed {
  readonly run: RunOf;
  /** How far its cursor has moved with deliveries that have no rows; null: all have rows. */
  readonly through: bigint | null;
  readonly ended: readonly Outcome[];
  /** Still in flight or cut off: they get rows, so that any run can send them. */
  readonly untried: readonly WebhookDelivery[];
  /** Whether the run continues and keeps its lease. */
  readonly goesOn: boolean;
  /** Whether the endpoint's workflow does this, and so need not be told what is left. */
  readonly isWorkflow: boolean;
  readonly random: Random;
}

export interface StoredRun {
  readonly state: EndpointState;
  /** When the first of the stored deliveries is retried, or null. */
  readonly retryAt: Instant | null;
  /** After its end: when something is to be sent next; null if nothing is, or nothing may be. */
  readonly due: Instant | null;
}

/** The columns of an endpoint that a run changes. */
const CHANGED = [
  ...([
    'cursorSequence',
    'leaseUntil',
    'nextDueAt',
    'waitsUntil',
    'status',
    'disabledReason',
    'disabledAt',
  ] as const),
  ...([
    'failuresInRow',
    'failingSince',
    'probes',
    'probeAt',
    'lastSuccessAt',
    'lostFrom',
    'lostTo',
  ] as const),
];

/**
 * Stores the results of these runs in one transaction, each under its endpoint's lock and with its number: attempts,
 * deliveries, cursors, and the state in which each endpoint is left. Returns a result for each, in order: null if
 * another run has the endpoint, "locked" if somebody is just changing it, unless it may wait for that.
 */
export async function storeLanded(
  transaction: Transaction,
  landed: readonly Landed[],
  now: Instant,
  mayWait: boolean,
): Promise<{
  readonly stored: readonly (StoredRun | 'locked' | null)[];
  readonly notices: readonly OutboxRow[];
}> {
  const ids = landed.map(({ run }) => run.id);
  const ending = landed.filter(({ goesOn }) => !goesOn).map(({ run }) => run.id);
  const earliestOf = ending.length === 0 ? [] : [earliestSql(ending)];
  const { states, answers } = await lockStates(transaction, ids, mayWait, ...earliestOf);
  const earliest = parseEarliest(answers[0] ?? []);
  const stored = landed.map((one): Written | 'locked' | null => {
    const { id, fence } = one.run;
    const state = states.get(id);
    if (state === undefined) return mayWait ? null : 'locked';
    return state.endpoint.fence === fence
      ? writtenOf(one, state, earliest.get(id) ?? null, now)
      : null;
  });
  const written = stored.filter((one) => one !== null && one !== 'locked');
  transaction.withCommit(statementsOf(written));
  return { stored, notices: written.flatMap(({ notice }) => (notice === null ? [] : [notice])) };
}

interface Written extends StoredRun {
  readonly landed: Landed;
  readonly deliveries: readonly WebhookDelivery[];
  readonly notice: OutboxRow | null;
}

/** `waiting`: when the first delivery that already has a row is due. */
function writtenOf(
  landed: Landed,
  state: EndpointState,
  waiting: Instant | null,
  now: Instant,
): Written {
  const { through, ended, untried, goesOn, isWorkflow, random } = landed;
  const before = state.endpoint;
  const deliveries = [
    ...ended.map((outcome) => deliveryAfter(state, outcome, now, random)),
    ...untried,
  ];
  const cursorSequence =
    through !== null && through > before.cursorSequence ? through : before.cursorSequence;
  const health = healthColumns(healthAfterAll(before, ended));
  const endpoint = { ...before, ...health, ...lostWith(state, ended), cursorSequence };
  const retryAt = soonest(
    deliveries.map(({ state: of, nextAttemptAt }) => (of === 'retrying' ? nextAttemptAt : null)),
  );
  const isNewStatus = endpoint.status !== before.status;
  const leave = (set: Partial<WebhookEndpoint>, isNews: boolean, next: Instant | null): Written => {
    const left = { ...state, endpoint: { ...endpoint, ...set } };
    const due = isHeld(endpoint) ? null : next;
    return {
      state: left,
      retryAt,
      due,
      landed,
      deliveries,
      notice: isNews ? noticeOf(endpoint, now) : null,
    };
  };
  if (goesOn) return leave({ leaseUntil: instant(now + LEASE_MS) }, isNewStatus, null);
  const earliest = hasMore({ ...state, endpoint })
    ? now
    : soonest([waiting, ...deliveries.map(({ nextAttemptAt }) => nextAttemptAt)]);
  const next = nextDue(earliest, endpoint);
  const { isNews, ...set } = leaveBehind(endpoint, next, now);
  return leave({ leaseUntil: null, ...set }, (isNews && !isWorkflow) || isNewStatus, next);
}

export function soonest(times: readonly (Instant | null)[]): Instant | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : instant(Math.min(...known));
}

function statementsOf(written: readonly Written[]): string[] {
  const attempts = written.flatMap(({ state, landed }) =>
    attemptRows(state.endpoint.id, landed.ended),
  );
  const known = written.flatMap(({ landed, deliveries }) =>
    landed.through === null ? deliveries : [],
  );
  const made = written.flatMap(({ landed, deliveries }) =>
    landed.through === null ? [] : deliveries,
  );
  const notices = written.flatMap(({ notice }) => (notice === null ? [] : [notice]));
  const endpoints = written.map(({ state }) => state.endpoint);
  return [
    ...statement(attempts, (rows) => insertSql(webhookAttempts, rows)),
    ...statement(made, (rows) => insertSql(webhookDeliveries, rows)),
    ...statement(known, (rows) =>
      upsertSql(webhookDeliveries, rows, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    ),
    ...statement(endpoints, (rows) => upsertSql(webhookEndpoints, rows, CHANGED)),
    ...statement(notices, (rows) => insertSql(outbox, rows)),
  ];
}
