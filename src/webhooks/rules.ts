import { type Instant, instant } from '../core/instant.js';
import type {
  DeliveryState,
  DisabledReason,
  WebhookDelivery,
  WebhookEndpoint,
} from '../db/entities/webhooks.js';
import type { AttemptResult } from './exchange.js';

/** Effects of an attempt on its delivery and endpoint. (docs/contract.md, Webhook attempts) */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY_MS = 24 * HOUR;

/** The wait before each attempt. After the last attempt the delivery has failed. */
export const SCHEDULE_MS: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
  24 * HOUR,
  24 * HOUR,
];
/** Spreads retries of deliveries that failed together. */
const JITTER = 0.1;
const MAX_RETRY_AFTER_MS = DAY_MS;
const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];
const GONE = 410;

/** An endpoint that fails for this long is disabled; enabling it resends what it missed since. */
export const FAILING_MS = 5 * DAY_MS;
const FAILURES_BEFORE_PROBING = 5;
const FIRST_PROBE_MS = 5 * SECOND;
const SLOWEST_PROBE_MS = 5 * MINUTE;

export const RECOVER_MS = 30 * DAY_MS;
export const ATTEMPTS_KEPT_MS = 30 * DAY_MS;
export const PREVIOUS_SECRET_MS = DAY_MS;
export const MAX_ENDPOINTS = 16;

/** Simultaneous attempts for one endpoint. */
const WINDOW = 8;
/** Few, so that receivers that fail or hang hold few connections. */
const REDUCED_WINDOW = 2;

/** Events read from the log for one endpoint at a time. */
export const EVENTS_PER_READ = 24;
/** An attempt or a run's turn that takes longer than this is slow. */
export const PROMPT_MS = 500;
/** A receiver that has answered nothing for this long is silent. */
export const SILENT_MS = 2_000;
/** A run ends after this, so that endpoints without backlogs get slots. */
export const MAX_RUN_MS = 5_000;

export function windowOf(
  { failuresInRow }: Pick<Health, 'failuresInRow'>,
  isSilent: boolean,
): number {
  return isSilent || failuresInRow > 0 ? REDUCED_WINDOW : WINDOW;
}

export function isSuccess(result: AttemptResult): boolean {
  return result.outcome === 'answered' && result.status >= 200 && result.status <= 299;
}

/** True if the service itself ended the attempt, which is repeated and does not count as a step. */
export function wasCanceled(result: AttemptResult): boolean {
  return result.outcome === 'failed' && result.reason === 'canceled';
}

type DeliveryProgress = Pick<WebhookDelivery, 'state' | 'steps' | 'nextAttemptAt' | 'finishedAt'>;

/** Returns the delivery's state after an attempt. `random`, 0 to 1, spreads the wait by ±10 %. */
export function afterAttempt(
  delivery: { readonly steps: number },
  result: AttemptResult,
  isSubscribed: boolean,
  now: Instant,
  random: number,
): DeliveryProgress {
  const steps = delivery.steps + 1;
  if (isSuccess(result)) return ended('delivered', steps, now);
  if (!isSubscribed) return ended('ended', steps, now);
  const waitMs = SCHEDULE_MS[steps];
  if (waitMs === undefined) return ended('failed', steps, now);
  const spread = waitMs * (1 + JITTER * (2 * random - 1));
  const nextAttemptAt = instant(now + Math.max(spread, retryAfterMs(result)));
  return { state: 'retrying', steps, nextAttemptAt, finishedAt: null };
}

export function hasStepLeft({ steps }: { readonly steps: number }): boolean {
  return steps + 1 < SCHEDULE_MS.length;
}

function ended(state: DeliveryState, steps: number, now: Instant): DeliveryProgress {
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

/** Only a probe extends the wait for the next probe. */
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
    return disabled(failing, 'answered_410', now);
  if (now - failingSince >= FAILING_MS) return disabled(failing, 'failing_for_5_days', now);
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

function disabled(health: Health, disabledReason: DisabledReason, disabledAt: Instant): Health {
  return { ...health, status: 'disabled', disabledReason, disabledAt };
}

export interface Load {
  readonly pending: number;
  readonly retries: number;
  readonly inFlight: number;
  readonly retriesInFlight: number;
  readonly isSilent: boolean;
}

/** Returns the lane that sends next, or null if none may. */
export function nextLane(
  load: Load,
  health: Health,
  now: Instant,
): 'pending' | 'retries' | 'probe' | null {
  if (health.status !== 'enabled') return null;
  if (load.pending + load.retries === 0) return null;
  if (health.probeAt !== null) return load.inFlight === 0 && health.probeAt <= now ? 'probe' : null;
  const window = windowOf(health, load.isSilent);
  if (load.inFlight >= window) return null;
  if (load.retries > 0 && (load.retriesInFlight < window / 2 || load.pending === 0))
    return 'retries';
  return load.pending > 0 ? 'pending' : null;
}

/** Returns when the endpoint is due next, not before its next probe; null if nothing is due. */
export function nextDue(earliest: Instant | null, health: Health): Instant | null {
  if (earliest === null || health.status !== 'enabled') return null;
  return health.probeAt !== null && health.probeAt > earliest ? health.probeAt : earliest;
}

/** How much earlier than the dispatcher the workflow marks an endpoint as due. */
export const WORKFLOW_HEAD_START_MS = 2_000;

/**
 * Returns how a run leaves its endpoint. The dispatcher sends what is due now, and the workflow
 * waits for what is due later. It is notified only if its wait must begin, become shorter or end,
 * or should have ended already. `nextDueAt` is null if only new events are waited for.
 */
export function afterRun(
  { pausedAt, waitsUntil: known }: Pick<WebhookEndpoint, 'pausedAt' | 'waitsUntil'>,
  due: Instant | null,
  now: Instant,
) {
  if (due === null || due <= now || pausedAt !== null)
    return { nextDueAt: due, waitsUntil: null, mustNotify: known !== null };
  const mustNotify = known === null || known <= now || due < known;
  const nextDueAt = instant(due + WORKFLOW_HEAD_START_MS);
  return { nextDueAt, waitsUntil: mustNotify ? due : known, mustNotify };
}
