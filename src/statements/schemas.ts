import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import { type Statement, STATEMENT_STATUSES } from '../db/entities/statements.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { defineResource, fieldsOf, withValues } from '../http/resource.js';
import {
  AmountSchema,
  assetField,
  instantField,
  instantSchema,
  PAGE_QUERY,
  pageSchema,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { STATEMENT_COLUMNS } from './statement-maker.js';
import { MAX_MOVEMENTS } from './service.js';

const fileUrlField = z.string().nullable().openapi({ format: 'uri' });

/** (docs/contract.md, Statements) */
export const CreateStatementBody = z
  .strictObject({
    account_id: uuidField.describe('The account.'),
    asset: assetField,
    from: instantField('up').openapi({ description: 'The first moment of the period, inclusive.' }),
    to: instantField().openapi({
      description: 'The last moment of the period, inclusive; at least 15 seconds ago.',
    }),
  })
  .openapi('CreateStatement', {
    description: `A period in which the account has at most ${MAX_MOVEMENTS} movements.`,
  });

const PERIOD = { from: '2026-11-01T05:00:00.000Z', to: '2026-11-21T04:59:59.999Z' };
exampled(CreateStatementBody, { account_id: EXAMPLE.source, asset: EXAMPLE.asset, ...PERIOD });

interface StatementSource {
  readonly statement: Statement;
  readonly baseUrl: string;
}

function fileUrl({ statement: { id, status }, baseUrl }: StatementSource, format: string) {
  return status === 'ready' ? `${baseUrl}/v1/statements/${id}/file?format=${format}` : null;
}

const field = fieldsOf<StatementSource>();

export const statementResource = defineResource(
  'Statement',
  'The movements of an account in one asset and period, as files.',
  {
    id: field('The id of the statement.', uuidSchema, EXAMPLE.id, ({ statement }) => statement.id),
    status: field(
      withValues<Statement['status']>('The state of its files.', {
        preparing: 'they are being made. Becomes `ready`',
        ready: 'they can be downloaded. Becomes `expired`',
        expired: 'they were removed, but the figures stay. Final',
      }),
      z.enum(STATEMENT_STATUSES),
      'ready',
      ({ statement }) => statement.status,
    ),
    account_id: field(
      'The account.',
      uuidSchema,
      EXAMPLE.source,
      ({ statement }) => statement.accountId,
    ),
    asset: field(
      'The asset; movements in other assets are left out.',
      assetField,
      EXAMPLE.asset,
      ({ statement }) => statement.asset,
    ),
    from: field(
      'The first moment of the period, inclusive.',
      instantSchema,
      PERIOD.from,
      ({ statement }) => toRfc3339(statement.fromAt),
    ),
    to: field(
      'The last moment of the period, inclusive.',
      instantSchema,
      PERIOD.to,
      ({ statement }) => toRfc3339(statement.toAt),
    ),
    opening_balance: field(
      'The total before the first movement of the period.',
      AmountSchema,
      { raw: '50000000', asset: EXAMPLE.asset },
      ({ statement: { openingRaw: raw, asset } }) => amountJson({ raw, asset }),
    ),
    closing_balance: field(
      'The total at `to`.',
      AmountSchema,
      { raw: '49700000', asset: EXAMPLE.asset },
      ({ statement: { closingRaw: raw, asset } }) => amountJson({ raw, asset }),
    ),
    movements: field(
      'In this asset, in the period; null while preparing.',
      z.int().nullable(),
      2,
      ({ statement }) => statement.movementCount,
    ),
    files: field(
      'The URLs of the files.',
      z.object({
        csv_url: fileUrlField.describe('The statement as CSV; null unless ready.'),
        xlsx_url: fileUrlField.describe('The statement as a spreadsheet; null unless ready.'),
      }),
      {
        csv_url: `https://api.example.com/v1/statements/${EXAMPLE.id}/file`,
        xlsx_url: `https://api.example.com/v1/statements/${EXAMPLE.id}/file?format=xlsx`,
      },
      (source) => ({ csv_url: fileUrl(source, 'csv'), xlsx_url: fileUrl(source, 'xlsx') }),
    ),
    created_at: field('When it was requested.', instantSchema, EXAMPLE.at, ({ statement }) =>
      toRfc3339(statement.createdAt),
    ),
  },
);
export const StatementSchema = statementResource.schema;

export const STATEMENT_FILE_EXAMPLE =
  `${STATEMENT_COLUMNS.map(({ name }) => name).join()}\r\n` +
  `${PERIOD.from},opening_balance,,,50000000,${EXAMPLE.asset},,,,,,,\r\n` +
  `${EXAMPLE.at},transfer_out,,150000,49850000,${EXAMPLE.asset},Ana M. P.,$ana,${EXAMPLE.destination},Lunch,${EXAMPLE.event},transfer,${EXAMPLE.id}\r\n`;

export const StatementPageSchema = pageSchema('StatementPage', StatementSchema);

export const StatementQuery = z.strictObject({
  ...PAGE_QUERY,
  account_id: uuidField.optional().describe('Only statements of this account.'),
});
