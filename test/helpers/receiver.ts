import { createHmac } from 'node:crypto';
import { AddressGuard, type CheckedUrl } from '../../src/webhooks/address-guard.js';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import type { OutgoingDelivery } from '../../src/webhooks/sender.js';
import type { DeliverySender } from '../../src/webhooks/sender.js';

/** A request as it came in. */
interface Received {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The reaction of a receiver to a request: a status, a whole result, or a promise. */
export type Reply = number | AttemptResult | Promise<number | AttemptResult>;

type RefusedReason = Extract<CheckedUrl, { ok: false }>['reason'];

/** All names lead to the receiver. */
const GUARD = new AddressGuard({ allowedHosts: [], namesAreLeftToProxy: true });

/**
 * Checks addresses and answers in tests, without a network: every URL leads to it. `reply` decides the response.
 */
export class FakeReceiver {
  readonly received: Received[] = [];
  /** The URLs whose hosts were looked up for a registration or a change. */
  readonly resolved: string[] = [];
  reply: (request: Received) => Reply = () => 200;
  /** Hosts that do not resolve, and addresses that are refused. */
  readonly refused = new Map<string, RefusedReason>([['nowhere.invalid', 'unresolvable']]);

  readonly sender: DeliverySender = {
    send: (request, signal) => this.answer(request, signal),
    guard: {
      parseUrl: (text) => GUARD.parseUrl(text),
      checkUrl: (text) => {
        this.resolved.push(text);
        const parsed = GUARD.parseUrl(text);
        if (!parsed.ok) return Promise.resolve(parsed);
        const reason = this.refused.get(parsed.url.hostname);
        const checked: CheckedUrl =
          reason === undefined ? { ok: true, url: parsed.url.href } : { ok: false, reason };
        return Promise.resolve(checked);
      },
    },
  };

  /** The requests to one address. */
  at(url: string): Received[] {
    return this.received.filter((request) => request.url === url);
  }

  private async answer(request: OutgoingDelivery, signal: AbortSignal): Promise<AttemptResult> {
    if (signal.aborted) return CANCELED;
    const { url, body, headers } = request;
    const received = { url, id: headers['webhook-id'] ?? '', body: body.toString('utf8'), headers };
    this.received.push(received);
    let cancel = (): void => undefined;
    const canceled = new Promise<AttemptResult>((resolve) => {
      cancel = () => resolve(CANCELED);
    });
    signal.addEventListener('abort', cancel);
    const reply = await Promise.race([Promise.resolve(this.reply(received)), canceled]);
    signal.removeEventListener('abort', cancel);
    return typeof reply === 'number' ? answeredWith(reply) : reply;
  }
}

const CANCELED: AttemptResult = {
  outcome: 'failed',
  reason: 'canceled',
  message: 'it was cut off',
  durationMs: 1,
};

export function answeredWith(
  status: number,
  changes: Partial<Extract<AttemptResult, { outcome: 'answered' }>> = {},
): AttemptResult {
  return {
    outcome: 'answered',
    status,
    durationMs: 1,
    responseHead: 'ok',
    retryAfterMs: null,
    ...changes,
  };
}

export function failedWith(
  reason: Extract<AttemptResult, { outcome: 'failed' }>['reason'],
): AttemptResult {
  return { outcome: 'failed', reason, message: `it failed: ${reason}`, durationMs: 1 };
}

export function sign(secret: string, body: Buffer | string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** Requests that hang until it is opened. */
export class Gate {
  private readonly waiting: ((reply: number | AttemptResult) => void)[] = [];

  reply(): Promise<number | AttemptResult> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Answers all that hang. */
  open(reply: number | AttemptResult): void {
    for (const answer of this.waiting.splice(0)) answer(reply);
  }
}
