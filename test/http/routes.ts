import { ApiError } from '../../src/core/errors.js';
import { type AnyRequest, type Api, pathId } from '../../src/http/route.js';
import { Cursors, cursorBinding } from '../../src/http/cursor.js';
import {
  amountField,
  AmountSchema,
  assetField,
  CREATED_AT_QUERY,
  optional,
  PAGE_QUERY,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../../src/http/schemas.js';
import { z } from '../../src/http/zod.js';
import { KEYS } from './support.js';

/** Routes like the real ones, for tests of what is before the handlers. */

const CreateTransfer = z.strictObject({
  source_account: uuidField,
  destination: z.strictObject({ type: z.literal('account'), account_id: uuidField }),
  amount: amountField,
  description: optional(textField({ max: 140 })),
  events: z.array(uuidField).max(3).optional(),
});

const ThingSchema = z.object({ id: uuidSchema, amount: AmountSchema }).openapi('Thing');
const ThingQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  asset: assetField.optional(),
});

export const VALID_BODY = {
  source_account: '018f0000-0000-7000-8000-0000000000ff',
  destination: { type: 'account', account_id: '018f0000-0000-7000-8000-0000000000fe' },
  amount: { raw: '150000', asset: 'COPM' },
  description: 'Rent',
};

export const A_KEY = '0d9c1f7e-9f1b-4c1a-8a57-3f6a2f1d5b11';

/** `seen` gets every request that reached a handler. */
export function thingRoutes(seen: (request: unknown) => void = () => {}): (api: Api) => void {
  const cursors = new Cursors(KEYS);
  return (api) => {
    api.post('/v1/transfers', {
      operationId: 'createThing',
      permits: 'createTransfer',
      idempotent: 'tenant',
      body: CreateTransfer,
      responses: { 201: ThingSchema, 200: ThingSchema },
      refusals: ['not_found', 'insufficient_funds'],
      summary: 'Send a thing',
      handler: (request) => {
        seen(request);
        return Promise.resolve({
          status: 201,
          body: { id: request.requestId, amount: VALID_BODY.amount },
        });
      },
    });
    api.post('/v1/transfers/{id}/approve', {
      operationId: 'approveThing',
      permits: 'createTransfer',
      idempotent: 'member',
      responses: { 200: ThingSchema },
      summary: 'Approve a thing',
      handler: (request) => {
        seen(request);
        return Promise.resolve({ status: 200, body: { id: pathId(request, 'id') } });
      },
    });
    api.get('/v1/transfers', {
      operationId: 'listThings',
      permits: 'readTransfers',
      query: ThingQuery,
      responses: { 200: pageSchema('ThingPage', ThingSchema) },
      summary: 'List things',
      handler: (request) => {
        seen(request);
        const binding = cursorBinding(request);
        const { cursor } = request.query;
        const position = cursor === undefined ? ['0'] : cursors.decode(binding, cursor);
        return Promise.resolve({
          status: 200,
          body: { items: [], next_cursor: cursors.encode(binding, position) },
        });
      },
    });
    api.get('/v1/transfers/{id}', {
      operationId: 'getThing',
      permits: 'readTransfers',
      responses: { 200: ThingSchema },
      summary: 'Read a thing',
      handler: (request) => {
        seen(request);
        return Promise.resolve({ status: 200, body: { id: pathId(request, 'id') } });
      },
    });
    api.get('/v1/accounts/lookup', {
      operationId: 'lookUpThing',
      permits: 'readAccount',
      rateClass: 'lookup',
      responses: { 200: ThingSchema },
      summary: 'Look a thing up',
      handler: () => Promise.resolve({ status: 200, body: {} }),
    });
    api.delete('/v1/transfers/{id}', {
      operationId: 'deleteThing',
      permits: 'createTransfer',
      responses: { 204: null },
      summary: 'Drop a thing',
      handler: () => Promise.resolve({ status: 204 }),
    });
  };
}

/** A route whose handler throws what the test wants, as a plain GET and as one that moves money. */
export function failingRoutes(fault: () => unknown): (api: Api) => void {
  const fail = (): Promise<never> => Promise.reject(fault());
  return (api) => {
    const failing = {
      permits: 'createTransfer',
      responses: { 200: null },
      summary: 'Fail',
      handler: fail,
    } as const;
    api.get('/v1/fail', { operationId: 'getFailure', ...failing });
    api.post('/v1/fail', { operationId: 'createFailure', idempotent: 'tenant', ...failing });
  };
}

export function refusing(code: ConstructorParameters<typeof ApiError>[0]['code']): () => ApiError {
  return () => new ApiError({ code, message: `refused with ${code}` });
}

/** Requests that reached a handler, as the pipeline made them. */
export function asRequest(seen: unknown): AnyRequest {
  return seen as AnyRequest;
}
