import {
  creationResponse,
  type Api,
  FILE_TYPES,
  FileQuery,
  pathId,
  tableFile,
} from '../http/route.js';
import { respondWithPage, type Cursors } from '../http/cursor.js';
import { StoredFiles } from '../spreadsheets/generated-files.js';
import {
  type CreateDeps,
  createStatement,
  listStatements,
  openStatement,
  readStatement,
} from './service.js';
import {
  CreateStatementBody,
  STATEMENT_FILE_EXAMPLE,
  StatementPageSchema,
  StatementQuery,
  statementResource,
  StatementSchema,
} from './schemas.js';

/** (docs/contract.md, Statements) */
export function statementRoutes(
  api: Api,
  deps: CreateDeps,
  cursors: Cursors,
  baseUrl: string,
): void {
  createStatementRoute(api, deps, baseUrl);
  readStatementRoutes(api, deps, cursors, baseUrl);
  downloadStatementRoute(api, deps);
}

function createStatementRoute(api: Api, deps: CreateDeps, baseUrl: string): void {
  api.post('/v1/statements', {
    operationId: 'createStatement',
    permits: 'readAccount',
    idempotent: 'tenant',
    body: CreateStatementBody,
    responses: { 201: StatementSchema, 200: StatementSchema },
    refusals: ['not_found', 'quota_exceeded'],
    summary: 'Make a statement',
    description:
      "Of an account's movements in one asset over a period, with the balance before and after. The figures are final from the start; the files, CSV and XLSX, follow within seconds, those of long statements within minutes.",
    handler: async ({ caller, requestId, body: input, idempotency }) => {
      const { account_id: accountId, asset, from, to } = input;
      const result = await createStatement(
        deps,
        caller,
        requestId,
        { accountId, asset, from, to },
        idempotency,
      );
      return creationResponse(result, (statement) =>
        statementResource.present({ statement, baseUrl }),
      );
    },
  });
}

function readStatementRoutes(
  api: Api,
  { database }: CreateDeps,
  cursors: Cursors,
  baseUrl: string,
): void {
  api.get('/v1/statements', {
    operationId: 'listStatements',
    permits: 'readAccount',
    query: StatementQuery,
    responses: { 200: StatementPageSchema },
    summary: 'List statements',
    description: "The statements of accounts in which the token's member has a role, newest first.",
    handler: (request) =>
      respondWithPage(
        cursors,
        request,
        (before, limit) => {
          const { caller, query } = request;
          const reader = database.readerFor(caller);
          return listStatements(reader, caller, query.account_id, before, limit);
        },
        (statement) => statementResource.present({ statement, baseUrl }),
      ),
  });

  api.get('/v1/statements/{statement_id}', {
    operationId: 'getStatement',
    permits: 'readAccount',
    responses: { 200: StatementSchema },
    summary: 'Read a statement',
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const statement = await readStatement(reader, caller, pathId(request, 'statement_id'));
      return { status: 200, body: statementResource.present({ statement, baseUrl }) };
    },
  });
}

function downloadStatementRoute(api: Api, { database }: CreateDeps): void {
  const files = new StoredFiles();
  api.get('/v1/statements/{statement_id}/file', {
    operationId: 'downloadStatement',
    permits: 'readAccount',
    query: FileQuery,
    responses: { 200: null },
    fileTypes: FILE_TYPES,
    examples: { 200: STATEMENT_FILE_EXAMPLE },
    summary: 'Download a statement',
    description:
      'One line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless the statement is ready.',
    handler: async (request) => {
      const id = pathId(request, 'statement_id');
      const { format } = request.query;
      return tableFile(
        `statement-${id}`,
        format,
        await openStatement(database, files, request.caller, id, format),
      );
    },
  });
}
