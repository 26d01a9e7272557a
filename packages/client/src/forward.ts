import type { MoneyClient } from './client.js';
import type { Event, EventType, FollowOptions } from './follow.js';
import { SUBSCRIBABLE_EVENTS } from './generated/constants.js';
import { writeJson } from './json.js';
import { signWebhook } from './webhooks.js';

export interface ForwardOptions extends Pick<FollowOptions, 'from' | 'pollMs' | 'signal'> {
  readonly client: MoneyClient;
  readonly to: string;
  /** The secret that signs deliveries. */
  readonly secret: string;
  /** By default every type that a webhook endpoint can subscribe to. */
  readonly types?: readonly EventType[];
}

/** The result of one delivery. */
export interface Forwarded {
  readonly event: Event;
  readonly position: string;
  /** Null without a response. */
  readonly status: number | null;
  /** The beginning of the response's body, or the reason why none arrived. */
  readonly said: string;
  readonly ms: number;
}

/** The service's own limit. (docs/contract.md, Webhook attempts) */
const ATTEMPT_MS = 10_000;
const SHOWN_CHARACTERS = 200;

/**
 * Forwards the log to an address as the service would deliver it, to try a receiver without a
 * public address. Makes one attempt for each event, in log order.
 */
export async function* forwardEvents(
  options: ForwardOptions,
): AsyncGenerator<Forwarded, void, undefined> {
  const { client, to, secret, types = SUBSCRIBABLE_EVENTS, ...following } = options;
  for await (const { event, position } of client.followEvents(following)) {
    if (!types.includes(event.type)) continue;
    const began = performance.now();
    const result = await deliver(to, event, secret);
    yield { event, position, ...result, ms: Math.round(performance.now() - began) };
  }
}

async function deliver(
  to: string,
  event: Event,
  secret: string,
): Promise<Pick<Forwarded, 'status' | 'said'>> {
  const body = writeJson(event);
  const headers = {
    'Content-Type': 'application/json',
    ...(await signWebhook({ id: event.id, body }, secret)),
  };
  try {
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    const response = await fetch(to, { method: 'POST', headers, body, redirect: 'manual', signal });
    return { status: response.status, said: (await response.text()).slice(0, SHOWN_CHARACTERS) };
  } catch (failure) {
    const { cause } = failure instanceof Error ? failure : { cause: undefined };
    return { status: null, said: cause instanceof Error ? cause.message : String(failure) };
  }
}
