import { DateTime } from 'luxon';
import { counted } from '../core/collections.js';
import type { Instant } from '../core/instant.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';
import { mayReceive, nextAttemptOf } from './endpoint-state.js';

/** Counts of deliveries end here. */
export const MAX_COUNTED = 10_000;

/** State of an endpoint. `pending` and `retrying` are counted up to `MAX_COUNTED + 1`. */
export interface EndpointSnapshot {
  readonly endpoint: Pick<
    WebhookEndpoint,
    | 'status'
    | 'disabledReason'
    | 'disabledAt'
    | 'pausedAt'
    | 'pausedBy'
    | 'probeAt'
    | 'recoverUntil'
  >;
  readonly pending: number;
  readonly retrying: number;
  readonly nextAttemptAt: Instant | null;
  readonly unreadEvents: bigint;
  readonly now: Instant;
  readonly timeZone: string;
}

const REASONS = {
  by_tenant: 'by its tenant',
  by_operator: 'by an operator',
  answered_410: 'because its receiver answered 410 Gone',
  failing_for_5_days: 'because every attempt failed for 5 days',
} as const;

/** Returns one word for the state of an endpoint. */
export function endpointWord({
  status,
  pausedAt,
  failingSince,
}: Pick<WebhookEndpoint, 'status' | 'pausedAt' | 'failingSince'>): string {
  if (status !== 'enabled') return status;
  if (pausedAt !== null) return 'paused';
  return failingSince === null ? status : 'failing';
}

export function describeEndpoint(snapshot: EndpointSnapshot): string {
  const { endpoint } = snapshot;
  const parts = unsentTexts(snapshot);
  if (endpoint.status === 'deleted') return 'deleted';
  if (endpoint.status === 'disabled') {
    const why = endpoint.disabledReason === null ? '' : ` ${REASONS[endpoint.disabledReason]}`;
    const since =
      endpoint.disabledAt === null ? '' : ` since ${timeText(endpoint.disabledAt, snapshot)}`;
    const until = 'nothing is sent until its tenant or an operator enables it';
    return [`disabled${why}${since}: ${until}`, ...parts].join('; ');
  }
  if (endpoint.pausedAt !== null) {
    const since = timeText(endpoint.pausedAt, snapshot);
    const by = endpoint.pausedBy ?? 'an operator';
    const paused = `paused by ${by} since ${since}: nothing is sent until it is resumed`;
    return [paused, ...parts].join('; ');
  }
  return parts.length === 0 ? 'no events to send' : parts.join('; ');
}

function unsentTexts(snapshot: EndpointSnapshot): string[] {
  const { endpoint, pending, retrying, nextAttemptAt, unreadEvents, now } = snapshot;
  const isSending = mayReceive(endpoint);
  const texts: string[] = [];
  const next = nextAttemptOf(endpoint, nextAttemptAt);
  if (retrying > 0 && !isSending) texts.push(`${deliveries(retrying)} to retry`);
  else if (retrying > 0)
    texts.push(
      next !== null && next > now
        ? `waiting until ${timeText(next, snapshot)} to retry ${deliveries(retrying)}`
        : `retrying ${deliveries(retrying)}`,
    );
  if (pending > 0) texts.push(`${deliveries(pending)} to send`);
  if (endpoint.recoverUntil !== null)
    texts.push(isSending ? 'resending missed events' : 'missed events to resend');
  if (unreadEvents > 0n) texts.push(`${counted(unreadEvents, 'recorded event')} not read yet`);
  if (isSending && endpoint.probeAt !== null && texts.length > 0)
    texts.push('one at a time until one succeeds');
  return texts;
}

function deliveries(count: number): string {
  const countText = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(count);
  return `${countText} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

function timeText(at: Instant, { now, timeZone }: EndpointSnapshot): string {
  const [then, today] = [
    DateTime.fromMillis(at, { zone: timeZone }),
    DateTime.fromMillis(now, { zone: timeZone }),
  ];
  const day = then.hasSame(today, 'day') ? '' : 'yyyy-MM-dd ';
  return then.toFormat(`${day}HH:mm ${timeZone === 'UTC' ? "'UTC'" : "'UTC'ZZ"}`);
}
