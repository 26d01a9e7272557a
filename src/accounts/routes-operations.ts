import type { Page, TimePosition } from '../core/pages.js';
import type { Operation } from '../core/permissions.js';
import type { Uuid } from '../core/ids.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors } from '../http/cursor.js';
import { type OPERATION_QUERY, operationFilter } from '../http/operation-query.js';
import { answers, named, pathId, permits, query, type RequestOf, shows, summary } from '../http/route.js';
import type { z } from '../http/zod.js';
import type { OperationFilter } from './operation-list.js';

type Caller = RequestOf<'', []>['caller'];

/** Where operations of a kind are read. Throws as `listOperations` and `readOperation` do. */
interface ReadOperations<Row> {
  list(caller: Caller, filter: OperationFilter, before: TimePosition | null, limit: number): Promise<Page<Row>>;
  read(caller: Caller, id: Uuid): Promise<Row>;
}

interface OperationRoutes<Query extends OperationQuery, Row> {
  /** In the plural: the collection's path. */
  readonly nouns: 'transfers' | 'payouts' | 'bonuses';
  readonly list: { readonly id: string; readonly title: string; readonly order: string };
  readonly get: { readonly id: string; readonly title: string; readonly about?: string };
  readonly permission: Operation;
  readonly query: Query;
  readonly page: z.ZodType;
  readonly schema: z.ZodType;
  /** One that stands for all where the schema's own would mislead. */
  readonly example?: unknown;
  /** What only this kind can be filtered by. */
  readonly filter: (wanted: z.output<Query>) => Pick<OperationFilter, 'status' | 'destination'>;
  readonly present: (row: Row) => object;
}

type OperationQuery = z.ZodType<z.output<z.ZodObject<typeof OPERATION_QUERY>>>;

/** The list of operations of a kind, and each of them. (docs/contract.md, Collections) */
export function operationRoutes<Query extends OperationQuery, Row>(
  api: Api,
  operations: ReadOperations<Row>,
  cursors: Cursors,
  { nouns, list, get, permission, schema, example, filter, present, ...feature }: OperationRoutes<Query, Row>,
): void {
  api.get(
    `/v1/${nouns}`,
    named(list.id),
    permits(permission),
    query(feature.query),
    answers({ 200: feature.page }),
    summary(
      list.title,
      `${list.order} With \`idempotency_key\`, what that key created; an empty list does not rule out that it appears later.`,
    ),
    (request) => {
      const { caller, query: wanted } = request;
      const filters = { ...operationFilter(wanted), ...filter(wanted) };
      return answerPage(cursors, request, (before, limit) => operations.list(caller, filters, before, limit), present);
    },
  );

  api.get(
    `/v1/${nouns}/{id}`,
    named(get.id),
    permits(permission),
    answers({ 200: schema }),
    shows(example === undefined ? {} : { 200: example }),
    summary(get.title, get.about),
    async (request) => ({
      status: 200,
      body: present(await operations.read(request.caller, pathId(request, 'id'))),
    }),
  );
}
