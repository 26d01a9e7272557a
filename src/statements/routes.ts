import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors } from '../http/cursor.js';
import {
  answers,
  answersFile,
  body,
  idempotent,
  named,
  pathId,
  permits,
  query,
  refuses,
  shows,
  summary,
} from '../http/route.js';
import { FILE_TYPES, FileQuery, tableFile } from '../http/table-files.js';
import { StoredFiles } from '../spreadsheets/stored-files.js';
import { createStatement, type CreateDeps } from './create-statement.js';
import { listStatements, openStatement, readStatement } from './read-statements.js';
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
  create(api, deps, baseUrl);
  listAndRead(api, deps, cursors, baseUrl);
  download(api, deps);
}

function create(api: Api, deps: CreateDeps, baseUrl: string): void {
  api.post(
    '/v1/statements',
    named('createStatement'),
    permits('readAccount'),
    idempotent,
    body(CreateStatementBody),
    answers({ 201: StatementSchema, 200: StatementSchema }),
    refuses('not_found', 'quota_exceeded'),
    summary(
      'Make a statement',
      "Of an account's movements in one asset over a period, with the balance before and after. The figures are final from the start; the files, CSV and XLSX, follow within seconds, those of long statements within minutes.",
    ),
    async ({ caller, requestId, body: input, idempotency }) => {
      const { account_id: accountId, asset, from, to } = input;
      const answer = await createStatement(
        deps,
        caller,
        requestId,
        { accountId, asset, from, to },
        idempotency,
      );
      return answerOf(answer, (statement, replayed) => ({
        status: replayed ? 200 : 201,
        body: statementResource.present({ statement, baseUrl }),
      }));
    },
  );
}

function listAndRead(
  api: Api,
  { database: { reader } }: CreateDeps,
  cursors: Cursors,
  baseUrl: string,
): void {
  api.get(
    '/v1/statements',
    named('listStatements'),
    permits('readAccount'),
    query(StatementQuery),
    answers({ 200: StatementPageSchema }),
    summary(
      'List statements',
      "Of the accounts in which the token's member has a role, newest first.",
    ),
    (request) =>
      answerPage(
        cursors,
        request,
        (before, limit) =>
          listStatements(reader, request.caller, request.query.account_id, before, limit),
        (statement) => statementResource.present({ statement, baseUrl }),
      ),
  );

  api.get(
    '/v1/statements/{statement_id}',
    named('getStatement'),
    permits('readAccount'),
    answers({ 200: StatementSchema }),
    summary('Read a statement'),
    async (request) => {
      const statement = await readStatement(
        reader,
        request.caller,
        pathId(request, 'statement_id'),
      );
      return { status: 200, body: statementResource.present({ statement, baseUrl }) };
    },
  );
}

function download(api: Api, { database: { reader } }: CreateDeps): void {
  const files = new StoredFiles();
  api.get(
    '/v1/statements/{statement_id}/file',
    named('downloadStatement'),
    permits('readAccount'),
    query(FileQuery),
    answersFile(...FILE_TYPES),
    shows({ 200: STATEMENT_FILE_EXAMPLE }),
    summary(
      'Download a statement',
      'One line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless the statement is ready.',
    ),
    async (request) => {
      const id = pathId(request, 'statement_id');
      const { format } = request.query;
      return tableFile(
        `statement-${id}`,
        format,
        await openStatement(reader, files, request.caller, id, format),
      );
    },
  );
}
