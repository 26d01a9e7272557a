import type { Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { continued, type Traceparent, traceHeaders } from '../core/trace.js';
import type { WebhookAttempt, WebhookEndpoint } from '../db/entities/webhooks.js';
import { openSecrets } from './secrets.js';
import type { AttemptResult } from './attempt/result.js';
import type { Sending } from './sending.js';

/** One attempt: signing, sending and recording it. */

const MAX_MESSAGE = 255;
const MAX_RESPONSE = 1024;

interface Message {
  /** The same for every attempt. */
  readonly id: Uuid;
  /** The same bytes for every attempt. */
  readonly body: Buffer;
  /** The trace that it continues; absent: none. */
  readonly traceparent?: Traceparent | null;
}

export function sendMessage(
  { sender, signing }: Sending,
  keys: Keyring,
  endpoint: WebhookEndpoint,
  { id, body, traceparent }: Message,
  now: Instant,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const timestampS = Math.floor(now / 1000);
  const headers = signing.signatureHeaders({
    id,
    body,
    ...openSecrets(keys, endpoint, now),
    timestampS,
  });
  const attributes = {
    'event.id': id,
    'webhook.endpoint.id': endpoint.id,
    'tenant.id': endpoint.tenantId,
  };
  return continued(
    { name: 'webhook attempt', kind: 'client', attributes },
    traceparent,
    async (span) => {
      const result = await sender.send(
        { url: endpoint.url, body, headers: { ...headers, ...traceHeaders() } },
        signal,
      );
      if (result.outcome === 'answered')
        span?.setAttribute('http.response.status_code', result.status);
      else span?.setAttribute('error.type', result.reason);
      return result;
    },
  );
}

/** `at`: when it began. */
export function attemptRow(
  endpointId: Uuid,
  deliveryId: Uuid,
  at: Instant,
  result: AttemptResult,
): WebhookAttempt {
  const row = {
    endpointId,
    deliveryId,
    id: newId(),
    at,
    durationMs: Math.max(0, Math.round(result.durationMs)),
  };
  if (result.outcome === 'answered') {
    const response = cut(result.responseHead, MAX_RESPONSE);
    return { ...row, status: result.status, failure: null, message: null, response };
  }
  const message = cut(result.message, MAX_MESSAGE);
  return { ...row, status: null, failure: result.reason, message, response: null };
}

/** In code points, as the column counts them. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join('');
}
