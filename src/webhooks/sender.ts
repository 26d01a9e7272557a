import { setMaxListeners } from 'node:events';
import type { Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { continued, traceHeaders, type Traceparent } from '../core/trace.js';
import type { WebhookAttempt, WebhookEndpoint } from '../db/entities/webhooks.js';
import type { AddressGuard } from './address-guard.js';
import { type Agents, type ConnectionOptions, newAgents } from './connections.js';
import {
  type Answered,
  AttemptEnded,
  type AttemptResult,
  type Exchange,
  exchange,
  type Failed,
  failureOf,
  refused,
  StaleConnection,
} from './exchange.js';
import { openSecrets } from './secrets.js';
import { signatureHeaders } from './signing.js';

export interface OutgoingDelivery {
  readonly url: string;
  readonly body: Buffer;
  /** The signature headers; those that HTTP needs are added. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SenderOptions extends ConnectionOptions {
  readonly guard: AddressGuard;
}

const USER_AGENT = 'money-movement-webhooks/1';

/**
 * Each attempt is one HTTP request, without redirects, within `timeoutMs`. (docs/contract.md,
 * Webhook addresses)
 */
export class Sender {
  private readonly pool: Agents;
  private readonly unpooled: Agents;

  constructor(private readonly options: SenderOptions) {
    this.pool = newAgents(true, options);
    this.unpooled = newAgents(false, options);
  }

  get guard(): AddressGuard {
    return this.options.guard;
  }

  /** Never throws. Aborting `signal` ends the attempt as `canceled`, or answered. */
  async send(request: OutgoingDelivery, signal: AbortSignal): Promise<AttemptResult> {
    const startedAt = performance.now();
    const stop = new AbortController();
    const cancel = (): void => stop.abort(new AttemptEnded('canceled'));
    const timer = setTimeout(() => stop.abort(new AttemptEnded('timeout')), this.options.timeoutMs);
    if (signal.aborted) cancel();
    // All sends of a process listen to one signal.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', cancel);
    const result = await this.attempt(request, stop.signal);
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    return { ...result, durationMs: Math.round(performance.now() - startedAt) };
  }

  /** Closes all connections. */
  close(): void {
    for (const agents of [this.pool, this.unpooled]) {
      agents.http.destroy();
      agents.https.destroy();
    }
  }

  private async attempt(request: OutgoingDelivery, stop: AbortSignal): Promise<Answered | Failed> {
    const { guard, proxyUrl } = this.options;
    const parsed = guard.parseUrl(request.url);
    if (!parsed.ok) return refused(parsed.reason);
    const { url } = parsed;
    const resolved = proxyUrl === null ? await guard.resolve(url) : null;
    if (resolved?.ok === false) return refused(resolved.reason);
    const { body } = request;
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      ...request.headers,
    };
    const one: Exchange = { url, headers, body, addresses: resolved?.addresses ?? null };
    try {
      return await exchange(one, this.pool, stop).catch((error: unknown) => {
        // The receiver had closed the idle connection: a new one costs no attempt.
        if (!(error instanceof StaleConnection)) throw error;
        return exchange(one, this.unpooled, stop);
      });
    } catch (error) {
      return failureOf(error, url.protocol === 'https:');
    }
  }
}

export type Sending = Pick<Sender, 'send'> & {
  readonly guard: Pick<AddressGuard, 'parseUrl' | 'checkUrl'>;
};

export const ATTEMPT_TIMEOUT_MS = 10_000;

interface Message {
  readonly id: Uuid;
  readonly body: Buffer;
  readonly traceparent?: Traceparent | null;
}

export function sendMessage(
  { sending, encryptionKeys }: { readonly sending: Sending; readonly encryptionKeys: Keyring },
  endpoint: WebhookEndpoint,
  { id, body, traceparent }: Message,
  now: Instant,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const secrets = openSecrets(encryptionKeys, endpoint, now);
  const headers = signatureHeaders({ id, body, ...secrets, timestampS: Math.floor(now / 1000) });
  const attributes = {
    'event.id': id,
    'webhook.endpoint.id': endpoint.id,
    'tenant.id': endpoint.tenantId,
  };
  const span = { name: 'webhook attempt', kind: 'client', attributes } as const;
  return continued(span, traceparent, async (own) => {
    const request = { url: endpoint.url, body, headers: { ...headers, ...traceHeaders() } };
    const result = await sending.send(request, signal);
    if (result.outcome === 'answered')
      own?.setAttribute('http.response.status_code', result.status);
    else own?.setAttribute('error.type', result.reason);
    return result;
  });
}

export function attemptRow(
  endpointId: Uuid,
  deliveryId: Uuid,
  at: Instant,
  result: AttemptResult,
): WebhookAttempt {
  const row = { endpointId, deliveryId, id: newId(), at, durationMs: result.durationMs };
  if (result.outcome === 'failed')
    return {
      ...row,
      status: null,
      failure: result.reason,
      message: result.message,
      response: null,
    };
  const { status, responseHead: response } = result;
  return { ...row, status, failure: null, message: null, response };
}
