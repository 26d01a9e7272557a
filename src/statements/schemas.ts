import { STATEMENT_STATUSES } from '../db/entities/statements.js';
import { EXAMPLE, exampled } from '../http/examples.js';
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
import { z } from '../http/zod.js';
import { STATEMENT_COLUMNS } from './lines.js';
import { MAX_MOVEMENTS } from './rules.js';

const fileUrl = z.string().nullable().openapi({ format: 'uri' });

/** (docs/contract.md, Statements) */
export const CreateStatementBody = z
  .strictObject({
    account_id: uuidField,
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

export const StatementSchema = z
  .object({
    id: uuidSchema,
    status: z.enum(STATEMENT_STATUSES).openapi({
      description:
        'preparing: its files are being made; ready: they can be downloaded; expired: they were removed, but the figures stay.',
    }),
    account_id: uuidSchema,
    asset: assetField,
    from: instantSchema,
    to: instantSchema,
    opening_balance: AmountSchema.openapi({
      description: 'The total before the first movement of the period.',
    }),
    closing_balance: AmountSchema.openapi({ description: 'The total at `to`.' }),
    movements: z
      .int()
      .nullable()
      .openapi({ description: 'In this asset, in the period; null while preparing.' }),
    files: z
      .object({ csv_url: fileUrl, xlsx_url: fileUrl })
      .openapi({ description: 'null unless ready' }),
    created_at: instantSchema,
  })
  .openapi('Statement');
exampled(StatementSchema, {
  id: EXAMPLE.id,
  status: 'ready',
  account_id: EXAMPLE.source,
  asset: EXAMPLE.asset,
  ...PERIOD,
  opening_balance: { raw: '50000000', asset: EXAMPLE.asset },
  closing_balance: { raw: '49700000', asset: EXAMPLE.asset },
  movements: 2,
  files: {
    csv_url: `https://api.example.com/v1/statements/${EXAMPLE.id}/file`,
    xlsx_url: `https://api.example.com/v1/statements/${EXAMPLE.id}/file?format=xlsx`,
  },
  created_at: EXAMPLE.at,
});

export const STATEMENT_FILE_EXAMPLE =
  `${STATEMENT_COLUMNS.map(({ name }) => name).join()}\r\n` +
  `${PERIOD.from},opening_balance,,,50000000,${EXAMPLE.asset},,,,,,,\r\n` +
  `${EXAMPLE.at},transfer_out,,150000,49850000,${EXAMPLE.asset},Ana M. P.,$ana,${EXAMPLE.destination},Lunch,${EXAMPLE.event},transfer,${EXAMPLE.id}\r\n`;

export const StatementPageSchema = pageSchema('StatementPage', StatementSchema);

export const StatementQuery = z.strictObject({ ...PAGE_QUERY, account_id: uuidField.optional() });
