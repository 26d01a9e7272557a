import type { Operation } from '../core/permissions.js';
import { type Api, pathId } from '../http/route.js';
import { respondWithPage, type Cursors } from '../http/cursor.js';
import { MetadataBody, type OPERATION_QUERY, operationFilter } from '../http/schemas.js';
import type { z } from '../http/zod.js';
import { readLimits } from './limits.js';
import { changeMetadata } from './change-metadata.js';
import {
  type LabelledOperation,
  listOperations,
  type OperationList,
  readOperation,
} from './operation-list.js';
import { LimitsSchema } from './schemas.js';

interface OperationRoutes<Query extends z.ZodType<OperationQuery>, Row extends LabelledOperation> {
  readonly operations: OperationList<Row>;
  readonly nouns: 'transfers' | 'payouts' | 'bonuses' | 'schedules';
  readonly list: { readonly id: string; readonly title: string; readonly order: string };
  readonly get: { readonly id: string; readonly title: string; readonly about?: string };
  readonly permission: Operation;
  /** Undefined if the metadata cannot be changed. */
  readonly change?: { readonly id: string; readonly permission: Operation };
  readonly query: Query;
  readonly page: z.ZodType;
  readonly schema: z.ZodType;
  readonly example?: unknown;
  /** The column of each parameter that only some kinds of operations have. */
  readonly filters: {
    readonly [Name in Exclude<keyof z.output<Query>, keyof OperationQuery>]-?: keyof Row & string;
  };
  readonly present: (row: Row) => object;
}

type OperationQuery = z.output<z.ZodObject<typeof OPERATION_QUERY>>;

/** Registers the routes that list, read and change a kind of operation. (docs/contract.md, Collections) */
export function operationRoutes<
  Query extends z.ZodType<OperationQuery>,
  Row extends LabelledOperation,
>(
  api: Api,
  deps: Parameters<typeof changeMetadata>[1],
  cursors: Cursors,
  routes: OperationRoutes<Query, Row>,
): void {
  const { operations, nouns, list, get, permission, change, present } = routes;
  const { database } = deps;
  api.get(`/v1/${nouns}`, {
    operationId: list.id,
    permits: permission,
    query: routes.query,
    responses: { 200: routes.page },
    summary: list.title,
    description: `${list.order} With \`idempotency_key\`, what that key created or approved; an empty list does not rule out that it appears later.`,
    handler: (request) => {
      const { caller, query } = request;
      const given: Readonly<Record<string, unknown>> = query;
      const columns = Object.fromEntries(
        Object.entries<string>(routes.filters).map(([name, column]) => [column, given[name]]),
      );
      const filters = { ...operationFilter(query), ...columns, columns };
      return respondWithPage(
        cursors,
        request,
        (before, limit) => {
          const reader = database.readerFor(caller);
          return listOperations(operations, reader, caller, filters, before, limit);
        },
        present,
      );
    },
  });

  api.get(`/v1/${nouns}/{id}`, {
    operationId: get.id,
    permits: permission,
    responses: { 200: routes.schema },
    examples: routes.example === undefined ? {} : { 200: routes.example },
    summary: get.title,
    description: get.about,
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const row = await readOperation(operations, reader, caller, pathId(request, 'id'));
      return { status: 200, body: present(row) };
    },
  });

  if (change === undefined) return;
  api.patch(`/v1/${nouns}/{id}`, {
    operationId: change.id,
    permits: change.permission,
    body: MetadataBody,
    responses: { 200: routes.schema },
    examples: routes.example === undefined ? {} : { 200: routes.example },
    summary: `Change the metadata of a ${operations.resourceType}`,
    description:
      'Sets the pairs of the request, and removes those whose value is null. Possible in every state. Writes no event.',
    handler: async (request) => {
      const { caller, body } = request;
      const id = pathId(request, 'id');
      const { permission: permits } = change;
      const row = await changeMetadata(operations, deps, caller, permits, id, body.metadata);
      return { status: 200, body: present(row) };
    },
  });
}

export function limitRoute(api: Api, deps: Parameters<typeof readLimits>[0]): void {
  api.get('/v1/accounts/{account_id}/limits', {
    operationId: 'getLimits',
    permits: 'readLimits',
    responses: { 200: LimitsSchema },
    summary: 'Read the limits of an account',
    description: 'The limits of a single operation and of the month, with the amount used.',
    handler: async (request) => ({
      status: 200,
      body: await readLimits(deps, request.caller, pathId(request, 'account_id')),
    }),
  });
}
