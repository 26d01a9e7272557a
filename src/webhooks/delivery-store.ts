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
import { insertSql, sqlFor, upsertSql } from '../db/statements.js';
import {
  type EndpointState,
  hasEventsToRead,
  mayReceive,
  isSubscribedType,
  lockEndpointStates,
  soonest,
} from './endpoint-state.js';
import { type Claim, CLAIM_MS } from './endpoint-claims.js';
import { type DeliveriesToSend, type OpenDelivery, readDeliveriesToSend } from './event-reader.js';
import { continueRecovery } from './resend.js';
import { workflowNotice } from './endpoints.js';
import type { AttemptResult } from './attempt.js';
import { progressAfter, dueTimesAfterRun, type Health, healthAfter, nextDue } from './rules.js';
import { attemptRow } from './sender.js';

const MAX_ENDPOINTS_PER_BATCH = 100;
const MAX_BATCH_WEIGHT = 500;
/** Added for each endpoint; each of its deliveries weighs 1. */
const ENDPOINT_WEIGHT = MAX_BATCH_WEIGHT / MAX_ENDPOINTS_PER_BATCH;
/** Deliveries of one event to many endpoints end within milliseconds, and share a transaction. */
const LINGER_MS = 10;

interface DeliveryStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly notifier: { readonly notify: (notice: OutboxRow) => void };
}

/** Batches what runs of endpoints (`EndpointRun`) read and write. */
export class DeliveryStore {
  private readonly reads = new Batcher(
    { maxWeight: MAX_ENDPOINTS_PER_BATCH, concurrency: 2, mayRetryAlone },
    (states: readonly EndpointState[]) =>
      readDeliveriesToSend(this.deps.database.reader, states, this.deps.clock()),
  );
  private readonly writes = new Batcher(
    {
      maxWeight: MAX_BATCH_WEIGHT,
      weigh: ({ outcomes, unfinished }) => outcomes.length + unfinished.length + ENDPOINT_WEIGHT,
      lingerMs: LINGER_MS,
      mayRetryAlone,
    },
    (results: readonly RunResults[]) => this.storeAll(results, 'skip'),
  );

  constructor(
    private readonly deps: DeliveryStoreDeps,
    private readonly random: () => number = Math.random,
  ) {}

  read(state: EndpointState): Promise<DeliveriesToSend> {
    return this.reads.submit(state);
  }

  /** Returns null if another run has claimed the endpoint. Waits for a lock outside the batch. */
  async store(results: RunResults): Promise<StoredResults | null> {
    const stored = await this.writes.submit(results);
    if (stored !== 'locked') return stored;
    const [alone = null] = await this.storeAll([results], 'wait');
    return alone === 'locked' ? null : alone;
  }

  /** Does a step of a recovery. Returns null if another run has claimed the endpoint. */
  continueRecovery(claim: Claim): Promise<EndpointState | null> {
    const { database, clock } = this.deps;
    return transactFor(claim, database, (transaction) =>
      continueRecovery(transaction, claim, clock()),
    );
  }

  private async storeAll(
    results: readonly RunResults[],
    ifLocked: 'wait' | 'skip',
  ): Promise<readonly (StoredResults | 'locked' | null)[]> {
    const { database, clock, notifier } = this.deps;
    // A batch has endpoints of several tenants. Results that wait for a lock are stored alone.
    const owner = ifLocked === 'wait' ? (results[0]?.claim ?? null) : null;
    const { stored, notices } = await transactFor(owner, database, (transaction) =>
      storeResults(transaction, results, clock(), this.random, ifLocked),
    );
    for (const notice of notices) notifier.notify(notice);
    return stored;
  }
}

/** Returns false if the database is unavailable, which no single endpoint has caused. */
function mayRetryAlone(failure: unknown): boolean {
  return !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
}

export type DeliveryOutcome =
  | {
      readonly open: OpenDelivery;
      readonly result: AttemptResult;
      readonly isProbe: boolean;
      readonly beganAt: Instant;
      readonly endedAt: Instant;
    }
  /** The delivery ended without an attempt: its type is unsubscribed, or its event was removed. */
  | { readonly open: OpenDelivery; readonly result: null };

export interface RunResults {
  readonly claim: Claim;
  /** The last sequence of the log that the run has read and sent; null if it read none. */
  readonly through: bigint | null;
  readonly outcomes: readonly DeliveryOutcome[];
  /** Deliveries without rows, in flight or canceled. They get rows, so that any run can send them. */
  readonly unfinished: readonly WebhookDelivery[];
  /** `release_if_done` keeps the claim if the endpoint has more to send now. */
  readonly claimAction: 'keep' | 'release_if_done' | 'release';
}

export interface StoredResults extends EndpointState {
  readonly isReleased: boolean;
}

