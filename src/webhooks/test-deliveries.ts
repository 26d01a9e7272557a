import { ApiError, type Refusal } from '../core/errors.js';
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
import { transact } from '../db/transact.js';
import { findManaged, updateEndpoint } from './endpoints.js';
import type { WebhookDeps } from './deps.js';
import { newDelivery } from './event-reader.js';
import { isSuccess } from './rules.js';
import { openSecrets } from './secrets.js';
import { attemptRow, sendMessage } from './sender.js';

const TEST_TYPE = 'webhook.test';
const MAX_IN_FLIGHT = 8;
const TOO_MANY: Refusal = {
  code: 'rate_limited',
  message: `${MAX_IN_FLIGHT} tests of the tenant are on their way: wait for one to end`,
};

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
    const endpoint = await findManaged(this.deps.database.reader, caller, endpointId);
    const own = [...this.inFlight.values()].filter((tenantId) => tenantId === endpoint.tenantId);
    if (own.length >= MAX_IN_FLIGHT) throw new ApiError(TOO_MANY, { 'Retry-After': '10' });
    const now = this.deps.clock();
    const test = newTest(now);
    // Throws now, because a test that cannot be signed is not promised.
    openSecrets(this.deps.encryptionKeys, endpoint, now);
    const sending = this.deliver(endpoint, test, now)
      .catch(this.onFault)
      .finally(() => this.inFlight.delete(sending));
    this.inFlight.set(sending, endpoint.tenantId);
    return test;
  }

  async settled(): Promise<void> {
    await Promise.all(this.inFlight.keys());
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.settled();
  }

  private async deliver(
    endpoint: WebhookEndpoint,
    { id, ...test }: SentTest,
    at: Instant,
  ): Promise<void> {
    const { database, clock } = this.deps;
    const { signal } = this.stopping;
    const body = Buffer.from(JSON.stringify({ id, ...test }), 'utf8');
    const message = { id, body, traceparent: currentTraceparent() };
    const result = await sendMessage(this.deps, endpoint, message, clock(), signal);
    if (signal.aborted) return;
    const now = clock();
    const isDelivered = isSuccess(result);
    const event = { id, type: TEST_TYPE, sequence: null };
    const delivery: WebhookDelivery = {
      ...newDelivery(endpoint.id, event, 'test', 1, at),
      state: isDelivered ? 'delivered' : 'failed',
      steps: 1,
      nextAttemptAt: null,
      finishedAt: now,
    };
    await transact(database, async (transaction) => {
      if (isDelivered) await updateEndpoint(transaction, endpoint.id, { lastSuccessAt: now });
      await transaction.all([
        insertSql(webhookDeliveries, [delivery]),
        insertSql(webhookAttempts, [attemptRow(endpoint.id, delivery.id, at, result)]),
      ]);
    });
  }
}
