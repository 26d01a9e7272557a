import { toRfc3339 } from '../core/instant.js';
import { creationResponse, type Api, pathId } from '../http/route.js';
import { respondWithPage, type Cursors } from '../http/cursor.js';
import { exampleOf } from '../http/zod.js';
import type { WebhookDeps } from './deps.js';
import { changeEndpoint, deleteEndpoint, rotateSecret } from './endpoint-changes.js';
import { listDeliveries, listEndpoints, readEndpoint } from './endpoints.js';
import { recoverEndpoint, redeliverEvent } from './resend.js';
import { registerEndpoint } from './registration.js';
import {
  changeEndpointBody,
  DeliveryPageSchema,
  deliveryResource,
  EndpointPageSchema,
  endpointResource,
  EndpointSchema,
  EventSchema,
  PageQuery,
  RecoverBody,
  RecoverySchema,
  RegisteredEndpointSchema,
  registerEndpointBody,
  RotatedEndpointSchema,
  TestSchema,
} from './schemas.js';
import type { TestDeliveries } from './test-deliveries.js';

export interface Webhooks {
  readonly deps: WebhookDeps;
  readonly tests: TestDeliveries;
}

export function webhookRoutes(api: Api, { deps, tests }: Webhooks, cursors: Cursors): void {
  api.addEvent({
    type: 'webhook.test',
    schema: TestSchema,
    example: exampleOf(TestSchema),
    summary: 'A test was requested',
    description:
      'Sent only to the endpoint under test, whatever it is subscribed to. It is not an Event, and not in the log.',
    isDelivered: true,
  });
  registrationRoute(api, deps);
  readingRoutes(api, deps, cursors);
  changeRoutes(api, deps);
  testRoute(api, tests);
  resendRoutes(api, deps);
  deliveryRoutes(api, deps, cursors);
}

function registrationRoute(api: Api, deps: WebhookDeps): void {
  api.post('/v1/webhook_endpoints', {
    operationId: 'createWebhookEndpoint',
    permits: 'manageWebhooks',
    idempotent: 'tenant',
    body: registerEndpointBody(deps.sender.guard),
    responses: { 201: RegisteredEndpointSchema, 200: RegisteredEndpointSchema },
    examples: { 200: exampleOf(EndpointSchema) },
    refusals: ['too_many_endpoints'],
    summary: 'Register a webhook endpoint',
    description:
      'The endpoint receives every event of its types from now on. Only this response shows the signing secret: a replay omits it. If you lose the secret, rotate it. A replay after the endpoint was deleted shows it as it was registered. At most 16 per tenant.',
    handler: async ({ caller, body: { url, events: types }, idempotency, version: apiVersion }) => {
      const result = await registerEndpoint(deps, caller, { url, types, apiVersion }, idempotency);
      return creationResponse(result, ({ secretText, ...registered }) => ({
        ...endpointResource.present(registered),
        ...(secretText === null ? {} : { secret: secretText }),
      }));
    },
  });
}

function readingRoutes(api: Api, { database }: WebhookDeps, cursors: Cursors): void {
  api.get('/v1/webhook_endpoints', {
    operationId: 'listWebhookEndpoints',
    permits: 'manageWebhooks',
    query: PageQuery,
    responses: { 200: EndpointPageSchema },
    summary: 'List the webhook endpoints',
    description: 'Newest first.',
    handler: (request) =>
      respondWithPage(
        cursors,
        request,
        (before, limit) => {
          const reader = database.readerFor(request.caller);
          return listEndpoints(reader, request.caller, before, limit);
        },
        endpointResource.present,
      ),
  });

  api.get('/v1/webhook_endpoints/{id}', {
    operationId: 'getWebhookEndpoint',
    permits: 'manageWebhooks',
    responses: { 200: EndpointSchema },
    summary: 'Read a webhook endpoint',
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const endpoint = await readEndpoint(reader, caller, pathId(request, 'id'));
      return { status: 200, body: endpointResource.present(endpoint) };
    },
  });
}

