import type { MoneyClient } from './client.js';
import type { Event, EventType, FollowOptions } from './follow.js';
import { SUBSCRIBABLE_EVENTS } from './generated/constants.js';
import { writeJson } from './json.js';
import { signWebhook } from './webhooks.js';

/** The log, forwarded to an address as the service would deliver it: a receiver can be tried without a public one. */

export interface ForwardOptions extends Pick<FollowOptions, 'from' | 'pollMs' | 'signal'> {
  readonly client: MoneyClient;
  readonly to: string;
  /** What deliveries are signed with. */
  readonly secret: string;
  /** By default the types that a webhook endpoint can have. */
  readonly types?: readonly EventType[];
}

/** What came of one delivery. */
export interface Forwarded {
  readonly event: Event;
  readonly position: string;
  /** Null where no answer came. */
  readonly status: number | null;
  /** The beginning of the answer's body, or why none came. */
  readonly said: string;
  readonly ms: number;
}

/** As the service gives up. (docs/contract.md, Webhook attempts) */
const ATTEMPT_MS = 10_000;
const SHOWN_CHARACTERS = 200;

/** One attempt for each event, in the order of the log. */
export async function* forwardEvents(options: ForwardOptions): AsyncGenerator<Forwarded, void, undefined> {
  const { client, to, secret, types = SUBSCRIBABLE_EVENTS, ...following } = options;
  for await (const { event, position } of client.followEvents(following)) {
    if (!types.includes(event.type)) continue;
    const began = performance.now();
    const came = await deliver(to, event, secret);
    yield { event, position, ...came, ms: Math.round(performance.now() - began) };
  }
}

async function deliver(to: string, event: Event, secret: string): Promise<Pick<Forwarded, 'status' | 'said'>> {
  const body = writeJson(event);
  const headers = { 'Content-Type': 'application/json', ...(await signWebhook({ id: event.id, body }, secret)) };
  try {
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    const response = await fetch(to, { method: 'POST', headers, body, redirect: 'manual', signal });
    return { status: response.status, said: (await response.text()).slice(0, SHOWN_CHARACTERS) };
  } catch (failure) {
    const { cause } = failure instanceof Error ? failure : { cause: undefined };
    return { status: null, said: cause instanceof Error ? cause.message : String(failure) };
  }
}
