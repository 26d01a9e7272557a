import { type Clock, type Instant, instant } from '../core/instant.js';
import { Batcher } from '../core/batcher.js';
import type { Database, Transaction } from '../db/database.js';
import { outbox, type OutboxRow } from '../db/entities/outbox.js';
import { CommitUnknown, DatabaseUnavailable } from '../db/failures.js';
import { transactFor } from '../db/reader.js';
import {
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import { insertSql, statement, upsertSql } from '../db/statements.js';
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
import { type EventsToSend, type OpenDelivery, readWork } from './event-reader.js';
import { recoverSome } from './resend.js';
import { noticeOf } from './endpoints.js';
import type { AttemptResult } from './exchange.js';
import { afterAttempt, afterRun, type Health, healthAfter, nextDue } from './rules.js';
import { attemptRow } from './sender.js';

const MAX_GROUP = 100;
const MAX_RESULTS = 500;
/** Deliveries of one event to many endpoints end within milliseconds, and share a transaction. */
const LINGER_MS = 10;

interface DeliveryStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly notifier: { readonly notify: (notice: OutboxRow) => void };
}

/** Batches reads and writes of runs. */
export class DeliveryStore {
  private readonly reads = new Batcher(
    { maxWeight: MAX_GROUP, concurrency: 2, mayRetryAlone },
    (states: readonly EndpointState[]) =>
      readWork(this.deps.database.reader, states, this.deps.clock()),
  );
  private readonly writes = new Batcher(
    {
      maxWeight: MAX_RESULTS,
      weigh: ({ ended, begun }) => ended.length + begun.length + MAX_RESULTS / MAX_GROUP,
      lingerMs: LINGER_MS,
      mayRetryAlone,
    },
    (results: readonly RunResults[]) => this.storeAll(results, false),
  );

  constructor(
    private readonly deps: DeliveryStoreDeps,
    private readonly random: () => number = Math.random,
  ) {}

  read(state: EndpointState): Promise<EventsToSend> {
    return this.reads.submit(state);
  }

  /** Returns null if another run has the endpoint. Results for a locked endpoint delay no others. */
  async store(results: RunResults): Promise<StoredResults | null> {
    const stored = await this.writes.submit(results);
    if (stored !== 'locked') return stored;
    const [alone = null] = await this.storeAll([results], true);
    return alone === 'locked' ? null : alone;
  }

  /** Does a step of a recovery. Returns null if another run has the endpoint. */
  recover(claim: Claim): Promise<EndpointState | null> {
    const { database, clock } = this.deps;
    return transactFor(claim.tenantId, database, (transaction) =>
      recoverSome(transaction, claim, clock()),
    );
  }

  private async storeAll(
    results: readonly RunResults[],
    mayWait: boolean,
  ): Promise<readonly (StoredResults | 'locked' | null)[]> {
    const { database, clock, notifier } = this.deps;
    const tenant = mayWait ? (results[0]?.claim.tenantId ?? null) : null;
    const { stored, notices } = await transactFor(tenant, database, (transaction) =>
      storeResults(transaction, results, clock(), this.random, mayWait),
    );
    for (const notice of notices) notifier.notify(notice);
    return stored;
  }
}

/** False if the database is unavailable, which no single endpoint has caused. */
function mayRetryAlone(failure: unknown): boolean {
  return !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
}

export type Outcome =
  | {
      readonly open: OpenDelivery;
      readonly result: AttemptResult;
      readonly isProbe: boolean;
      readonly beganAt: Instant;
      readonly endedAt: Instant;
    }
  /** Ended without an attempt, because its type is unsubscribed or its event was removed. */
  | { readonly open: OpenDelivery; readonly result: null };

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
 * for each: null if another run has the endpoint, "locked" if it is locked elsewhere and `mayWait`
 * is false.
 */
