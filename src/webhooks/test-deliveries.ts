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
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { findManaged } from './access.js';
import type { WebhookDeps } from './deps.js';
import type { AttemptResult } from './exchange.js';
import { isSuccess } from './rules.js';
import { openSecrets } from './secrets.js';
import { attemptRow, sendMessage } from './sender.js';

/** The `type` in a test's body; no event has it. */
const TEST_TYPE = 'webhook.test';
/**
 * Tests of one tenant in flight: each can take as long as its receiver likes, within an attempt's
 * limit.
 */
const MAX_IN_FLIGHT = 8;

interface SentTest {
  readonly id: Uuid;
  readonly type: typeof TEST_TYPE;
  readonly createdAt: Instant;
}

/**
 * Sends a test at once, even to a disabled endpoint, once and without retries. A stop leaves
 * nothing behind.
 */
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
    if (own.length >= MAX_IN_FLIGHT) throw tooMany();
    const test = { id: newId(), type: TEST_TYPE, createdAt: this.deps.clock() } as const;
    // Called only for its failure: a test that cannot be signed here is not promised.
    openSecrets(this.deps.encryptionKeys, endpoint, test.createdAt);
    const sending = this.deliver(endpoint, test)
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

  private async deliver(endpoint: WebhookEndpoint, test: SentTest): Promise<void> {
    const { sending, encryptionKeys, clock } = this.deps;
    const body = Buffer.from(JSON.stringify(presentTest(test)), 'utf8');
    const message = { id: test.id, body, traceparent: currentTraceparent() };
    const result = await sendMessage(
      sending,
      encryptionKeys,
      endpoint,
      message,
      clock(),
      this.stopping.signal,
    );
    if (!this.stopping.signal.aborted) await this.record(endpoint, test, result);
  }

  private async record(
    endpoint: WebhookEndpoint,
    test: SentTest,
    result: AttemptResult,
  ): Promise<void> {
    const { database, clock } = this.deps;
    const now = clock();
    const success = isSuccess(result);
    const delivery: WebhookDelivery = {
      endpointId: endpoint.id,
      id: newId(),
      eventId: test.id,
      eventType: TEST_TYPE,
      sequence: null,
      cause: 'test',
      round: 1,
      state: success ? 'delivered' : 'failed',
      steps: 1,
      nextAttemptAt: null,
      createdAt: test.createdAt,
      finishedAt: now,
    };
    await transact(database, async (transaction) => {
      if (success)
        await transaction.execute(
          updateSql(webhookEndpoints, { lastSuccessAt: now }, { id: endpoint.id }),
        );
      await transaction.all([
        insertSql(webhookDeliveries, [delivery]),
        insertSql(webhookAttempts, [attemptRow(endpoint.id, delivery.id, test.createdAt, result)]),
      ]);
    });
  }
}

/** The body of a test, which is also the answer to the request. */
export function presentTest({ type, id, createdAt }: SentTest): Readonly<Record<string, unknown>> {
  return { type, id, created_at: toRfc3339(createdAt) };
}

function tooMany(): ApiError {
  const message = `${MAX_IN_FLIGHT} tests of the tenant are on their way: wait for one to end`;
  return new ApiError({ code: 'rate_limited', message }, { 'Retry-After': '10' });
}
