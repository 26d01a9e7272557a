import { type Instant, instant } from '../core/instant.js';
import type {
  DeliveryState,
  DisabledReason,
  WebhookDelivery,
  WebhookEndpoint,
} from '../db/entities/webhooks.js';
import type { AttemptResult } from './attempt.js';

/** Effects of an attempt on its delivery and endpoint. (docs/contract.md, Webhook attempts) */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The wait before each attempt. After the last attempt the delivery has failed. */
export const SCHEDULE_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];
/** Spreads retries of deliveries that failed together. */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = DAY_MS;
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];
const GONE = 410;

/** An endpoint that fails this long is disabled. Enabling it resends events of this time before. */
export const FAILING_MS = 5 * DAY_MS;
/** Then the endpoint gets one attempt at a time, a probe, until one succeeds. */
const FAILURES_BEFORE_PROBING = 5;
const FIRST_PROBE_MS = 5 * SECOND_MS;
const SLOWEST_PROBE_MS = 5 * MINUTE_MS;

export const RECOVERABLE_MS = 30 * DAY_MS;
export const ATTEMPTS_KEPT_MS = 30 * DAY_MS;
export const PREVIOUS_SECRET_MS = DAY_MS;
export const MAX_ENDPOINTS = 16;

/** Attempts in flight at one endpoint. */
const MAX_IN_FLIGHT = 8;
/** For a receiver that fails or hangs, so that it occupies few connections. */
const MAX_IN_FLIGHT_FAILING = 2;

/** Events read from the log for one endpoint at a time. */
export const EVENTS_PER_READ = 24;
/** An attempt, or a turn of a run, is slow if it takes longer. */
export const SLOW_AFTER_MS = 500;
/** A receiver is silent if no attempt in flight has been answered for this long. */
export const SILENT_AFTER_MS = 2_000;
/** A run ends after this time, so that a long backlog does not keep a slot. */
export const MAX_RUN_MS = 5_000;

export function maxInFlight(
  { failuresInRow }: Pick<Health, 'failuresInRow'>,
  isSilent: boolean,
): number {
  return isSilent || failuresInRow > 0 ? MAX_IN_FLIGHT_FAILING : MAX_IN_FLIGHT;
}

export function isSuccess(result: AttemptResult): boolean {
  return result.outcome === 'answered' && result.status >= 200 && result.status <= 299;
}

/** Returns whether the service itself ended the attempt, which is repeated and does not count. */
export function wasCanceled(result: AttemptResult): boolean {
  return result.outcome === 'failed' && result.reason === 'canceled';
}

type DeliveryProgress = Pick<WebhookDelivery, 'state' | 'steps' | 'nextAttemptAt' | 'finishedAt'>;

/** Returns the delivery's state after an attempt. `random`, 0 to 1, spreads the wait by ±10 %. */
export function progressAfter(
  delivery: { readonly steps: number },
  result: AttemptResult,
  isSubscribed: boolean,
  now: Instant,
  random: number,
): DeliveryProgress {
  const steps = delivery.steps + 1;
  if (isSuccess(result)) return finish('delivered', steps, now);
  if (!isSubscribed) return finish('ended', steps, now);
  const waitMs = SCHEDULE_MS[steps];
  if (waitMs === undefined) return finish('failed', steps, now);
  const spread = waitMs * (1 + JITTER * (2 * random - 1));
  const nextAttemptAt = instant(now + Math.max(spread, retryAfterMs(result)));
  return { state: 'retrying', steps, nextAttemptAt, finishedAt: null };
}

export function hasStepLeft({ steps }: { readonly steps: number }): boolean {
  return steps + 1 < SCHEDULE_MS.length;
}

function finish(state: DeliveryState, steps: number, now: Instant): DeliveryProgress {
  return { state, steps, nextAttemptAt: null, finishedAt: now };
}

