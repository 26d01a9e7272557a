import { counted } from '../../core/collections.js';
import { newId, type Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { tenants } from '../../db/entities/parties.js';
import {
  DELIVERY_STATES,
  type WebhookAttempt,
  webhookAttempts,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import type { Reader } from '../../db/database.js';
import { literal } from '../../db/statements.js';
import { idBeginsSql } from '../../support/reading/search.js';
import {
  readDescribedEndpoint,
  disableByStaff,
  enableByStaff,
  type EndpointAction,
  pauseEndpoint,
  recoverByStaff,
  redeliverByStaff,
  resumeEndpoint,
  retryNow,
} from '../../webhooks/staff-actions.js';
import { RECOVERABLE_MS } from '../../webhooks/rules.js';
import { webhookWorkflowId } from '../../temporal/contracts.js';
import { asDue, mayReceive } from '../../webhooks/endpoint-state.js';
import { readDeliveries } from '../../webhooks/endpoints.js';
import { command, type CommandDefinition, type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { endpointWord } from '../../webhooks/endpoint-text.js';
import { PROGRAM } from '../help.js';
import { deliveryFields, deliveryText } from '../history.js';
import { named } from '../lookups.js';
import { optionalTenant, option, reason, severalStatuses, text, wholeNumber } from '../inputs.js';
import { time } from '../times.js';
import { Described, type Fields, rowFields } from '../fields.js';
import { cursor, positionOf } from '../pages.js';

function endpointFields(endpoint: WebhookEndpoint): Fields {
  return {
    ...rowFields(webhookEndpoints, endpoint, 'id tenantId url'),
    status: endpointWord(endpoint),
    ...rowFields(webhookEndpoints, endpoint, 'disabledReason pausedBy'),
    ...rowFields(webhookEndpoints, endpoint, 'failingSince lastSuccessAt'),
  };
}

/** Deliveries among which the last error of an endpoint is searched. */
const RECENT = 10;

/** Returns how the last attempt ended; null unless the endpoint fails. */
export async function readLastError(
  reader: Reader,
  { id, failingSince }: WebhookEndpoint,
): Promise<string | null> {
  if (failingSince === null) return null;
  const { items } = await readDeliveries(reader, id, null, RECENT);
  const attempts = items.flatMap((delivery) => delivery.attempts);
  const last = attempts.toSorted((one, other) => one.at - other.at).at(-1);
  if (last === undefined) return null;
  return last.status === null ? last.failure : `answer ${last.status}`;
}

async function show({ database, clock, output }: Ops, endpointId: Uuid) {
  const endpoint = await readDescribedEndpoint(database.reader, endpointId, clock());
  const { lostFrom, lostTo } = endpoint;
  const { items } = await readDeliveries(database.reader, endpointId, null, 1);
  const [last] = asDue(endpoint, items);
  const tenant = await database.reader.find(tenants, { id: endpoint.tenantId });
  output.one({
    tenant: tenant?.name ?? null,
    ...endpointFields(endpoint),
    waits_for: endpoint.text.replace(/^waiting /, ''),
    events: endpoint.types,
    last_delivery:
      last === undefined ? null : Described.one(deliveryText(last), deliveryFields(last)),
    next_attempt_at: Described.due(endpoint.nextAttemptAt, clock()),
    ...rowFields(webhookEndpoints, endpoint, 'failuresInRow'),
    claimed_until: toRfc3339(endpoint.leaseUntil),
    workflow: webhookWorkflowId(endpoint.id),
    workflow_waits_until: toRfc3339(endpoint.waitsUntil),
    workflow_checked_at: toRfc3339(endpoint.workflowCheckedAt),
    ...rowFields(webhookEndpoints, endpoint, 'disabledAt pausedAt cursorSequence:cursor'),
    lost_events: lostFrom === null || lostTo === null ? null : `${lostFrom} to ${lostTo}`,
    created_at: toRfc3339(endpoint.createdAt),
  });
  return endpoint;
}

/** States that actions leave an endpoint in, as words. */
const DONE = {
  pause: 'is paused',
  resume: 'is resumed',
  retry_now: 'is tried again now',
  enable: 'is enabled',
  disable: 'is disabled',
};

function endpointCommand(
  verb: keyof typeof DONE,
  summary: string,
  operation: EndpointAction,
): CommandDefinition {
  return command({
    summary,
    examples: [
      `webhooks ${verb.replace('_', '-')} 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --reason 'ticket 118'`,
    ],
    input: { endpoint: named.endpoint, reason: reason() },
    needs: `webhook.${verb}`,
    run: async (ops, { endpoint, reason }) => {
      const { id, url, status, pausedAt: pausedBefore } = endpoint;
      if (verb === 'pause' && pausedBefore === null)
        await ops.output.confirm(
          `Pause the webhook endpoint ${url}`,
          'nothing is sent to it until it is resumed',
        );
      if (verb === 'disable' && status === 'enabled')
        await ops.output.confirm(
          `Disable the webhook endpoint ${url}`,
          'nothing is sent to it until its tenant or an operator enables it',
        );
      const isChanged = await operation(ops, id, await ops.by(), { reason });
      if (isChanged) ops.output.happened(`The webhook endpoint ${url} ${DONE[verb]}.`);
      const { pausedAt } = await show(ops, id);
      if (!isChanged) ops.output.say('Nothing was changed: it was in this state before.');
      if (verb === 'enable' && pausedAt !== null)
        ops.output.say(`It is paused, so nothing is sent: ${PROGRAM} webhooks resume ${id}`);
    },
  });
}

function attemptText({ at, status, failure, message, durationMs, response }: WebhookAttempt) {
  const result = status === null ? failure : `answer ${status}`;
  const parts = [`${toRfc3339(at)}: ${result ?? 'no result yet'}`, message, `${durationMs} ms`];
  return [...parts, response].filter((part) => part !== null && part !== '').join(', ');
}

/** The most time from resolving `--since 30d` to comparing it. */
const COMPARED_WITHIN_MS = 60_000;

export const webhookCommands = {
  list: query({
    summary: "a tenant's endpoints, or those of all tenants that are disabled, paused or failing",
    examples: ['webhooks list', 'webhooks list --tenant acme --json'],
    input: { tenant: optionalTenant('all of') },
    run: async ({ database: { reader }, output }, { tenant }, tenantName) => {
      const found = await reader.select(
        webhookEndpoints,
        { status: ['enabled', 'disabled'], ...(tenant && { tenantId: tenant.id }) },
        { orderBy: ['createdAt', 'id'] },
      );
      const detailsOnly = ['tenant_id', 'last_success_at'];
      const lineOf = async (endpoint: WebhookEndpoint) => ({
        ...endpointFields(endpoint),
        last_error: await readLastError(reader, endpoint),
      });
      if (tenant !== undefined)
        return output.list(await Promise.all(found.map(lineOf)), `${tenantName} has no endpoint.`, {
          detailsOnly,
        });
      const names = new Map((await reader.select(tenants, {})).map(({ id, name }) => [id, name]));
      const troubled = found.filter(
        (one) => one.status === 'disabled' || one.pausedAt !== null || one.failingSince !== null,
      );
      const lines = await Promise.all(
        troubled.map(async (one) => ({
          tenant: names.get(one.tenantId) ?? null,
          ...(await lineOf(one)),
        })),
      );
      output.list(lines, 'No endpoint is disabled, paused or failing.', { detailsOnly });
    },
  }),
  'show <endpoint>': query({
    summary: 'one endpoint, by its id or URL, and what it waits for',
    examples: ['webhooks show https://example.com/hook'],
    input: { endpoint: named.endpoint },
    run: async (ops, { endpoint }) => void (await show(ops, endpoint.id)),
  }),
  'deliveries <endpoint>': query({
    summary: 'its deliveries, newest first, each with its last attempt',
    examples: ['webhooks deliveries 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --status retrying'],
    input: {
      endpoint: named.endpoint,
      status: severalStatuses(DELIVERY_STATES),
      cursor,
      limit: option(
        '<count> at most this many, up to 100 (default: 25)',
        wholeNumber(1, 100).prefault('25'),
      ),
    },
    run: async ({ database: { reader }, clock, output }, input) => {
      const { endpoint, status, cursor, limit: most } = input;
      const { id: endpointId } = endpoint;
      const before = await positionOf(reader, webhookDeliveries, { endpointId }, cursor);
      const page = [endpointId, before, most + 1, Infinity, status] as const;
      const { items } = await readDeliveries(reader, ...page);
      const detailsOnly = ['event_id', 'cause'];
      const none = status === undefined ? 'Nothing was delivered to it.' : 'No results.';
      output.newest(asDue(endpoint, items).map(deliveryFields), most, none, { detailsOnly });
      if (!mayReceive(endpoint)) {
        const { text } = await readDescribedEndpoint(reader, endpointId, clock());
        output.more(`The endpoint is ${text}.`);
      }
    },
  }),
  'delivery <endpoint> <delivery>': query({
    summary: 'one delivery with all its attempts, by its id, which webhooks deliveries shows',
    examples: [
      'webhooks delivery 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f 0197f2c5-31aa-7b02-8d11-6a0e9c2f7b34',
    ],
    input: { endpoint: named.endpoint, delivery: text },
    run: async ({ database: { reader }, output }, { endpoint, delivery: given }) => {
      const endpointId = literal(webhookDeliveries, 'endpointId', endpoint.id);
      const begins = idBeginsSql(given) ?? 'FALSE';
      const own = `WHERE endpoint_id=${endpointId} AND ${begins} LIMIT 2`;
      const found = await reader.list(webhookDeliveries, own);
      const [delivery] = asDue(endpoint, found);
      if (delivery === undefined || found.length > 1)
        throw new OpsError(
          `${given} is the id of ${delivery ? 'several deliveries' : 'no delivery'} to it: ${PROGRAM} webhooks deliveries ${endpoint.id}`,
        );
      const of = { endpointId: endpoint.id, deliveryId: delivery.id };
      const attempts = await reader.select(webhookAttempts, of, { orderBy: ['id'] });
      output.one({
        ...deliveryFields({ ...delivery, attempts }),
        attempts: Described.each(attempts, attemptText, (attempt) =>
          rowFields(webhookAttempts, attempt, 'at status failure message durationMs response'),
        ),
      });
    },
  }),
  'recover <endpoint>': command({
    summary: 'resend every event since a moment that got no 2xx',
    examples: ['webhooks recover 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --since 2h'],
    input: { endpoint: named.endpoint, since: option('<time> at most 30 days ago', time) },
    needs: 'webhook.recover',
    run: async (ops, { endpoint: { id }, since }) => {
      const age = ops.clock() - since;
      if (age < 0 || age > RECOVERABLE_MS + COMPARED_WITHIN_MS)
        throw new UsageError(`--since ${toRfc3339(since)} is not within the last 30 days`);
      const range = await recoverByStaff(ops, id, since, await ops.by());
      await show(ops, id);
      if (range === null) ops.output.say('Nothing has happened since then.');
    },
  }),
  'redeliver <event>': command({
    summary:
      'resend one event to each enabled endpoint that is subscribed to its type, or to one of them',
    examples: ["webhooks redeliver 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f --reason 'ticket 118'"],
    input: {
      event: named.event,
      endpoint: option('<endpoint> only to this one: id or URL', named.endpoint.optional()),
      reason: reason(),
    },
    needs: 'webhook.redeliver',
    run: async (ops, { event: { id, type, sequence }, endpoint, reason }) => {
      const to = endpoint?.id;
      const details = { reason, ...(to && { endpoint: to }) };
      const endpoints = await redeliverByStaff(ops, id, await ops.by(), details, newId(), to);
      const count = counted(endpoints ?? 0, 'webhook endpoint');
      ops.output.happened(`The event ${type} (${id}) is sent again to ${count}.`);
      ops.output.one({ event: id, type, sequence: sequence.toString(), queued: true, endpoints });
    },
  }),
  'pause <endpoint>': endpointCommand(
    'pause',
    'send nothing to it until it is resumed; its deliveries wait in order',
    pauseEndpoint,
  ),
  'resume <endpoint>': endpointCommand(
    'resume',
    'continue sending where it stopped',
    resumeEndpoint,
  ),
  'retry-now <endpoint>': endpointCommand(
    'retry_now',
    'retry everything that waits for a retry',
    retryNow,
  ),
  'enable <endpoint>': endpointCommand(
    'enable',
    'enable it; sends everything not delivered since 5 days before it was disabled',
    enableByStaff,
  ),
  'disable <endpoint>': endpointCommand(
    'disable',
    'disable it until its tenant or an operator enables it',
    disableByStaff,
  ),
};
