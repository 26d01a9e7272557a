import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Transaction } from '../../db/database.js';
import {
  type WebhookAttempt,
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import { type OutboxRow, outbox } from '../../db/entities/outbox.js';
import { insertSql, updateSql, upsertSql } from '../../db/statements.js';
import { attemptRow } from '../attempts.js';
import { afterAttempt, type Health, healthAfter } from '../rules.js';
import type { AttemptResult } from '../attempt/result.js';
import { noticeOf } from '../telling.js';
import { type EndpointState, isWanted, LEASE_MS, lockForDrain } from './lease.js';

/** What came of a delivery that was sent, or why it was not. */
export type Outcome =
  | {
      readonly delivery: WebhookDelivery;
      readonly result: AttemptResult;
      readonly isProbe: boolean;
      readonly beganAt: Instant;
      readonly endedAt: Instant;
    }
  /** Nobody wants it any more, or its event is no longer kept: it ends without an attempt. */
  | { readonly delivery: WebhookDelivery; readonly result: null };

/** The state as it is now, and what its workflow has to learn, if anything. */
export interface Stored {
  readonly state: EndpointState;
  readonly notice: OutboxRow | null;
}

/**
 * Stores a group of outcomes: the attempts, the deliveries, and how the endpoint is doing. `random` is from 0 to 1. Throws TakenOver.
 */
export async function storeOutcomes(
  transaction: Transaction,
  endpointId: Uuid,
  fence: bigint,
  outcomes: readonly Outcome[],
  now: Instant,
  random: () => number,
): Promise<Stored> {
  const state = await lockForDrain(transaction, endpointId, fence);
  const health = healthColumns(healthAfterAll(state.endpoint, outcomes));
  const notice = health.status === state.endpoint.status ? null : noticeOf(state.endpoint, now);
  const deliveries = outcomes.map((outcome) => deliveryAfter(state, outcome, now, random));
  const attempts = attemptRows(endpointId, outcomes);
  const set = { ...health, leaseUntil: instant(now + LEASE_MS) };
  await transaction.all([
    ...(attempts.length === 0 ? [] : [insertSql(webhookAttempts, attempts)]),
    upsertSql(webhookDeliveries, deliveries, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    updateSql(webhookEndpoints, set, { id: endpointId }),
    ...(notice === null ? [] : [insertSql(outbox, [notice])]),
  ]);
  return { state: { ...state, endpoint: { ...state.endpoint, ...set } }, notice };
}

/** How the endpoint is doing after all of them, in the order of their ends. */
export function healthAfterAll(health: Health, outcomes: readonly Outcome[]): Health {
  return outcomes.reduce(
    (sofar, outcome) =>
      outcome.result === null ? sofar : healthAfter(sofar, outcome.result, outcome.isProbe, outcome.endedAt),
    health,
  );
}

export function attemptRows(endpointId: Uuid, outcomes: readonly Outcome[]): WebhookAttempt[] {
  return outcomes.flatMap(({ delivery, ...outcome }) =>
    outcome.result === null ? [] : [attemptRow(endpointId, delivery.id, outcome.beganAt, outcome.result)],
  );
}

export function deliveryAfter(
  { types }: EndpointState,
  outcome: Outcome,
  now: Instant,
  random: () => number,
): WebhookDelivery {
  const { delivery } = outcome;
  if (outcome.result === null) return { ...delivery, state: 'ended', nextAttemptAt: null, finishedAt: now };
  const wanted = isWanted(types, delivery.eventType);
  return { ...delivery, ...afterAttempt(delivery, outcome.result, wanted, outcome.endedAt, random()) };
}

export function healthColumns(health: Health): Health {
  const { status, disabledReason, disabledAt, failuresInRow, failingSince, probes, probeAt, lastSuccessAt } = health;
  return { status, disabledReason, disabledAt, failuresInRow, failingSince, probes, probeAt, lastSuccessAt };
}
