import { setMaxListeners } from 'node:events';
import type { Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { continued, traceHeaders, type Traceparent } from '../core/trace.js';
import type { WebhookAttempt, WebhookEndpoint } from '../db/entities/webhooks.js';
import { AddressGuard, type CheckedUrl, type ParsedUrl } from './address-guard.js';
import type { AllowedHost } from './allowed-hosts.js';
import { type Agents, directAgents, proxiedAgents } from './connections.js';
import {
  type ReceiverResponse,
  AttemptEnded,
  type AttemptResult,
  type Exchange,
  exchange,
  type Failure,
  failureOf,
  refused,
  StaleConnection,
} from './exchange.js';
import { openSecrets } from './secrets.js';
import { newSecret, signatureHeaders } from './signing.js';

export interface OutgoingDelivery {
  readonly url: string;
  readonly body: Buffer;
  /** The signature headers; those that HTTP needs are added. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface SenderOptions {
  readonly guard: AddressGuard;
  /** For a whole attempt, from DNS to the last byte read. */
  readonly timeoutMs: number;
  /**
   * An HTTP proxy that tunnels every delivery by CONNECT, with credentials in the URL if it needs
   * them. Only the proxy resolves the receivers' names, so it must refuse private addresses.
   */
  readonly proxyUrl: URL | null;
  /** PEM, replacing the machine's: for receivers with certificates of a company's own. */
  readonly certificateAuthorities?: readonly string[];
}

const USER_AGENT = 'money-movement-webhooks/1';

/**
 * Sends attempts. Each is one HTTP request to an address checked for it, without redirects, and
 * ends within `timeoutMs`. A connection is reused for the same host while the host has the same
 * addresses. (docs/contract.md, Webhook addresses)
 */
export class Sender {
  private readonly pool: Agents;
  private readonly unpooled: Agents;
  private readonly running = new Map<AbortController, Promise<unknown>>();
  private isClosed = false;

  constructor(private readonly options: SenderOptions) {
    const { proxyUrl, timeoutMs } = options;
    const agents = (reuse: boolean): Agents =>
      proxyUrl === null ? directAgents(reuse) : proxiedAgents(reuse, proxyUrl, timeoutMs);
    this.pool = agents(true);
    this.unpooled = agents(false);
  }

  /**
   * Never throws. Aborting `signal` ends it at once: as `canceled`, or as answered if the status
   * has arrived.
   */
  async send(request: OutgoingDelivery, signal: AbortSignal): Promise<AttemptResult> {
    const startedAt = performance.now();
    const stop = new AbortController();
    const cancel = (): void => stop.abort(new AttemptEnded('canceled'));
    const timer = setTimeout(() => stop.abort(new AttemptEnded('timeout')), this.options.timeoutMs);
    if (signal.aborted || this.isClosed) cancel();
    // All sends of a process share one signal: that many listeners are not a leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', cancel);
    const attempt = this.attempt(request, stop.signal);
    this.running.set(stop, attempt);
    try {
      const result = await attempt;
      const durationMs = Math.round(performance.now() - startedAt);
      if ('reason' in result) return { outcome: 'failed', ...result, durationMs };
      const { status, head: responseHead, retryAfterMs } = result;
      return { outcome: 'answered', status, durationMs, responseHead, retryAfterMs };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.running.delete(stop);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const attempts = [...this.running];
    for (const [stop] of attempts) stop.abort(new AttemptEnded('canceled'));
    await Promise.all(attempts.map(([, attempt]) => attempt));
    for (const agents of [this.pool, this.unpooled]) {
      agents.http.destroy();
      agents.https.destroy();
    }
  }

  private async attempt(
    request: OutgoingDelivery,
    stop: AbortSignal,
  ): Promise<ReceiverResponse | Failure> {
    const { guard, proxyUrl, certificateAuthorities } = this.options;
    const parsed = guard.parseUrl(request.url);
    if (!parsed.ok) return refused(parsed.reason);
    const { url } = parsed;
    try {
      const resolved = proxyUrl === null ? await before(stop, guard.resolve(url)) : null;
      if (resolved?.ok === false) return refused(resolved.reason);
      const headers = {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        ...request.headers,
      };
      const addresses = resolved?.addresses ?? null;
      return await this.exchanged(
        { url, headers, body: request.body, addresses, certificateAuthorities },
        stop,
      );
    } catch (error) {
      return failureOf(error, url.protocol === 'https:');
    }
  }

  /**
   * Retries on a new connection if the receiver had closed the old one while it was idle: that
   * costs no attempt.
   */
  private async exchanged(one: Exchange, stop: AbortSignal): Promise<ReceiverResponse> {
    try {
      return await exchange(one, this.pool, stop);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      return exchange(one, this.unpooled, stop);
    }
  }
}

/** Resolves with the result of `work`, or rejects with the reason of `stop`, whichever is first. */
function before<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onStop = (): void => reject(stop.reason as Error);
    if (stop.aborted) return onStop();
    stop.addEventListener('abort', onStop, { once: true });
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
  });
}

/** Address checks, signing and HTTP. */
export interface Sending {
  readonly sender: Pick<Sender, 'send'>;
  readonly signing: {
    readonly newSecret: typeof newSecret;
    readonly signatureHeaders: typeof signatureHeaders;
  };
  /** Everything that can be checked about an address without DNS. */
  readonly parseUrl: (text: string) => ParsedUrl;
  /** The address in stored form, or in a stable word why it is refused. Queries DNS. */
  readonly checkUrl: (text: string) => Promise<CheckedUrl>;
}

/** How long one delivery attempt may take in all. */
export const ATTEMPT_TIMEOUT_MS = 10_000;

interface SendingOptions {
  /** Besides https to public addresses: what operators allow for development. */
  readonly allowedHosts: readonly AllowedHost[];
  /** Null: directly. */
  readonly proxyUrl: URL | null;
  readonly timeoutMs: number;
}

/** The real implementations. `close` ends what is in flight. */
export function buildSending({ allowedHosts, proxyUrl, timeoutMs }: SendingOptions): Sending & {
  readonly close: () => Promise<void>;
} {
  const guard = new AddressGuard({ allowedHosts, namesAreLeftToProxy: proxyUrl !== null });
  const sender = new Sender({ guard, timeoutMs, proxyUrl });
  return {
    sender,
    signing: { newSecret, signatureHeaders },
    parseUrl: (text) => guard.parseUrl(text),
    checkUrl: (text) => guard.checkUrl(text),
    close: () => sender.close(),
  };
}

const MAX_MESSAGE = 255;
const MAX_RESPONSE = 1024;

interface Message {
  /** The event's id, the same for every attempt. */
  readonly id: Uuid;
  /** The event's body, the same bytes for every attempt. */
  readonly body: Buffer;
  /** The trace that the attempt continues, if any. */
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
