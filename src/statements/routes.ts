import { pipeline } from 'node:stream/promises';
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
import { CONTENT_TYPES, FILE_TYPES, FileQuery } from '../http/table-files.js';
import { presentStatement } from './presenter.js';
import {
  CreateStatementBody,
  STATEMENT_FILE_EXAMPLE,
  StatementPageSchema,
  StatementQuery,
  StatementSchema,
} from './schemas.js';
import type { Statements } from './service.js';

/** (docs/contract.md, Statements) */
export function statementRoutes(api: Api, statements: Statements, cursors: Cursors, baseUrl: string): void {
  create(api, statements, baseUrl);
  listAndRead(api, statements, cursors, baseUrl);
  download(api, statements);
}

function create(api: Api, statements: Statements, baseUrl: string): void {
  api.post(
    '/v1/statements',
    named('createStatement'),
    permits('readAccount'),
    idempotent,
    body(CreateStatementBody),
    answers({ 201: StatementSchema, 200: StatementSchema }),
    refuses('not_found', 'authority_insufficient', 'quota_exceeded'),
    summary(
      'Make a statement',
      'Of the movements of one asset of an account in a period, with its balance before and after. The figures stand at once and for ever; the files, as CSV and XLSX, follow within seconds, of long statements within minutes.',
    ),
    async ({ caller, requestId, body: wanted, idempotency }) => {
      const { account_id: accountId, asset, from, to } = wanted;
      const answer = await statements.create(caller, requestId, { accountId, asset, from, to }, idempotency);
      return answerOf(answer, (statement, replayed) => ({
        status: replayed ? 200 : 201,
        body: presentStatement(statement, baseUrl),
      }));
    },
  );
}

function listAndRead(api: Api, statements: Statements, cursors: Cursors, baseUrl: string): void {
  api.get(
    '/v1/statements',
    named('listStatements'),
    permits('readAccount'),
    query(StatementQuery),
    answers({ 200: StatementPageSchema }),
    summary('List statements', 'Of the accounts in which the member of the token has a role, newest first.'),
    (request) =>
      answerPage(
        cursors,
        request,
        (before, limit) => statements.list(request.caller, request.query.account_id, before, limit),
        (statement) => presentStatement(statement, baseUrl),
      ),
  );

  api.get(
    '/v1/statements/{statement_id}',
    named('getStatement'),
    permits('readAccount'),
    answers({ 200: StatementSchema }),
    refuses('not_found', 'authority_insufficient'),
    summary('Read a statement'),
    async (request) => {
      const statement = await statements.read(request.caller, pathId(request, 'statement_id'));
      return { status: 200, body: presentStatement(statement, baseUrl) };
    },
  );
}

function download(api: Api, statements: Statements): void {
  api.get(
    '/v1/statements/{statement_id}/file',
    named('downloadStatement'),
    permits('readAccount'),
    query(FileQuery),
    answersFile(...FILE_TYPES),
    shows({ 200: STATEMENT_FILE_EXAMPLE }),
    refuses('not_found', 'authority_insufficient'),
    summary(
      'Download a statement',
      'A line for the opening balance, one for each movement, oldest first, and one for the closing balance. CSV, or XLSX with `format=xlsx`. 404 unless it is ready.',
    ),
    async (request) => {
      const id = pathId(request, 'statement_id');
      const { format } = request.query;
      const pieces = await statements.file(request.caller, id, format);
      const name = `statement-${id}.${format}`;
      return {
        status: 200,
        file: { contentType: CONTENT_TYPES[format], name, write: (out) => pipeline(pieces, out) },
      };
    },
  );
}
