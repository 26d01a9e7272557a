import { toRfc3339 } from '../core/instant.js';
import { SUBSCRIBABLE_TYPES } from '../db/entities/events.js';
import type { WebhookAttempt } from '../db/entities/webhooks.js';
import type { ShownDelivery, ShownEndpoint } from './reading.js';

type Shown = Readonly<Record<string, unknown>>;

/** An endpoint as answers show it; never its secret. (docs/contract.md, Webhooks) */
export function presentEndpoint({ endpoint, types }: ShownEndpoint): Shown {
  const { lostFrom, lostTo } = endpoint;
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: SUBSCRIBABLE_TYPES.filter((type) => types.includes(type)),
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    api_version: endpoint.apiVersion,
    created_at: toRfc3339(endpoint.createdAt),
    last_success_at: toRfc3339(endpoint.lastSuccessAt),
    lost_events:
      lostFrom === null || lostTo === null ? null : { from: Number(lostFrom), to: Number(lostTo) },
  };
}

export function presentDelivery({ delivery, attempts }: ShownDelivery): Shown {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    cause: delivery.cause,
    status: delivery.state,
    attempts: attempts.map(presentAttempt),
    next_attempt_at: toRfc3339(delivery.nextAttemptAt),
    created_at: toRfc3339(delivery.createdAt),
  };
}

function presentAttempt(attempt: WebhookAttempt): Shown {
  return {
    at: toRfc3339(attempt.at),
    status: attempt.status,
    failure: attempt.failure,
    message: attempt.message,
    duration_ms: attempt.durationMs,
    response: attempt.response,
  };
}
