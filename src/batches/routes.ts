import { ApiError, invalidField } from '../core/errors.js';
import {
  creationResponse,
  responseTo,
  type Api,
  FILE_TYPES,
  FileQuery,
  keyedPathId,
  pathId,
  tableFile,
} from '../http/route.js';
import { respondWithNumberedPage, respondWithPage, type Cursors } from '../http/cursor.js';
import { operationFilter } from '../http/schemas.js';
import { FILE_FIELD, type UploadedFile } from '../http/upload.js';
import { recogniseFile } from '../spreadsheets/open-sheet.js';
import { bytesOf, SheetProblem } from '../spreadsheets/sheet.js';
import type { BatchFile } from './rules.js';
import {
  BATCH_EXAMPLES,
  BonusBatchPageSchema,
  BonusBatchQuery,
  BonusBatchRowPageSchema,
  BonusBatchRowQuery,
  FILE_EXAMPLES,
  presentBatchRow,
  UploadForm,
} from './schemas-endpoints.js';
import { batchResource, BonusBatchSchema } from './schemas.js';
import type { Batches } from './service.js';
import { PROBLEM_CODES } from './validation/cells.js';
import { templateCsv, templateXlsx } from './template.js';

export function batchRoutes(api: Api, batches: Batches, cursors: Cursors, baseUrl: string): void {
  listAndRead(api, batches, cursors, baseUrl);
  rows(api, batches, cursors);
  execute(api, batches, baseUrl);
  withdraw(api, batches, baseUrl);
  uploadBatch(api, batches, baseUrl);
  template(api);
  downloadFile(
    api,
    batches,
    'errors',
    'downloadBonusBatchErrors',
    `Every problem in a rejected file, one per line: row, column, code, message, value. The codes: ${PROBLEM_CODES.join(', ')}.`,
  );
  downloadFile(
    api,
    batches,
    'result',
    'downloadBonusBatchResult',
    'What became of each row of an executed batch.',
  );
}

function listAndRead(api: Api, batches: Batches, cursors: Cursors, baseUrl: string): void {
  api.get('/v1/bonus_batches', {
    operationId: 'listBonusBatches',
    permits: 'readBatches',
    query: BonusBatchQuery,
    responses: { 200: BonusBatchPageSchema },
    summary: 'List batches',
    description:
      'Newest first. With `idempotency_key`, what that key created or executed; an empty list does not rule out that it appears later.',
    handler: (request) => {
      const { caller, query } = request;
      const filter = { ...operationFilter(query), status: query.status };
      return respondWithPage(
        cursors,
        request,
        (before, limit) => batches.list(caller, filter, before, limit),
        ({ batch, review }) => batchResource.present({ batch, baseUrl, review }),
      );
    },
  });

  api.get('/v1/bonus_batches/{batch_id}', {
    operationId: 'getBonusBatch',
    permits: 'readBatches',
    responses: { 200: BonusBatchSchema },
    summary: 'Read a batch',
    description:
      'While the batch is `ready`, the response includes what a person reviews before money moves.',
    handler: async (request) => {
      const { batch, review } = await batches.read(request.caller, pathId(request, 'batch_id'));
      return { status: 200, body: batchResource.present({ batch, baseUrl, review }) };
    },
  });
}

function rows(api: Api, batches: Batches, cursors: Cursors): void {
  api.get('/v1/bonus_batches/{batch_id}/rows', {
    operationId: 'listBonusBatchRows',
    permits: 'readBatches',
    query: BonusBatchRowQuery,
    responses: { 200: BonusBatchRowPageSchema },
    summary: 'List the rows of a batch',
    description: 'In file order, once the file is accepted.',
    handler: (request) =>
      respondWithNumberedPage(cursors, request, async (after, limit) => {
        const { caller, query } = request;
        const id = pathId(request, 'batch_id');
        const last = Number.parseInt(String(after ?? 0), 10);
        const page = await batches.rows(caller, id, query.status, last, limit);
        const next = page.next === null ? null : BigInt(page.next);
        return { items: page.items.map((row) => presentBatchRow(row, page.batch)), next };
      }),
  });
}