function changeRoutes(api: Api, deps: WebhookDeps): void {
  api.patch('/v1/webhook_endpoints/{id}', {
    operationId: 'updateWebhookEndpoint',
    permits: 'manageWebhooks',
    body: changeEndpointBody(deps.sender.guard),
    responses: { 200: EndpointSchema },
    summary: 'Change a webhook endpoint',
    description:
      'A new `url` also receives the deliveries that are not finished. If a type is removed, its unfinished deliveries end. If a type is added, deliveries begin with its next event. An endpoint that is enabled again receives every event since 5 days before it was disabled that it has not answered with 2xx.',
    handler: async (request) => {
      const { events: types, ...changes } = request.body;
      const id = pathId(request, 'id');
      const changed = await changeEndpoint(deps, request.caller, id, { ...changes, types });
      return { status: 200, body: endpointResource.present(changed) };
    },
  });

  api.delete('/v1/webhook_endpoints/{id}', {
    operationId: 'deleteWebhookEndpoint',
    permits: 'manageWebhooks',
    responses: { 204: null },
    summary: 'Delete a webhook endpoint',
    description: 'Nothing more is sent to it. Deleting it again is not an error.',
    handler: async (request) => {
      await deleteEndpoint(deps, request.caller, pathId(request, 'id'));
      return { status: 204 };
    },
  });

  api.post('/v1/webhook_endpoints/{id}/rotate_secret', {
    operationId: 'rotateWebhookSecret',
    permits: 'manageWebhooks',
    responses: { 200: RotatedEndpointSchema },
    summary: 'Rotate the signing secret',
    description:
      'The new secret signs within 5 seconds, and is shown only here. For 24 hours `Svc-Signature-Previous` carries a signature made with the previous one.',
    handler: async (request) => {
      const { endpoint, secret } = await rotateSecret(deps, request.caller, pathId(request, 'id'));
      return { status: 200, body: { ...endpointResource.present(endpoint), secret } };
    },
  });
}

function testRoute(api: Api, tests: TestDeliveries): void {
  api.post('/v1/webhook_endpoints/{id}/test', {
    operationId: 'testWebhookEndpoint',
    permits: 'manageWebhooks',
    rateClass: 'redeliver',
    responses: { 202: TestSchema },
    refusals: ['rate_limited'],
    summary: 'Send a test',
    description:
      'A signed body of type `webhook.test`, sent at once and only once, even to a disabled endpoint. The outcome is among the deliveries; its `event_id` is the `id` returned here.',
    handler: async (request) => ({
      status: 202,
      body: await tests.send(request.caller, pathId(request, 'id')),
    }),
  });
}

function resendRoutes(api: Api, deps: WebhookDeps): void {
  api.post('/v1/webhook_endpoints/{id}/recover', {
    operationId: 'recoverWebhookEndpoint',
    permits: 'manageWebhooks',
    body: RecoverBody,
    responses: { 202: RecoverySchema },
    refusals: ['invalid_state'],
    summary: 'Recover missed events',
    description:
      'Sends again every event of the subscribed types since `since` that this endpoint has not answered with 2xx.',
    handler: async (request) => {
      const { since } = request.body;
      const range = await recoverEndpoint(deps, request.caller, pathId(request, 'id'), since);
      const sequences = {
        from_sequence: range === null ? null : Number(range.from),
        to_sequence: range === null ? null : Number(range.to),
      };
      return { status: 202, body: { since: toRfc3339(since), ...sequences } };
    },
  });

  api.post('/v1/events/{id}/redeliver', {
    operationId: 'redeliverEvent',
    permits: 'manageWebhooks',
    rateClass: 'redeliver',
    responses: { 200: EventSchema },
    summary: 'Deliver an event again',
    description:
      'Sends the event again to every enabled endpoint that subscribes to its type, with the same id and a fresh signature.',
    handler: async (request) => {
      const text = await redeliverEvent(deps, request.caller, pathId(request, 'id'));
      return { status: 200, body: JSON.parse(text) as unknown };
    },
  });
}

function deliveryRoutes(api: Api, { database }: WebhookDeps, cursors: Cursors): void {
  api.get('/v1/webhook_endpoints/{id}/deliveries', {
    operationId: 'listWebhookDeliveries',
    permits: 'manageWebhooks',
    query: PageQuery,
    responses: { 200: DeliveryPageSchema },
    summary: 'List the deliveries to a webhook endpoint',
    description:
      'Newest first, each with its attempts. A page has at most 200 attempts, so it may have fewer deliveries than `limit`. Kept for 30 days.',
    handler: (request) =>
      respondWithPage(
        cursors,
        request,
        (before, limit) => {
          const reader = database.readerFor(request.caller);
          return listDeliveries(reader, request.caller, pathId(request, 'id'), before, limit);
        },
        deliveryResource.present,
      ),
  });
}
