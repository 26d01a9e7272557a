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
import { BATCH_ENDPOINTS, type BatchEndpoints, BatchQuery } from './schemas-requests.js';
import type { ReviewedBatch } from './schemas-fields.js';
import type { Batches } from './service.js';
import { PROBLEM_CODES } from './validation/cells.js';
import { templateCsv, templateXlsx } from './template.js';

/** The API, the batches of one kind, and their schemas. */
interface Routes {
  readonly api: Api;
  readonly batches: Batches;
  readonly of: BatchEndpoints;
  readonly present: (shown: ReviewedBatch) => object;
}

/** The routes of one kind of batches. */
export function batchRoutes(api: Api, batches: Batches, cursors: Cursors, baseUrl: string): void {
  const of = BATCH_ENDPOINTS[batches.kind.name];
  const present: Routes['present'] = (shown) => of.batch.present({ ...shown, baseUrl });
  const routes = { api, batches, of, present };
  listAndRead(routes, cursors);
  rows(routes, cursors);
  execute(routes);
  withdraw(routes);
  uploadBatch(routes);
  template(routes);
  downloadFile(
    routes,
    'errors',
    `Every problem in a rejected file, one per line: row, column, code, message, value. The codes: ${PROBLEM_CODES.join(', ')}.`,
  );
  downloadFile(routes, 'result', 'What became of each row of an executed batch.');
}

function listAndRead({ api, batches, of, present }: Routes, cursors: Cursors): void {
  const { read } = batches.kind.permissions;
  api.get(`${of.path}`, {
    operationId: `list${of.name}es`,
    permits: read,
    query: BatchQuery,
    responses: { 200: of.page },
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
        present,
      );
    },
  });

  api.get(`${of.path}/{batch_id}`, {
    operationId: `get${of.name}`,
    permits: read,
    responses: { 200: of.batch.schema },
    summary: 'Read a batch',
    description:
      'While the batch is `ready`, the response includes what a person reviews before money moves.',
    handler: async (request) => {
      const shown = await batches.read(request.caller, pathId(request, 'batch_id'));
      return { status: 200, body: present(shown) };
    },
  });
}

function rows({ api, batches, of }: Routes, cursors: Cursors): void {
  api.get(`${of.path}/{batch_id}/rows`, {
    operationId: `list${of.name}Rows`,
    permits: batches.kind.permissions.read,
    query: of.rowQuery,
    responses: { 200: of.rowPage },
    summary: 'List the rows of a batch',
    description: 'In file order, once the file is accepted.',
    handler: (request) =>
      respondWithNumberedPage(cursors, request, async (after, limit) => {
        const { caller, query } = request;
        const id = pathId(request, 'batch_id');
        const last = Number.parseInt(String(after ?? 0), 10);
        const page = await batches.rows(caller, id, query.status, last, limit);
        const next = page.next === null ? null : BigInt(page.next);
        return { items: page.items.map((row) => of.presentRow(row, page.batch)), next };
      }),
  });
}

function execute({ api, batches, of, present }: Routes): void {
  api.post(`${of.path}/{batch_id}/execute`, {
    operationId: `execute${of.name}`,
    permits: batches.kind.permissions.execute,
    idempotent: 'member',
    responses: { 202: of.batch.schema },
    examples: { 202: of.examples.executing },
    refusals: ['invalid_state'],
    summary: 'Execute a batch',
    description: `From now on money leaves, row by row. If the funds cover the whole debit, they are held at once; if not, each row is tried in file order. ${of.execution} A repeat with the same key is a 202 too, with \`Svc-Idempotent-Replayed: true\` and the batch as it is now, which may have ended.`,
    handler: async (request) => {
      const result = await batches.execute(
        request.caller,
        keyedPathId(request, 'batch_id'),
        request.idempotency,
      );
      return responseTo(await batches.after(request.caller, result), (batch) => ({
        status: 202,
        body: present(batch),
      }));
    },
  });
}

function withdraw({ api, batches, of, present }: Routes): void {
  api.post(`${of.path}/{batch_id}/cancel`, {
    operationId: `cancel${of.name}`,
    permits: batches.kind.permissions.withdraw,
    responses: { 200: of.batch.schema },
    examples: { 200: of.examples.withdrawn },
    refusals: ['invalid_state'],
    summary: 'Withdraw a batch',
    description:
      'Withdraws a `ready` batch: its uploader can do this, and an admin or owner of the source. The batch ends as `rejected` with `rejection` {code: "withdrawn"}, and pays no one.',
    handler: async (request) => {
      const result = await batches.withdraw(request.caller, pathId(request, 'batch_id'));
      return responseTo(await batches.after(request.caller, result), (batch) => ({
        status: 200,
        body: present(batch),
      }));
    },
  });
}

function uploadBatch({ api, batches, of, present }: Routes): void {
  api.post(`${of.path}`, {
    operationId: `upload${of.name}`,
    permits: batches.kind.permissions.upload,
    idempotent: 'tenant',
    body: of.uploadForm,
    hasFile: true,
    responses: { 201: of.batch.schema, 200: of.batch.schema },
    examples: { 201: of.examples.validating },
    refusals: ['not_found', 'quota_exceeded'],
    summary: `Upload a batch of ${of.payments}`,
    description: `An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like \`GET ${of.path}/template\`. It is validated afterwards; no money moves until it is executed.`,
    handler: async ({ caller, body, file, idempotency }) => {
      await assertReadable(file);
      const request = {
        sourceAccountId: body.source_account,
        description: body.description ?? null,
        file,
      };
      const result = await batches.upload(caller, request, idempotency);
      return creationResponse(await batches.afterUpload(caller, result), present);
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

function template({ api, batches, of }: Routes): void {
  const { sheet, permissions } = batches.kind;
  api.get(`${of.path}/template`, {
    operationId: `download${of.name}Template`,
    permits: permissions.template,
    query: FileQuery,
    responses: { 200: null },
    fileTypes: FILE_TYPES,
    examples: { 200: of.template },
    summary: 'Download an empty file to fill in',
    description: 'A file with the columns and an example row. CSV, or XLSX with `format=xlsx`.',
    handler: async ({ query: { format } }) =>
      tableFile(of.payments, format, [
        format === 'xlsx' ? await templateXlsx(sheet) : templateCsv(sheet),
      ]),
  });
}

function downloadFile({ api, batches, of }: Routes, name: BatchFile, what: string): void {
  api.get(`${of.path}/{batch_id}/files/${name}`, {
    operationId: `download${of.name}${name === 'errors' ? 'Errors' : 'Result'}`,
    permits: batches.kind.permissions.read,
    query: FileQuery,
    responses: { 200: null },
    fileTypes: FILE_TYPES,
    examples: { 200: of[name] },
    summary: `Download the ${name} file`,
    description: `${what} CSV, or XLSX with \`format=xlsx\`.`,
    handler: async (request) => {
      const id = pathId(request, 'batch_id');
      const { format } = request.query;
      const pieces = await batches.file(request.caller, id, name, format);
      return tableFile(`${name}-${id}`, format, pieces);
    },
  });
}
