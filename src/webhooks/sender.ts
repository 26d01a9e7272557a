import { setMaxListeners } from 'node:events';
import type { Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { continueTrace, traceHeaders, type Traceparent } from '../core/trace.js';
import type { WebhookAttempt, WebhookEndpoint } from '../db/entities/webhooks.js';
import type { AddressGuard } from './address-guard.js';
import { type Agents, newAgents } from './connections.js';
import {
  type AnsweredAttempt,
  AttemptAborted,
  type AttemptResult,
  type OutgoingRequest,
  sendOnce,
  type FailedAttempt,
  failureOf,
  refusedResult,
  StaleConnection,
} from './attempt.js';
import { openSecrets, signatureHeaders } from './signing.js';

export interface OutgoingDelivery {
  readonly url: string;
  readonly body: Buffer;
  /** The signature headers. `Sender` adds the content type and the user agent. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SenderOptions {
  readonly guard: AddressGuard;
  /** Time limit of a whole attempt, from DNS to the last byte read. */
  readonly timeoutMs: number;
  /** A proxy that tunnels deliveries by CONNECT, resolves names and refuses private addresses. */
  readonly proxyUrl: URL | null;
  /** PEM texts that replace the machine's trusted certificate authorities. */
  readonly certificateAuthorities?: readonly string[];
}

const USER_AGENT = 'money-movement-webhooks/1';

/**
 * Sends deliveries. An attempt is one HTTP request within `timeoutMs`, and redirects are not
 * followed. (docs/contract.md, Webhook addresses)
 */
export class Sender {
  private readonly pool: Agents;
  private readonly unpooled: Agents;
  private readonly running = new Map<AbortController, Promise<unknown>>();
  private isClosed = false;

  constructor(private readonly options: SenderOptions) {
    const { proxyUrl, timeoutMs } = options;
    this.pool = newAgents('reused', proxyUrl, timeoutMs);
    this.unpooled = newAgents('single', proxyUrl, timeoutMs);
  }

  get guard(): AddressGuard {
    return this.options.guard;
  }

  /**
   * Sends one delivery. Never throws. If `signal` is aborted, the attempt ends as `canceled`,
   * unless the response headers have arrived.
   */
  async send(request: OutgoingDelivery, signal: AbortSignal): Promise<AttemptResult> {
    const startedAt = performance.now();
    const stop = new AbortController();
    const cancel = (): void => stop.abort(new AttemptAborted('canceled'));
    const timer = setTimeout(
      () => stop.abort(new AttemptAborted('timeout')),
      this.options.timeoutMs,
    );
    if (signal.aborted || this.isClosed) cancel();
    // Many concurrent sends listen to one signal, so Node's warning about a leak would be wrong.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', cancel);
    const attempt = this.attempt(request, stop.signal);
    this.running.set(stop, attempt);
    try {
      const result = await attempt;
      return { ...result, durationMs: Math.round(performance.now() - startedAt) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.running.delete(stop);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const attempts = [...this.running];
    for (const [stop] of attempts) stop.abort(new AttemptAborted('canceled'));
    await Promise.all(attempts.map(([, attempt]) => attempt));
    for (const agents of [this.pool, this.unpooled]) {
      agents.http.destroy();
      agents.https.destroy();
    }
  }

  private async attempt(
    request: OutgoingDelivery,
    stop: AbortSignal,
  ): Promise<AnsweredAttempt | FailedAttempt> {
    const { guard, proxyUrl, certificateAuthorities } = this.options;
    const parsed = guard.parseUrl(request.url);
    if (!parsed.ok) return refusedResult(parsed.reason);
    const { url } = parsed;
    try {
      const resolved = proxyUrl === null ? await rejectOnAbort(stop, guard.resolve(url)) : null;
      if (resolved?.ok === false) return refusedResult(resolved.reason);
      const outgoing: OutgoingRequest = {
        url,
        headers: {
          'content-type': 'application/json',
          'user-agent': USER_AGENT,
          ...request.headers,
        },
        body: request.body,
        addresses: resolved?.addresses ?? null,
        certificateAuthorities,
      };
      return await sendOnce(outgoing, this.pool, stop).catch((error: unknown) => {
        // The connection is to blame, so the request is sent again on a new one.
        if (!(error instanceof StaleConnection)) throw error;
        return sendOnce(outgoing, this.unpooled, stop);
      });
    } catch (error) {
      return failureOf(error, url.protocol === 'https:');
    }
  }
}

/** Settles as `work` does, unless `stop` is aborted first: then rejects with its reason. */
function rejectOnAbort<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => reject(stop.reason as Error);
    if (stop.aborted) return onStop();
    stop.addEventListener('abort', onStop, { once: true });
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}

export type DeliverySender = Pick<Sender, 'send'> & {
  readonly guard: Pick<AddressGuard, 'parseUrl' | 'checkUrl'>;
};

export const ATTEMPT_TIMEOUT_MS = 10_000;

const MAX_MESSAGE_LENGTH = 255;
const MAX_RESPONSE_LENGTH = 1024;

interface Message {
  readonly id: Uuid;
  readonly body: Buffer;
  readonly traceparent?: Traceparent | null;
}

export function sendMessage(
  { sender, encryptionKeys }: { readonly sender: DeliverySender; readonly encryptionKeys: Keyring },
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
  return continueTrace(span, traceparent, async (openSpan) => {
    const request = { url: endpoint.url, body, headers: { ...headers, ...traceHeaders() } };
    const result = await sender.send(request, signal);
    if (result.outcome === 'answered')
      openSpan?.setAttribute('http.response.status_code', result.status);
    else openSpan?.setAttribute('error.type', result.reason);
    return result;
  });
}

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
    const response = cutText(result.responseHead, MAX_RESPONSE_LENGTH);
    return { ...row, status: result.status, failure: null, message: null, response };
  }
  const message = cutText(result.message, MAX_MESSAGE_LENGTH);
  return { ...row, status: null, failure: result.reason, message, response: null };
}

/** Shortens text to `maxLength` code points, because the column counts code points. */
function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength
    ? text
    : [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('');
}
