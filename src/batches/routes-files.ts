import { ApiError, invalidField } from '../core/errors.js';
import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import {
  answers,
  answersFile,
  idempotent,
  named,
  pathId,
  permits,
  query,
  refuses,
  shows,
  summary,
  upload,
} from '../http/route.js';
import { CONTENT_TYPES, FILE_TYPES, FileQuery, tableFile } from '../http/table-files.js';
import { FILE_FIELD, type UploadedFile } from '../http/upload.js';
import { bytesOf } from '../spreadsheets/byte-source.js';
import { recogniseFile } from '../spreadsheets/open-sheet.js';
import { SheetProblem } from '../spreadsheets/sheet.js';
import { templateCsv, templateXlsx } from './template.js';
import type { BatchFile } from './rules.js';
import { batchResource, BonusBatchSchema } from './schemas.js';
import { BATCH_EXAMPLES, FILE_EXAMPLES } from './schemas-examples.js';
import { UploadForm } from './schemas-requests.js';
import type { Batches } from './service.js';

export function batchFileRoutes(api: Api, batches: Batches, baseUrl: string): void {
  uploadBatch(api, batches, baseUrl);
  template(api);
  report(
    api,
    batches,
    'errors',
    'downloadBonusBatchErrors',
    'Every problem in a rejected file, one per line: row, column, code, message, value.',
  );
  report(
    api,
    batches,
    'result',
    'downloadBonusBatchResult',
    'What became of each row of an executed batch.',
  );
}

function uploadBatch(api: Api, batches: Batches, baseUrl: string): void {
  api.post(
    '/v1/bonus_batches',
    named('uploadBonusBatch'),
    permits('createBonus'),
    idempotent,
    upload(UploadForm),
    answers({ 201: BonusBatchSchema, 200: BonusBatchSchema }),
    shows({ 201: BATCH_EXAMPLES.validating }),
    refuses('not_found', 'quota_exceeded'),
    summary(
      'Upload a batch of bonuses',
      'An XLSX or CSV file of at most 10 MiB and 100,000 rows, laid out like `GET /v1/bonus_batches/template`. It is validated afterwards; no money moves until it is executed.',
    ),
    async ({ caller, body, file, idempotency }) => {
      await assertReadable(file);
      const request = {
        sourceAccountId: body.source_account,
        description: body.description ?? null,
        file,
      };
      const answer = await batches.upload(caller, request, idempotency);
      // A replay returns the batch as GET does, and the batch may be ready by then.
      const review = answer.outcome.done
        ? await batches.reviewFor(caller, answer.outcome.resource)
        : null;
      return answerOf(answer, (batch, replayed) => ({
        status: replayed ? 200 : 201,
        body: batchResource.present({ batch, baseUrl, review }),
      }));
    },
  );
}

/**
 * Throws 400 if the content is not of an accepted kind of file. Validation finds all other
 * problems.
 */
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
  api.get(
    '/v1/bonus_batches/template',
    named('downloadBonusBatchTemplate'),
    permits('readTemplate'),
    query(FileQuery),
    answersFile(...FILE_TYPES),
    shows({ 200: FILE_EXAMPLES.template }),
    summary(
      'Download an empty file to fill in',
      'With an example row. CSV, or XLSX with `format=xlsx`.',
    ),
    ({ query: { format: kind } }) =>
      Promise.resolve({
        status: 200,
        file: {
          contentType: CONTENT_TYPES[kind],
          name: `bonuses.${kind}`,
          write: async (out) =>
            void out.end(kind === 'xlsx' ? await templateXlsx() : templateCsv()),
        },
      }),
  );
}

/** Sends a generated file, or 404 if it does not exist. */
function report(
  api: Api,
  batches: Batches,
  name: BatchFile,
  operationId: string,
  what: string,
): void {
  api.get(
    `/v1/bonus_batches/{batch_id}/files/${name}`,
    named(operationId),
    permits('readBatches'),
    query(FileQuery),
    answersFile(...FILE_TYPES),
    shows({ 200: FILE_EXAMPLES[name] }),
    summary(`Download the ${name} file`, `${what} CSV, or XLSX with \`format=xlsx\`.`),
    async (request) => {
      const id = pathId(request, 'batch_id');
      const { format } = request.query;
      return tableFile(
        `${name}-${id}`,
        format,
        await batches.file(request.caller, id, name, format),
      );
    },
  );
}
