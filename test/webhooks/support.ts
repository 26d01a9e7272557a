import assert from 'node:assert/strict';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import type { Instant } from '../../src/core/instant.js';
import { systemClock } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import type { EventType } from '../../src/db/entities/events.js';
import { outbox } from '../../src/db/entities/outbox.js';
import type { Account } from '../../src/db/entities/parties.js';
import {
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../src/db/entities/webhooks.js';
import { appendEvents } from '../../src/ledger/event-log.js';
import { transact } from '../../src/db/reader.js';
import { DeliveryStore, type StoredResults } from '../../src/webhooks/delivery-store.js';
import { mayReceive } from '../../src/webhooks/endpoint-state.js';
import { claimEndpoints } from '../../src/webhooks/endpoint-claims.js';
import {
  findEndpointsWithNewEvents,
  findDueEndpoints,
} from '../../src/webhooks/endpoint-search.js';
import { EndpointRun } from '../../src/webhooks/endpoint-run.js';
import { UNOBSERVED } from '../../src/webhooks/deps.js';
import type { WebhookDeps } from '../../src/webhooks/deps.js';
import { sweepEndpoints } from '../../src/webhooks/sweeps.js';
import { startTestApi, TEST_KEYRING, type TestApi } from '../helpers/api.js';
import { answered, type Bank, idLiteral, type Json, openBank, text } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { FakeReceiver, sign } from '../helpers/receiver.js';
import { NOBODY } from '../helpers/world.js';

const CHUNK = 400;

/** The parts of a test's runs: the API's own database, and the receiver. */
export function partsOf(
  api: TestApi,
  receiver: FakeReceiver,
  changes: Partial<WebhookDeps> = {},
): WebhookDeps {
  const { database, clock } = api.core;
  const { sender } = receiver;
  const own = {
    database,
    clock,
    encryptionKeys: TEST_KEYRING,
    sender,
    notifier: NOBODY,
    observer: UNOBSERVED,
    ...changes,
  };
  return { ...own, store: new DeliveryStore(own, () => 0.5) };
}

/** A tenant with an endpoint of its own, which is told of verifications unless something else is said. */
export interface TestEndpoint {
  readonly bank: Bank;
  readonly account: Account;
  readonly id: Uuid;
  readonly url: string;
  readonly secret: string;
}

let made = 0;

export function newUrl(): string {
  made += 1;
  return `https://receiver-${process.pid}-${made}.example/hook`;
}

export async function register(
  bank: Bank,
  events: readonly string[],
  url = newUrl(),
): Promise<Json> {
  return answered(
    await bank.request('POST', '/v1/webhook_endpoints', { body: { url, events } }),
    201,
  ).json;
}

export async function newEndpoint(
  api: TestApi,
  events: readonly string[] = ['account.verified'],
  bank?: Bank,
): Promise<TestEndpoint> {
  const own = bank ?? (await openBank(api));
  const account = await own.account();
  const endpoint = await register(own, events);
  return {
    bank: own,
    account,
    id: asUuid(text(endpoint.id)),
    url: text(endpoint.url),
    secret: text(endpoint.secret),
  };
}

/** Events of a type about an account, as its transaction would write them, without the change itself. */
export async function emit(
  api: TestApi,
  { account }: Pick<TestEndpoint, 'account'>,
  count: number,
  type: EventType = 'account.verified',
): Promise<void> {
  const { database, clock } = api.core;
  for (let from = 0; from < count; from += CHUNK)
    await database.withTransaction((transaction) =>
      appendEvents(
        transaction,
        Array.from({ length: Math.min(CHUNK, count - from) }, () => ({
          tenantId: account.tenantId,
          type,
          resourceId: account.id,
          object: () => ({ account_id: account.id, note: 'ünï → 💸  "quoted"' }),
        })),
        clock(),
      ),
    );
}

/**
 * Runs the dispatcher's work for one endpoint until nothing more is to be sent now. `attempts`: how many were stored.
 * Ends as "held" if nothing may be sent, and as "taken_over" if another run has the endpoint.
 */
export async function dispatched(
  deps: WebhookDeps,
  id: Uuid,
  signal = new AbortController().signal,
): Promise<{ ended: 'idle' | 'held' | 'stopped' | 'taken_over'; attempts: number }> {
  const before = await attemptsOf(deps, id);
  for (;;) {
    const stored = await claimAndRun(deps, id, signal);
    const attempts = (await attemptsOf(deps, id)) - before;
    const endpoint = await deps.database.reader.find(webhookEndpoints, { id });
    assert(endpoint !== undefined);
    if (!mayReceive(endpoint)) return { ended: 'held', attempts };
    if (stored === null) return { ended: 'taken_over', attempts };
    if (signal.aborted) return { ended: 'stopped', attempts };
    const { nextDueAt } = stored.endpoint;
    if (nextDueAt === null || nextDueAt > deps.clock()) return { ended: 'idle', attempts };
  }
}

/** One run of the dispatcher at one endpoint. Null if another run has it. */
export async function claimAndRun(
  deps: WebhookDeps,
  id: Uuid,
  signal = new AbortController().signal,
): Promise<StoredResults | null> {
  const { states } = await transact(deps.database, (transaction) =>
    claimEndpoints(transaction, [id], deps.clock()),
  );
  const [claimed] = states;
  return claimed === undefined ? null : new EndpointRun(deps, claimed, signal).run();
}

async function attemptsOf({ database }: WebhookDeps, endpointId: Uuid): Promise<number> {
  return (await database.reader.select(webhookAttempts, { endpointId })).length;
}

export async function endpointOf({ core }: TestApi, id: Uuid): Promise<WebhookEndpoint> {
  const found = await core.database.reader.find(webhookEndpoints, { id });
  assert(found !== undefined);
  return found;
}

/** Whether a sender would take it now. */
export async function isDue(
  { core }: TestApi,
  { id, account }: Pick<TestEndpoint, 'id' | 'account'>,
  now: Instant,
): Promise<boolean> {
  const { reader } = core.database;
  const [due, behind] = await Promise.all([
    findDueEndpoints(reader, now),
    findEndpointsWithNewEvents(reader, [account.tenantId], now),
  ]);
  const takes = [
    ...due,
    ...behind.filter(({ isClaimed, waitsForProbe }) => !isClaimed && !waitsForProbe),
  ];
  return takes.some((one) => one.id === id);
}

/** Expires the claim, as after the death of its run. */
export async function expireLease(db: TestDatabase, id: Uuid): Promise<void> {
  await db.change(
    `UPDATE webhook_endpoints SET lease_until='2020-01-01' WHERE id=${idLiteral(id)}`,
  );
}

/** Sweeps all endpoints. */
export async function makeAllMissedDue({ core }: TestApi, now: Instant): Promise<void> {
  for (let after: Uuid | null = null; ;)
    if ((after = await sweepEndpoints(core.database, now, after)) === null) return;
}

/** The outbox entries that wait for its workflow. */
export async function noticesOf({ core }: TestApi, id: Uuid): Promise<number> {
  return (await core.database.reader.select(outbox, { resourceId: id })).length;
}

/** All deliveries of the endpoint, the oldest first. */
export function deliveriesOf({ core }: TestApi, endpointId: Uuid): Promise<WebhookDelivery[]> {
  return core.database.reader.select(webhookDeliveries, { endpointId }, { orderBy: ['id'] });
}

/** How many are in each state. */
export async function statesOf(api: TestApi, endpointId: Uuid): Promise<Record<string, number>> {
  const counted: Record<string, number> = {};
  for (const { state } of await deliveriesOf(api, endpointId))
    counted[state] = (counted[state] ?? 0) + 1;
  return counted;
}

/** The ids of the tenant's events, the oldest first. */
export async function eventIds(api: TestApi, tenantId: Uuid): Promise<string[]> {
  const rows = await api.core.database.reader.query(
    `SELECT id FROM events WHERE tenant_id=${idLiteral(tenantId)} ORDER BY sequence`,
  );
  return rows.map(({ id }) => uuid.parse(id));
}

export function isSigned(
  { secret }: Pick<TestEndpoint, 'secret'>,
  headers: Readonly<Record<string, string>>,
  body: string,
): boolean {
  return headers['Svc-Signature'] === sign(secret, body);
}

/** A clock that tests move. It begins at the present, so that it is never behind what was written. */
export class TestClock {
  private offsetMs = 0;
  readonly now = (): Instant => (systemClock() + this.offsetMs) as Instant;

  pass(ms: number): void {
    this.offsetMs += ms;
  }
}

/** A database, a receiver that replies 200 when a test begins, and an API by a clock that tests move. */
export async function webhookTests(name: string) {
  const clock = new TestClock();
  const db = await ownDatabase(name);
  const receiver = new FakeReceiver();
  const api = await startTestApi(db, {}, { receiver, clock: clock.now });
  beforeEach(() => {
    receiver.reply = () => 200;
  });
  return {
    ...{ clock, db, receiver, api },
    run: (id: Uuid) => dispatched(partsOf(api, receiver), id),
    isDue: (own: TestEndpoint) => isDue(api, own, clock.now()),
    path: ({ id }: TestEndpoint) => `/v1/webhook_endpoints/${id}`,
  };
}