async function storeResults(
  transaction: Transaction,
  results: readonly RunResults[],
  now: Instant,
  random: () => number,
  mayWait: boolean,
): Promise<{
  readonly stored: readonly (StoredResults | 'locked' | null)[];
  readonly notices: readonly OutboxRow[];
}> {
  const ids = results.map(({ claim }) => claim.id);
  const states = await lockStates(transaction, ids, mayWait);
  const stored = results.map((one): EndpointResult | 'locked' | null => {
    const found = states.get(one.claim.id);
    if (found === undefined) return mayWait ? null : 'locked';
    return found.endpoint.fence === one.claim.fence ? resultOf(one, found, now, random) : null;
  });
  const written = stored.filter((one) => one !== null && one !== 'locked');
  transaction.withCommit(statementsOf(written));
  return { stored, notices: written.flatMap(({ notices }) => notices) };
}

type EndpointResult = ReturnType<typeof resultOf>;

function resultOf(results: RunResults, state: EndpointState, now: Instant, random: () => number) {
  const before = state.endpoint;
  const { through, ended, begun, then } = results;
  const rows = ended.map((outcome) => ({
    hasRow: outcome.open.hasRow,
    row: deliveryAfter(state, outcome, now, random),
  }));
  const inserted = [...rows.filter(({ hasRow }) => !hasRow).map(({ row }) => row), ...begun];
  const updated = rows.filter(({ hasRow }) => hasRow).map(({ row }) => row);
  const endpoint = {
    ...before,
    ...healthAfterAll(before, ended),
    ...lostAfter(state, results),
    cursorSequence:
      through !== null && through > before.cursorSequence ? through : before.cursorSequence,
  };
  const next = { ...state, endpoint };
  const earliest = soonest([
    state.earliest,
    ...[...inserted, ...updated].map(({ nextAttemptAt }) => nextAttemptAt),
  ]);
  const due = nextDue(hasMore(next) ? now : earliest, endpoint);
  const isNewStatus = endpoint.status !== before.status;
  const isDone = isHeld(endpoint) || due === null || due > now;
  const isReleased = then === 'release' || (then === 'release_if_done' && isDone);
  const { mustNotify, ...set } = isReleased
    ? { leaseUntil: null, ...afterRun(endpoint, due, now) }
    : { leaseUntil: instant(now + CLAIM_MS), mustNotify: false };
  return {
    results,
    inserted,
    updated,
    ...next,
    endpoint: { ...endpoint, ...set },
    earliest,
    isReleased,
    notices: mustNotify || isNewStatus ? [noticeOf(endpoint, now)] : [],
  };
}

function statementsOf(written: readonly EndpointResult[]): string[] {
  const attempts = written.flatMap(({ results: { claim, ended } }) =>
    ended.flatMap((outcome) =>
      outcome.result === null
        ? []
        : [attemptRow(claim.id, outcome.open.delivery.id, outcome.beganAt, outcome.result)],
    ),
  );
  const endpoints = written.map(({ endpoint }) => endpoint);
  return [
    ...statement(attempts, (rows) => insertSql(webhookAttempts, rows)),
    ...statement(
      written.flatMap(({ inserted }) => inserted),
      (rows) => insertSql(webhookDeliveries, rows),
    ),
    ...statement(
      written.flatMap(({ updated }) => updated),
      (rows) =>
        upsertSql(webhookDeliveries, rows, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    ),
    ...statement(endpoints, (rows) => upsertSql(webhookEndpoints, rows, CHANGED)),
    ...statement(
      written.flatMap(({ notices }) => notices),
      (rows) => insertSql(outbox, rows),
    ),
  ];
}

export function healthAfterAll(health: Health, outcomes: readonly Outcome[]): Health {
  return outcomes.reduce(
    (health, outcome) =>
      outcome.result === null
        ? health
        : healthAfter(health, outcome.result, outcome.isProbe, outcome.endedAt),
    health,
  );
}

function deliveryAfter(
  { types }: EndpointState,
  outcome: Outcome,
  now: Instant,
  random: () => number,
): WebhookDelivery {
  const { delivery } = outcome.open;
  if (outcome.result === null)
    return { ...delivery, state: 'ended', nextAttemptAt: null, finishedAt: now };
  const isSubscribed = isSubscribedType(types, delivery.eventType);
  return {
    ...delivery,
    ...afterAttempt(delivery, outcome.result, isSubscribed, outcome.endedAt, random()),
  };
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