function retryAfterMs(result: AttemptResult): number {
  if (result.outcome !== 'answered' || !RETRY_AFTER_STATUSES.includes(result.status)) return 0;
  return Math.min(result.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
}

export interface Health {
  readonly status: 'enabled' | 'disabled' | 'deleted';
  readonly disabledReason: DisabledReason | null;
  readonly disabledAt: Instant | null;
  readonly failuresInRow: number;
  readonly failingSince: Instant | null;
  readonly probes: number;
  readonly probeAt: Instant | null;
  readonly lastSuccessAt: Instant | null;
}

export const HEALTHY = { failuresInRow: 0, failingSince: null, probes: 0, probeAt: null } as const;

/** Returns the health after an attempt. Only a failed probe moves the next probe further away. */
export function healthAfter(
  health: Health,
  result: AttemptResult,
  isProbe: boolean,
  now: Instant,
): Health {
  if (isSuccess(result)) return { ...health, ...HEALTHY, lastSuccessAt: now };
  const failuresInRow = health.failuresInRow + 1;
  const failingSince = health.failingSince ?? now;
  const probes = health.probes + (isProbe ? 1 : 0);
  const failing = {
    ...health,
    failuresInRow,
    failingSince,
    probes,
    probeAt: probeAfter(health, isProbe, now),
  };
  if (health.status !== 'enabled') return failing;
  if (result.outcome === 'answered' && result.status === GONE)
    return disable(failing, 'answered_410', now);
  if (now - failingSince >= FAILING_MS) return disable(failing, 'failing_for_5_days', now);
  return failing;
}

function probeAfter(health: Health, isProbe: boolean, now: Instant): Instant | null {
  if (isProbe) return instant(now + probeWaitMs(health.probes + 1));
  if (health.probeAt !== null) return health.probeAt;
  return health.failuresInRow + 1 >= FAILURES_BEFORE_PROBING ? instant(now + probeWaitMs(0)) : null;
}

export function probeWaitMs(probes: number): number {
  return Math.min(FIRST_PROBE_MS * 2 ** Math.min(probes, 10), SLOWEST_PROBE_MS);
}

function disable(health: Health, disabledReason: DisabledReason, disabledAt: Instant): Health {
  return { ...health, status: 'disabled', disabledReason, disabledAt };
}

export interface RunLoad {
  readonly pending: number;
  readonly retries: number;
  readonly inFlight: number;
  readonly retriesInFlight: number;
  readonly isSilent: boolean;
}

/** Returns the kind of the next attempt, or null if none may start. Retries take up to half. */
export function nextAttemptKind(
  load: RunLoad,
  health: Health,
  now: Instant,
): 'pending' | 'retry' | 'probe' | null {
  if (health.status !== 'enabled') return null;
  if (load.pending + load.retries === 0) return null;
  if (health.probeAt !== null) return load.inFlight === 0 && health.probeAt <= now ? 'probe' : null;
  const limit = maxInFlight(health, load.isSilent);
  if (load.inFlight >= limit) return null;
  if (load.retries > 0 && (load.retriesInFlight < limit / 2 || load.pending === 0)) return 'retry';
  return load.pending > 0 ? 'pending' : null;
}

/** Returns when the endpoint is due next, not before its next probe; null if nothing is due. */
export function nextDue(
  nextAttemptAt: Instant | null,
  health: Pick<Health, 'status' | 'probeAt'>,
): Instant | null {
  if (nextAttemptAt === null || health.status !== 'enabled') return null;
  return health.probeAt !== null && health.probeAt > nextAttemptAt ? health.probeAt : nextAttemptAt;
}

/** How much earlier than the dispatcher the workflow marks an endpoint as due. */
export const WORKFLOW_HEAD_START_MS = 2_000;

/**
 * Returns when the dispatcher (`nextDueAt`) and the workflow (`waitsUntil`) check the endpoint after
 * a run. The workflow is notified only if its wait must begin, become shorter or end, or should
 * have ended already. `nextDueAt` is null if only new events make the endpoint due.
 */
export function dueTimesAfterRun(
  { pausedAt, waitsUntil }: Pick<WebhookEndpoint, 'pausedAt' | 'waitsUntil'>,
  due: Instant | null,
  now: Instant,
) {
  if (due === null || due <= now || pausedAt !== null)
    return { times: { nextDueAt: due, waitsUntil: null }, mustNotify: waitsUntil !== null };
  const mustNotify = waitsUntil === null || waitsUntil <= now || due < waitsUntil;
  const nextDueAt = instant(due + WORKFLOW_HEAD_START_MS);
  return { times: { nextDueAt, waitsUntil: mustNotify ? due : waitsUntil }, mustNotify };
}
