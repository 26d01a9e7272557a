import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors, cursorBinding } from '../http/cursor.js';
import { operationFilter } from '../http/operation-query.js';
import {
  answers,
  idempotentPerMember,
  keyedPathId,
  named,
  pathId,
  permits,
  query,
  refuses,
  shows,
  summary,
} from '../http/route.js';
import { batchResource, BonusBatchSchema } from './schemas.js';
import { BATCH_EXAMPLES } from './schemas-examples.js';
import {
  BonusBatchPageSchema,
  BonusBatchQuery,
  BonusBatchRowPageSchema,
  BonusBatchRowQuery,
  presentBatchRow,
} from './schemas-requests.js';
import type { Batches } from './service.js';

export function batchRoutes(api: Api, batches: Batches, cursors: Cursors, baseUrl: string): void {
  listAndRead(api, batches, cursors, baseUrl);
  rows(api, batches, cursors);
  execute(api, batches, baseUrl);
  withdraw(api, batches, baseUrl);
}

function listAndRead(api: Api, batches: Batches, cursors: Cursors, baseUrl: string): void {
  api.get(
    '/v1/bonus_batches',
    named('listBonusBatches'),
    permits('readBatches'),
    query(BonusBatchQuery),
    answers({ 200: BonusBatchPageSchema }),
    summary(
      'List batches',
      'Newest first. With `idempotency_key`, what that key created; an empty list does not rule out that it appears later.',
    ),
    (request) => {
      const { caller, query } = request;
      const filter = { ...operationFilter(query), status: query.status };
      return answerPage(
        cursors,
        request,
        (before, limit) => batches.list(caller, filter, before, limit),
        ({ batch, review }) => batchResource.present({ batch, baseUrl, review }),
      );
    },
  );

  api.get(
    '/v1/bonus_batches/{batch_id}',
    named('getBonusBatch'),
    permits('readBatches'),
    answers({ 200: BonusBatchSchema }),
    summary(
      'Read a batch',
      'While it is `ready`, includes what a person reviews before money moves.',
    ),
    async (request) => {
      const { batch, review } = await batches.read(request.caller, pathId(request, 'batch_id'));
      return { status: 200, body: batchResource.present({ batch, baseUrl, review }) };
    },
  );
}

function rows(api: Api, batches: Batches, cursors: Cursors): void {
  api.get(
    '/v1/bonus_batches/{batch_id}/rows',
    named('listBonusBatchRows'),
    permits('readBatches'),
    query(BonusBatchRowQuery),
    answers({ 200: BonusBatchRowPageSchema }),
    summary('List the rows of a batch', 'In file order, once the file is accepted.'),
    async (request) => {
      const binding = cursorBinding(request);
      const { caller, query } = request;
      const [seen] = query.cursor === undefined ? [] : cursors.decode(binding, query.cursor);
      const after = seen === undefined ? 0 : Number.parseInt(seen, 10);
      const page = await batches.rows(
        caller,
        pathId(request, 'batch_id'),
        query.status,
        after,
        query.limit,
      );
      const items = page.items.map((row) => presentBatchRow(row, page.batch));
      const next = page.next === null ? null : cursors.encode(binding, [page.next.toString()]);
      return { status: 200, body: { items, next_cursor: next } };
    },
  );
}

function execute(api: Api, batches: Batches, baseUrl: string): void {
  api.post(
    '/v1/bonus_batches/{batch_id}/execute',
    named('executeBonusBatch'),
    permits('executeBatch'),
    idempotentPerMember,
    answers({ 202: BonusBatchSchema }),
    shows({ 202: BATCH_EXAMPLES.executing }),
    refuses('invalid_state'),
    summary(
      'Execute a batch',
      "From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. From the source account's approval threshold up, a member other than the uploader must execute it.",
    ),
    async (request) => {
      const answer = await batches.execute(
        request.caller,
        keyedPathId(request, 'batch_id'),
        request.idempotency,
      );
      return answerOf(answer, (batch) => ({
        status: 202,
        body: batchResource.present({ batch, baseUrl, review: null }),
      }));
    },
  );
}

function withdraw(api: Api, batches: Batches, baseUrl: string): void {
  api.post(
    '/v1/bonus_batches/{batch_id}/cancel',
    named('cancelBonusBatch'),
    permits('withdrawBatch'),
    answers({ 200: BonusBatchSchema }),
    shows({ 200: BATCH_EXAMPLES.withdrawn }),
    refuses('invalid_state'),
    summary(
      'Withdraw a batch',
      'While it is `ready`, by its uploader, or an admin or owner of the source. It ends as `rejected` with `rejection` {code: "withdrawn"}, and pays nobody.',
    ),
    async (request) => {
      const answer = await batches.withdraw(request.caller, pathId(request, 'batch_id'));
      return answerOf(answer, (batch) => ({
        status: 200,
        body: batchResource.present({ batch, baseUrl, review: null }),
      }));
    },
  );
}
