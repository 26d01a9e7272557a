import { setTimeout as sleep } from 'node:timers/promises';
import { Batcher } from '../core/batcher.js';
import { type Instant, instant } from '../core/instant.js';
import type { Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import {
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import { CommitUnknown, DatabaseUnavailable } from '../db/failures.js';
import { insertSql, statement, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import {
  type Claim,
  CLAIM_MS,
  type EndpointState,
  hasMore,
  isHeld,
  isSubscribedType,
  lockStates,
  soonest,
} from './endpoint-claims.js';
import type { WebhookDeps } from './deps.js';
import { noticeOf } from './endpoints.js';
import type { OpenDelivery } from './event-reader.js';
import type { AttemptResult } from './exchange.js';
import { recoverSome } from './resend.js';
import { afterAttempt, afterRun, type Health, healthAfter, nextDue } from './rules.js';
import { attemptRow } from './sender.js';

const MAX_GROUP = 100;
const MAX_RESULTS = 500;
/** Deliveries of one event to many endpoints end within milliseconds, and share a transaction. */
const LINGER_MS = 10;
/** Pause before a row that was locked is tried again. */
const LOCKED_MS = 50;

/** Stores the results of many runs together. */
export class DeliveryStore {
  private readonly writes = new Batcher(
    {
      maxWeight: MAX_RESULTS,
      weigh: ({ ended, begun }) => ended.length + begun.length + MAX_RESULTS / MAX_GROUP,
      lingerMs: LINGER_MS,
      mayRetryAlone,
    },
    (results: readonly RunResults[]) => this.storeAll(results),
  );
  private readonly recoveries: Batcher<Claim, EndpointState | 'locked' | null>;

  /** `recoveryConcurrency`: transactions that recoveries use at a time. */
  constructor(
    private readonly deps: Pick<WebhookDeps, 'database' | 'clock' | 'notifier'>,
    recoveryConcurrency: number,
    private readonly random: () => number = Math.random,
  ) {
    const { database, clock } = deps;
    this.recoveries = new Batcher({ maxWeight: 1, concurrency: recoveryConcurrency }, ([claim]) =>
      transact(database, async (transaction) => [
        claim === undefined ? null : await recoverSome(transaction, claim, clock()),
      ]),
    );
  }

  /** Returns null if another run has the endpoint. */
  store(results: RunResults): Promise<StoredResults | null> {
    return whenUnlocked(() => this.writes.submit(results));
  }

  /** Does a step of a recovery. Returns null if another run has the endpoint. */
  recover(claim: Claim): Promise<EndpointState | null> {
    return whenUnlocked(() => this.recoveries.submit(claim));
  }

  private async storeAll(results: readonly RunResults[]) {
    const { database, clock, notifier } = this.deps;
    const stored = await transact(database, (transaction) =>
      storeResults(transaction, results, clock(), this.random),
    );
    for (const one of stored)
      if (one !== null && one !== 'locked' && one.notice !== null) notifier.notify(one.notice);
    return stored;
  }
}

/** Repeats work while the endpoint's row is locked elsewhere, until another run may claim it. */
async function whenUnlocked<T>(work: () => Promise<T | 'locked' | null>): Promise<T | null> {
  const end = performance.now() + CLAIM_MS;
  while (performance.now() < end) {
    const done = await work();
    if (done !== 'locked') return done;
    await sleep(LOCKED_MS);
  }
  return null;
}

/** False if the database is unavailable, which no single endpoint has caused. */
function mayRetryAlone(failure: unknown): boolean {
  return !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
}

export interface Outcome {
  readonly open: OpenDelivery;
  /** Null if ended without an attempt: its type is unsubscribed or its event was removed. */
  readonly result: AttemptResult | null;
  readonly isProbe: boolean;
  readonly beganAt: Instant;
  readonly endedAt: Instant;
}

export interface RunResults {
  readonly claim: Claim;
  /** The sequence through which the log was handled; null if it was not read. */
  readonly through: bigint | null;
  readonly ended: readonly Outcome[];
  /** Deliveries in flight or cut off, which get rows so that any run can send them. */
  readonly begun: readonly WebhookDelivery[];
  /** keep: attempts are in flight. release_if_done: keep if more is to be sent now. */
  readonly then: 'keep' | 'release_if_done' | 'release';
}

export interface StoredResults extends EndpointState {
  readonly isReleased: boolean;
}

const CHANGED = [
  'cursorSequence',
  'leaseUntil',
  'nextDueAt',
  'waitsUntil',
  'status',
  'disabledReason',
  'disabledAt',
  'failuresInRow',
  'failingSince',
  'probes',
  'probeAt',
  'lastSuccessAt',
  'lostFrom',
  'lostTo',
] as const;

/**
 * Stores the results of runs in one transaction, each under its endpoint's lock. Returns one result
 * for each: null if another run has the endpoint, "locked" if its row is locked elsewhere.
 */
async function storeResults(
  transaction: Transaction,
  results: readonly RunResults[],
  now: Instant,
  random: () => number,
) {
  const states = await lockStates(
    transaction,
    results.map(({ claim }) => claim.id),
  );
  const stored = results.map((one) => {
    const state = states.get(one.claim.id);
    if (state === undefined) return 'locked';
    return state.endpoint.fence === one.claim.fence ? resultOf(one, state, now, random) : null;
  });
  const written = stored.filter((one) => one !== null && one !== 'locked');
  transaction.withCommit([
    ...statement(
      written.flatMap(({ attempts }) => attempts),
      (rows) => insertSql(webhookAttempts, rows),
    ),
    ...statement(
      written.flatMap(({ deliveries }) => deliveries),
      (rows) =>
        upsertSql(webhookDeliveries, rows, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    ),
    ...statement(
      written.map(({ endpoint }) => endpoint),
      (rows) => upsertSql(webhookEndpoints, rows, CHANGED),
    ),
    ...statement(
      written.flatMap(({ notice }) => notice ?? []),
      (rows) => insertSql(outbox, rows),
    ),
  ]);
  return stored;
}

function resultOf(results: RunResults, state: EndpointState, now: Instant, random: () => number) {
  const before = state.endpoint;
  const { through, ended, begun, then } = results;
  const deliveries = [
    ...ended.map((outcome) => deliveryAfter(state, outcome, now, random)),
    ...begun,
  ];
  const endpoint = {
    ...before,
    ...healthAfterAll(before, ended),
    ...lostAfter(state, results),
    cursorSequence:
      through !== null && through > before.cursorSequence ? through : before.cursorSequence,
  };
  const waiting = deliveries.map(({ nextAttemptAt }) => nextAttemptAt);
  const earliest = soonest([state.earliest, ...waiting]);
  const due = nextDue(hasMore({ ...state, endpoint }) ? now : earliest, endpoint);
  const isDone = isHeld(endpoint) || due === null || due > now;
  const isReleased = then === 'release' || (then === 'release_if_done' && isDone);
  const { mustNotify, ...set } = isReleased
    ? { leaseUntil: null, ...afterRun(endpoint, due, now) }
    : { leaseUntil: instant(now + CLAIM_MS), mustNotify: false };
  return {
    ...state,
    endpoint: { ...endpoint, ...set },
    earliest,
    isReleased,
    deliveries,
    attempts: ended.flatMap(({ open, result, beganAt }) =>
      result === null ? [] : attemptRow(before.id, open.delivery.id, beganAt, result),
    ),
    notice: mustNotify || endpoint.status !== before.status ? noticeOf(endpoint, now) : null,
  };
}

export function healthAfterAll(health: Health, outcomes: readonly Outcome[]): Health {
  return outcomes.reduce(
    (sofar, { result, isProbe, endedAt }) =>
      result === null ? sofar : healthAfter(sofar, result, isProbe, endedAt),
    health,
  );
}

function deliveryAfter(
  { types }: EndpointState,
  { open: { delivery }, result, endedAt }: Outcome,
  now: Instant,
  random: () => number,
): WebhookDelivery {
  if (result === null) return { ...delivery, state: 'ended', nextAttemptAt: null, finishedAt: now };
  const isWanted = isSubscribedType(types, delivery.eventType);
  return { ...delivery, ...afterAttempt(delivery, result, isWanted, endedAt, random()) };
}

/**
 * Adds events that retention removed before they were sent: those that the cursor passed unread,
 * and those of waiting deliveries.
 */
function lostAfter(
  { endpoint, types, removedThrough }: EndpointState,
  { through, ended, begun }: RunResults,
): Pick<WebhookEndpoint, 'lostFrom' | 'lostTo'> {
  let { lostFrom, lostTo } = endpoint;
  const lose = (from: bigint, to: bigint): void => {
    if (lostFrom === null || from < lostFrom) lostFrom = from;
    if (lostTo === null || to > lostTo) lostTo = to;
  };
  const unwritten = ended.filter(({ open }) => !open.hasRow).map(({ open }) => open.delivery);
  let unread = removedThrough;
  // Retention may have removed events since they were read.
  for (const { sequence } of [...unwritten, ...begun])
    if (sequence !== null && sequence <= unread) unread = sequence - 1n;
  if (through !== null && unread > endpoint.cursorSequence)
    lose(endpoint.cursorSequence + 1n, unread);
  for (const { open, result } of ended) {
    const { sequence, eventType, cause } = open.delivery;
    if (result !== null || sequence === null || sequence > removedThrough) continue;
    if (cause !== 'redeliver' && isSubscribedType(types, eventType)) lose(sequence, sequence);
  }
  return { lostFrom, lostTo };
}
