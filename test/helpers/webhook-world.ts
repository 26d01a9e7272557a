import assert from 'node:assert/strict';
import { defineSearchAttributeKey } from '@temporalio/common';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../src/db/entities/webhooks.js';
import type { EndpointActionSignal } from '../../src/temporal/contracts.js';
import type { TestApi } from './api.js';
import { answered, type Bank, type Json, LEAST, object, openBank, text, walk } from './bank.js';
import type { TestDatabase } from './database.js';
import type { HttpReceiver } from './http-receiver.js';
import { sign } from './receiver.js';
import { detailsOf, type TestTemporal, until, workflowOf, workflowStatus } from './temporal.js';

/** A tenant whose transfers are told to a receiver over HTTP. */
export interface WebhookBank {
  readonly bank: Bank;
  readonly from: Account;
  readonly to: Account;
  readonly id: Uuid;
  /** The path at the receiver; no other endpoint has it. */
  readonly path: string;
  readonly secret: string;
  /** A transfer, and so an event. Answers the transfer's id. */
  send(): Promise<string>;
  sendMany(count: number): Promise<string[]>;
}

let made = 0;

export async function openWebhookBank(api: TestApi, receiver: HttpReceiver): Promise<WebhookBank> {
  const bank = await openBank(api);
  const from = await bank.account({ funds: { COPM: 1_000_000n * LEAST } });
  const to = await bank.account({ isVerified: false });
  made += 1;
  const path = `/hook-${made}`;
  const body = { url: receiver.url(path), events: ['transfer.completed'] };
  const endpoint = answered(
    await bank.request('POST', '/v1/webhook_endpoints', { body }),
    201,
  ).json;
  const send = async (): Promise<string> =>
    text((await bank.sent({ from, to, raw: LEAST, description: 'ñandú → 💸 "quoted"' })).id);
  return {
    ...{ bank, from, to, path, send },
    id: asUuid(text(endpoint.id)),
    secret: text(endpoint.secret),
    sendMany: (count) => Promise.all(Array.from({ length: count }, send)),
  };
}

/** The ids of the transfers that have arrived, in the order of arrival; one that came twice is there twice. */
export function transfersAt(receiver: HttpReceiver, path: string): string[] {
  return receiver.at(path).map(({ body }) => text(object(object(parsed(body).data).object).id));
}

export function parsed(body: string): Json {
  return object(JSON.parse(body));
}

/** Resolves when every one of these transfers has arrived. */
export function untilArrived(
  receiver: HttpReceiver,
  path: string,
  transfers: readonly string[],
): Promise<unknown> {
  return until(`${transfers.length} transfers arrive at ${path}`, () => {
    const found = new Set(transfersAt(receiver, path));
    return transfers.every((id) => found.has(id));
  });
}

/** Everything that came is signed; what has one id has one body; and that is the log's, byte for byte. */
export async function assertGenuine(
  receiver: HttpReceiver,
  { bank, path, secret }: WebhookBank,
): Promise<void> {
  const bodies = new Map<string, string>();
  for (const { id, body, headers } of receiver.at(path)) {
    assert.equal(headers['svc-signature'], sign(secret, body));
    assert.equal(bodies.get(id) ?? body, body);
    bodies.set(id, body);
  }
  const log = new Map(
    (await walk(bank, '/v1/events?type=transfer.completed&limit=100')).map((one) => [one.id, one]),
  );
  for (const [id, body] of bodies) assert.deepEqual(parsed(body), log.get(id));
}

export async function hookAttributes(
  temporal: TestTemporal,
  endpointId: string,
): Promise<unknown[]> {
  const workflow = workflowOf(temporal, endpointId, 'webhook_endpoint');
  const { typedSearchAttributes } = await workflow.describe();
  return ['TenantId', 'ResourceId', 'AccountId', 'BusinessStatus'].map((name) =>
    typedSearchAttributes.get(defineSearchAttributeKey(name, 'KEYWORD')),
  );
}

/** Resolves when the UI says so. */
export function untilDetails(
  temporal: TestTemporal,
  endpointId: string,
  words: RegExp,
): Promise<true> {
  return until(
    `the details say ${words.source}`,
    async () =>
      (await workflowStatus(temporal, endpointId, 'webhook_endpoint')) !== undefined &&
      words.test(await detailsOf(temporal, endpointId, 'webhook_endpoint')),
  );
}

/** Resolves when its workflow waits for nothing. */
export function untilWell(temporal: TestTemporal, endpointId: string): Promise<true> {
  return untilDetails(temporal, endpointId, /^(.*\n\n)?nothing: new events are sent at once/);
}

/** Acts as the UI and the `temporal` command line do once they show the workflow. */
export async function signalEndpoint(
  temporal: TestTemporal,
  endpointId: string,
  action: EndpointActionSignal['action'],
  ...input: readonly unknown[]
): Promise<void> {
  await until(
    'the endpoint has a workflow',
    async () => (await workflowStatus(temporal, endpointId, 'webhook_endpoint')) !== undefined,
  );
  return workflowOf(temporal, endpointId, 'webhook_endpoint').signal<unknown[]>(action, ...input);
}

export async function readEndpoint({ database }: TestDatabase, id: Uuid): Promise<WebhookEndpoint> {
  const endpoint = await database.reader.find(webhookEndpoints, { id });
  assert(endpoint !== undefined, `there is no endpoint ${id}`);
  return endpoint;
}