const CHANGED_COLUMNS = [
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
 * for each: null if another run has claimed the endpoint, "locked" if the endpoint is locked
 * elsewhere and was skipped.
 */
async function storeResults(
  transaction: Transaction,
  results: readonly RunResults[],
  now: Instant,
  random: () => number,
  ifLocked: 'wait' | 'skip',
): Promise<{
  readonly stored: readonly (StoredResults | 'locked' | null)[];
  readonly notices: readonly OutboxRow[];
}> {
  const ids = results.map(({ claim }) => claim.id);
  const states = await lockEndpointStates(transaction, ids, ifLocked);
  const stored = results.map((one): EndpointResult | 'locked' | null => {
    const found = states.get(one.claim.id);
    if (found === undefined) return ifLocked === 'wait' ? null : 'locked';
    return found.endpoint.fence === one.claim.fence ? resultOf(one, found, now, random) : null;
  });
  const written = stored.filter((one) => one !== null && one !== 'locked');
  transaction.withCommit(statementsOf(written));
  return { stored, notices: written.flatMap(({ notices }) => notices) };
}

type EndpointResult = ReturnType<typeof resultOf>;

function resultOf(results: RunResults, state: EndpointState, now: Instant, random: () => number) {
  const before = state.endpoint;
  const { through, outcomes, unfinished, claimAction } = results;
  const rows = outcomes.map((outcome) => ({
    hasRow: outcome.open.hasRow,
    row: deliveryAfter(state, outcome, now, random),
  }));
  const inserted = [...rows.filter(({ hasRow }) => !hasRow).map(({ row }) => row), ...unfinished];
  const updated = rows.filter(({ hasRow }) => hasRow).map(({ row }) => row);
  const endpoint = {
    ...before,
    ...healthAfterAll(before, outcomes),
    ...lostAfter(state, results),
    cursorSequence:
      through !== null && through > before.cursorSequence ? through : before.cursorSequence,
  };
  const next = { ...state, endpoint };
  // Too early if it was the time of a delivery stored here: then the endpoint is only read once more.
  const nextAttemptAt = soonest([
    state.nextAttemptAt,
    ...[...inserted, ...updated].map((row) => row.nextAttemptAt),
  ]);
  const due = nextDue(hasEventsToRead(next) ? now : nextAttemptAt, endpoint);
  const isNewStatus = endpoint.status !== before.status;
  const isDone = !mayReceive(endpoint) || due === null || due > now;
  const isReleased = claimAction === 'release' || (claimAction === 'release_if_done' && isDone);
  const { times, mustNotify } = dueTimesAfterRun(endpoint, due, now);
  const set = isReleased ? { leaseUntil: null, ...times } : { leaseUntil: instant(now + CLAIM_MS) };
  return {
    results,
    inserted,
    updated,
    ...next,
    endpoint: { ...endpoint, ...set },
    nextAttemptAt,
    isReleased,
    notices: (isReleased && mustNotify) || isNewStatus ? [workflowNotice(endpoint, now)] : [],
  };
}

function statementsOf(written: readonly EndpointResult[]): string[] {
  const attempts = written.flatMap(({ results: { claim, outcomes } }) =>
    outcomes.flatMap((outcome) =>
      outcome.result === null
        ? []
        : [attemptRow(claim.id, outcome.open.delivery.id, outcome.beganAt, outcome.result)],
    ),
  );
  const endpoints = written.map(({ endpoint }) => endpoint);
  const newDeliveries = written.flatMap(({ inserted }) => inserted);
  const notices = written.flatMap((one) => one.notices);
  return [
    ...sqlFor(attempts, (rows) => insertSql(webhookAttempts, rows)),
    ...sqlFor(newDeliveries, (rows) => insertSql(webhookDeliveries, rows)),
    ...sqlFor(
      written.flatMap(({ updated }) => updated),
      (rows) =>
        upsertSql(webhookDeliveries, rows, ['state', 'steps', 'nextAttemptAt', 'finishedAt']),
    ),
    ...sqlFor(endpoints, (rows) => upsertSql(webhookEndpoints, rows, CHANGED_COLUMNS)),
    ...sqlFor(notices, (rows) => insertSql(outbox, rows)),
  ];
}

export function healthAfterAll(health: Health, outcomes: readonly DeliveryOutcome[]): Health {
  return outcomes.reduce(
    (current, outcome) =>
      outcome.result === null
        ? current
        : healthAfter(current, outcome.result, outcome.isProbe, outcome.endedAt),
    health,
  );
}

function deliveryAfter(
  { types }: EndpointState,
  outcome: DeliveryOutcome,
  now: Instant,
  random: () => number,
): WebhookDelivery {
  const { delivery } = outcome.open;
  if (outcome.result === null)
    return { ...delivery, state: 'ended', nextAttemptAt: null, finishedAt: now };
  const isSubscribed = isSubscribedType(types, delivery.eventType);
  return {
    ...delivery,
    ...progressAfter(delivery, outcome.result, isSubscribed, outcome.endedAt, random()),
  };
}

/**
 * Extends the range of lost events by those that retention removed before they were sent: events
 * that the cursor passed unread, and events of waiting deliveries.
 */
function lostAfter(
  { endpoint, types, removedThrough }: EndpointState,
  { through, outcomes, unfinished }: RunResults,
): Pick<WebhookEndpoint, 'lostFrom' | 'lostTo'> {
  let { lostFrom, lostTo } = endpoint;
  const addLost = (from: bigint, to: bigint): void => {
    if (lostFrom === null || from < lostFrom) lostFrom = from;
    if (lostTo === null || to > lostTo) lostTo = to;
  };
  const readFromLog = outcomes.filter(({ open }) => !open.hasRow).map(({ open }) => open.delivery);
  let lostThrough = removedThrough;
  // Not lost: events from the first one on that the run read before retention removed it.
  for (const { sequence } of [...readFromLog, ...unfinished])
    if (sequence !== null && sequence <= lostThrough) lostThrough = sequence - 1n;
  if (through !== null && lostThrough > endpoint.cursorSequence)
    addLost(endpoint.cursorSequence + 1n, lostThrough);
  for (const { open, result } of outcomes) {
    const { sequence, eventType, cause } = open.delivery;
    if (result !== null || sequence === null || sequence > removedThrough) continue;
    // A redelivery is an extra copy. The event's first delivery decides whether it is lost.
    if (cause !== 'redeliver' && isSubscribedType(types, eventType)) addLost(sequence, sequence);
  }
  return { lostFrom, lostTo };
}
