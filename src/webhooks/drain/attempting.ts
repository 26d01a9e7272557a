import type { WebhookDelivery } from '../../db/entities/webhooks.js';
import { sendMessage } from '../attempts.js';
import type { WebhookDeps } from '../deps.js';
import { isCutOff } from '../rules.js';
import { type EndpointState, isWanted } from './lease.js';
import type { OpenDelivery } from './open-deliveries.js';
import type { Outcome } from './outcomes.js';

export interface Flying {
  readonly delivery: WebhookDelivery;
  readonly landing: Promise<Outcome | null>;
}

/** Signed with the current secrets. Null: we cut it off, so it does not count. Throws if it cannot be signed. */
export async function attempt(
  { sending, encryptionKeys, failpoints, clock, observer }: WebhookDeps,
  { endpoint, types }: EndpointState,
  { delivery, body, traceparent }: OpenDelivery,
  isProbe: boolean,
  signal: AbortSignal,
): Promise<Outcome | null> {
  if (body === null || !isWanted(types, delivery.eventType)) return { delivery, result: null };
  const beganAt = clock();
  failpoints.pass('before_send');
  const message = { id: delivery.eventId, body, traceparent };
  const result = await sendMessage(sending, encryptionKeys, endpoint, message, beganAt, signal);
  failpoints.pass('after_send');
  if (isCutOff(result)) return null;
  const outcome = { delivery, result, isProbe, beganAt, endedAt: clock() };
  observer.attempted(outcome);
  return outcome;
}
