import { ApiError } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import { currentTraceparent } from '../core/trace.js';
import {
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  type WebhookEndpoint,
} from '../db/entities/webhooks.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { findManagedEndpoint, updateEndpoint } from './endpoints.js';
import type { WebhookDeps } from './deps.js';
import { newDelivery } from './event-reader.js';
import type { AttemptResult } from './attempt.js';
import { isSuccess } from './rules.js';
import { openSecrets } from './signing.js';
import { attemptRow, sendMessage } from './sender.js';

const TEST_TYPE = 'webhook.test';
const MAX_IN_FLIGHT = 8;

/** The body of a test, which is also the response to the request. */
type SentTest = ReturnType<typeof newTest>;

function newTest(now: Instant) {
  return { type: TEST_TYPE, id: newId(), created_at: toRfc3339(now) } as const;
}

/** Sends tests at once, even to a disabled endpoint, without retries. */
export class TestDeliveries {
  private readonly stopping = new AbortController();
  private readonly inFlight = new Map<Promise<void>, Uuid>();

  constructor(
    private readonly deps: WebhookDeps,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  /** Throws not_found, authority_insufficient, rate_limited; UnknownKey. */
  async send(caller: Caller, endpointId: Uuid): Promise<SentTest> {
    const reader = this.deps.database.readerFor(caller);
    const endpoint = await findManagedEndpoint(reader, caller, endpointId);
    const own = [...this.inFlight.values()].filter((tenantId) => tenantId === endpoint.tenantId);
    if (own.length >= MAX_IN_FLIGHT) throw tooMany();
    const now = this.deps.clock();
    const test = newTest(now);
    // Throws UnknownKey before the response, which promises that the test is sent.
    openSecrets(this.deps.encryptionKeys, endpoint, now);
    const delivery = this.deliver(endpoint, test, now)
      .catch(this.onFault)
      .finally(() => this.inFlight.delete(delivery));
    this.inFlight.set(delivery, endpoint.tenantId);
    return test;
  }

  async settled(): Promise<void> {
    await Promise.all(this.inFlight.keys());
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.settled();
  }

  private async deliver(endpoint: WebhookEndpoint, test: SentTest, at: Instant): Promise<void> {
    const { signal } = this.stopping;
    const body = Buffer.from(JSON.stringify(test), 'utf8');
    const message = { id: test.id, body, traceparent: currentTraceparent() };
    const result = await sendMessage(this.deps, endpoint, message, this.deps.clock(), signal);
    if (!signal.aborted) await this.record(endpoint, test.id, at, result);
  }

  private async record(
    endpoint: WebhookEndpoint,
    eventId: Uuid,
    createdAt: Instant,
    result: AttemptResult,
  ): Promise<void> {
    const { database, clock } = this.deps;
    const now = clock();
    const success = isSuccess(result);
    const event = { id: eventId, type: TEST_TYPE, sequence: null };
    const delivery: WebhookDelivery = {
      ...newDelivery(endpoint.id, event, 'test', 1, createdAt),
      state: success ? 'delivered' : 'failed',
      steps: 1,
      nextAttemptAt: null,
      finishedAt: now,
    };
    await transact(database, async (transaction) => {
      if (success) await updateEndpoint(transaction, endpoint.id, { lastSuccessAt: now });
      await transaction.all([
        insertSql(webhookDeliveries, [delivery]),
        insertSql(webhookAttempts, [attemptRow(endpoint.id, delivery.id, createdAt, result)]),
      ]);
    });
  }
}

function tooMany(): ApiError {
  const message = `${MAX_IN_FLIGHT} tests of the tenant are in progress: wait until one has ended`;
  return new ApiError({ code: 'rate_limited', message }, { 'Retry-After': '10' });
}
