import { DateTime } from 'luxon';
import type { Instant } from '../core/instant.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';

/** What an endpoint waits for, in words for the Temporal UI and the command line. */

/** The facts behind the words. Counts are exact up to `atLeast`. */
export interface EndpointFacts {
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
  readonly behind: bigint;
  readonly now: Instant;
  /** The IANA time zone of the times in the words. */
  readonly timeZone: string;
}

const REASONS = {
  by_tenant: 'by its tenant',
  by_operator: 'by an operator',
  answered_410: 'because its receiver answered 410 Gone',
  failing_for_5_days: 'because every attempt failed for 5 days',
} as const;

export function describeEndpoint(facts: EndpointFacts): string {
  const { endpoint } = facts;
  const waits = waitingReasons(facts);
  if (endpoint.status === 'deleted') return 'deleted';
  if (endpoint.status === 'disabled') {
    const why = endpoint.disabledReason === null ? '' : ` ${REASONS[endpoint.disabledReason]}`;
    const since = endpoint.disabledAt === null ? '' : ` since ${when(endpoint.disabledAt, facts)}`;
    return join(`disabled${why}${since}`, waits);
  }
  if (endpoint.pausedAt !== null)
    return join(
      `paused by ${endpoint.pausedBy ?? 'an operator'} since ${when(endpoint.pausedAt, facts)}`,
      waits,
    );
  return waits.length === 0 ? 'idle' : waits.join('; ');
}

function waitingReasons(facts: EndpointFacts): string[] {
  const { endpoint, pending, retrying, nextAttemptAt, behind, now } = facts;
  const reasons: string[] = [];
  const probeAt = endpoint.probeAt;
  const next =
    probeAt !== null && nextAttemptAt !== null && probeAt > nextAttemptAt ? probeAt : nextAttemptAt;
  if (retrying > 0)
    reasons.push(
      next !== null && next > now
        ? `waiting until ${when(next, facts)} to retry ${deliveries(retrying)}`
        : `retrying ${deliveries(retrying)}`,
    );
  if (pending > 0) reasons.push(`${deliveries(pending)} to send`);
  if (endpoint.recoverUntil !== null) reasons.push('recovering what was missed');
  if (behind > 0n)
    reasons.push(`${behind} ${behind === 1n ? 'event' : 'events'} of the log to look at`);
  if (probeAt !== null && reasons.length > 0) reasons.push('probing');
  return reasons;
}

function deliveries(count: number): string {
  const shown = count > MAX_COUNTED ? `more than ${MAX_COUNTED}` : String(count);
  return `${shown} ${count === 1 ? 'delivery' : 'deliveries'}`;
}

/** Counting stops at one more than this. */
export const MAX_COUNTED = 10_000;

function when(at: Instant, { now, timeZone }: Pick<EndpointFacts, 'now' | 'timeZone'>): string {
  const [then, today] = [
    DateTime.fromMillis(at, { zone: timeZone }),
    DateTime.fromMillis(now, { zone: timeZone }),
  ];
  const day = then.hasSame(today, 'day') ? '' : 'yyyy-MM-dd ';
  return then.toFormat(`${day}HH:mm ${timeZone === 'UTC' ? "'UTC'" : "'UTC'ZZ"}`);
}

function join(first: string, rest: readonly string[]): string {
  return [first, ...rest].join('; ');
}
