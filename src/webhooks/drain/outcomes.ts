import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type {
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../db/entities/webhooks.js';
import type { AttemptResult } from '../attempt/result.js';
import { attemptRow } from '../attempts.js';
import { afterAttempt, type Health, healthAfter } from '../rules.js';
import { type EndpointState, isWanted } from './lease.js';

export type Outcome =
  | {
      readonly delivery: WebhookDelivery;
      readonly result: AttemptResult;
      readonly isProbe: boolean;
      readonly beganAt: Instant;
      readonly endedAt: Instant;
    }
  /** It is no longer wanted, or its event is no longer kept: it ends without an attempt. */
  | { readonly delivery: WebhookDelivery; readonly result: null };

/** The endpoint's health after all of them, in the order in which they ended. */
export function healthAfterAll(health: Health, outcomes: readonly Outcome[]): Health {
  return outcomes.reduce(
    (sofar, outcome) =>
      outcome.result === null
        ? sofar
        : healthAfter(sofar, outcome.result, outcome.isProbe, outcome.endedAt),
    health,
  );
}

export function attemptRows(endpointId: Uuid, outcomes: readonly Outcome[]): WebhookAttempt[] {
  return outcomes.flatMap(({ delivery, ...outcome }) =>
    outcome.result === null
      ? []
      : [attemptRow(endpointId, delivery.id, outcome.beganAt, outcome.result)],
  );
}

export function deliveryAfter(
  { types }: EndpointState,
  outcome: Outcome,
  now: Instant,
  random: () => number,
): WebhookDelivery {
  const { delivery } = outcome;
  if (outcome.result === null)
    return { ...delivery, state: 'ended', nextAttemptAt: null, finishedAt: now };
  const wanted = isWanted(types, delivery.eventType);
  return {
    ...delivery,
    ...afterAttempt(delivery, outcome.result, wanted, outcome.endedAt, random()),
  };
}

/** Its lost events, with those that retention removed while they waited. A redelivered one may have arrived. */
export function lostWith(
  { endpoint: { lostFrom, lostTo }, types, removedThrough }: EndpointState,
  outcomes: readonly Outcome[],
): Pick<WebhookEndpoint, 'lostFrom' | 'lostTo'> {
  for (const { delivery, result } of outcomes) {
    const { sequence, eventType, cause } = delivery;
    if (result !== null || sequence === null || sequence > removedThrough) continue;
    if (cause === 'redeliver' || !isWanted(types, eventType)) continue;
    if (lostFrom === null || sequence < lostFrom) lostFrom = sequence;
    if (lostTo === null || sequence > lostTo) lostTo = sequence;
  }
  return { lostFrom, lostTo };
}

export function healthColumns(health: Health): Health {
  const {
    status,
    disabledReason,
    disabledAt,
    failuresInRow,
    failingSince,
    probes,
    probeAt,
    lastSuccessAt,
  } = health;
  return {
    status,
    disabledReason,
    disabledAt,
    failuresInRow,
    failingSince,
    probes,
    probeAt,
    lastSuccessAt,
  };
}