function execute(api: Api, batches: Batches, baseUrl: string): void {
  api.post('/v1/bonus_batches/{batch_id}/execute', {
    operationId: 'executeBonusBatch',
    permits: 'executeBatch',
    idempotent: 'member',
    responses: { 202: BonusBatchSchema },
    examples: { 202: BATCH_EXAMPLES.executing },
    refusals: ['invalid_state'],
    summary: 'Execute a batch',
    description:
      "From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. From the source account's approval threshold up, a member other than the uploader must execute it.",
    handler: async (request) => {
      const result = await batches.execute(
        request.caller,
        keyedPathId(request, 'batch_id'),
        request.idempotency,
      );
      return responseTo(result, (batch) => ({
        status: 202,
        body: batchResource.present({ batch, baseUrl, review: null }),
      }));
    },
  });
}

function withdraw(api: Api, batches: Batches, baseUrl: string): void {
  api.post('/v1/bonus_batches/{batch_id}/cancel', {
    operationId: 'cancelBonusBatch',
    permits: 'withdrawBatch',
    responses: { 200: BonusBatchSchema },
    examples: { 200: BATCH_EXAMPLES.withdrawn },
    refusals: ['invalid_state'],
    summary: 'Withdraw a batch',
    description:
      'Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.',
    handler: async (request) => {
      const result = await batches.withdraw(request.caller, pathId(request, 'batch_id'));
      return responseTo(result, (batch) => ({
        status: 200,
        body: batchResource.present({ batch, baseUrl, review: null }),
      }));
    },
  });
}

function uploadBatch(api: Api, batches: Batches, baseUrl: string): void {
  api.post('/v1/bonus_batches', {
    operationId: 'uploadBonusBatch',
    permits: 'createBonus',
    idempotent: 'tenant',
    body: UploadForm,
    hasFile: true,
    responses: { 201: BonusBatchSchema, 200: BonusBatchSchema },
    examples: { 201: BATCH_EXAMPLES.validating },
    refusals: ['not_found', 'quota_exceeded'],
    summary: 'Upload a batch of bonuses',
    description:
      'An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/bonus_batches/template`. It is validated afterwards; no money moves until it is executed.',
    handler: async ({ caller, body, file, idempotency }) => {
      await assertReadable(file);
      const request = {
        sourceAccountId: body.source_account,
        description: body.description ?? null,
        file,
      };
      const result = await batches.upload(caller, request, idempotency);
      // A replay returns the batch as GET does, and the batch may be ready by then.
      const review = result.outcome.done
        ? await batches.reviewFor(caller, result.outcome.resource)
        : null;
      return creationResponse(result, (batch) => batchResource.present({ batch, baseUrl, review }));
    },
  });
}

/** Throws 400 for a file of another kind. Validation finds all other problems. */
async function assertReadable({ pieces }: UploadedFile): Promise<void> {
  try {
    await recogniseFile(bytesOf(pieces));
  } catch (problem) {
    if (!(problem instanceof SheetProblem)) throw problem;
    throw new ApiError({
      ...invalidField(FILE_FIELD, 'not_a_spreadsheet'),
      message: problem.message,
    });
  }
}

function template(api: Api): void {
  api.get('/v1/bonus_batches/template', {
    operationId: 'downloadBonusBatchTemplate',
    permits: 'readTemplate',
    query: FileQuery,
    responses: { 200: null },
    fileTypes: FILE_TYPES,
    examples: { 200: FILE_EXAMPLES.template },
    summary: 'Download an empty file to fill in',
    description: 'A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.',
    handler: async ({ query: { format } }) =>
      tableFile('bonuses', format, [format === 'xlsx' ? await templateXlsx() : templateCsv()]),
  });
}

function downloadFile(
  api: Api,
  batches: Batches,
  name: BatchFile,
  operationId: string,
  what: string,
): void {
  api.get(`/v1/bonus_batches/{batch_id}/files/${name}`, {
    operationId,
    permits: 'readBatches',
    query: FileQuery,
    responses: { 200: null },
    fileTypes: FILE_TYPES,
    examples: { 200: FILE_EXAMPLES[name] },
    summary: `Download the ${name} file`,
    description: `${what} CSV, or XLSX with \`format=xlsx\`.`,
    handler: async (request) => {
      const id = pathId(request, 'batch_id');
      const { format } = request.query;
      return tableFile(
        `${name}-${id}`,
        format,
        await batches.file(request.caller, id, name, format),
      );
    },
  });
}
