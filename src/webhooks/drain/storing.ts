import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Transaction } from '../../db/database.js';
import {
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import { insertSql, updateSql, upsertSql } from '../../db/statements.js';
import { attemptRow } from '../attempts.js';
import { afterAttempt, type Health, healthAfter } from '../rules.js';
import type { AttemptResult } from '../attempt/result.js';
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

/**
 * Stores a group of outcomes: the attempts, the deliveries, and how the endpoint is doing. Answers the state as it is now.
 * `random` is from 0 to 1. Throws TakenOver.
 */
export async function storeOutcomes(
  transaction: Transaction,
  endpointId: Uuid,
  fence: bigint,
  outcomes: readonly Outcome[],
  now: Instant,
  random: () => number,
): Promise<EndpointState> {
  const state = await lockForDrain(transaction, endpointId, fence);
  let health: Health = state.endpoint;
  for (const outcome of outcomes)
    if (outcome.result !== null) health = healthAfter(health, outcome.result, outcome.isProbe, outcome.endedAt);
  const deliveries = outcomes.map((outcome) => deliveryAfter(state, outcome, now, random));
  const attempts = outcomes.flatMap(({ delivery, ...outcome }) =>
    outcome.result === null ? [] : [attemptRow(endpointId, delivery.id, outcome.beganAt, outcome.result)],
  );
  const set = { ...healthColumns(health), leaseUntil: instant(now + LEASE_MS) };
  await transaction.all([
    ...(attempts.length === 0 ? [] : [insertSql(webhookAttempts, attempts)]),
    upsertSql(webhookDeliveries, deliveries, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    updateSql(webhookEndpoints, set, { id: endpointId }),
  ]);
  return { ...state, endpoint: { ...state.endpoint, ...set } };
}

function deliveryAfter(
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

function healthColumns(health: Health): Partial<WebhookEndpoint> {
  const { status, disabledReason, disabledAt, failuresInRow, failingSince, probes, probeAt, lastSuccessAt } = health;
  return { status, disabledReason, disabledAt, failuresInRow, failingSince, probes, probeAt, lastSuccessAt };
}
