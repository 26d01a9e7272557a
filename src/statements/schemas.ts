import { STATEMENT_STATUSES } from '../db/entities/statements.js';
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
import { MAX_MOVEMENTS } from './rules.js';

const fileUrl = z.string().nullable().openapi({ format: 'uri' });

/** (docs/contract.md, Statements) */
export const CreateStatementBody = z
  .strictObject({
    account_id: uuidField,
    asset: assetField,
    from: instantField('up').openapi({ description: 'The first moment of the period, included.' }),
    to: instantField().openapi({ description: 'The last moment of the period, included; at least 15 seconds ago.' }),
  })
  .openapi('CreateStatement', { description: `A period with at most ${MAX_MOVEMENTS} movements of the account.` });

export const StatementSchema = z
  .object({
    id: uuidSchema,
    status: z.enum(STATEMENT_STATUSES).openapi({
      description:
        'preparing: its files are made; ready: they can be had; expired: they are removed, the figures stay.',
    }),
    account_id: uuidSchema,
    asset: assetField,
    from: instantSchema,
    to: instantSchema,
    opening_balance: AmountSchema.openapi({ description: 'The total before the first movement of the period.' }),
    closing_balance: AmountSchema.openapi({ description: 'The total at `to`.' }),
    movements: z.int().nullable().openapi({ description: 'Of this asset in the period; null while preparing.' }),
    files: z.object({ csv_url: fileUrl, xlsx_url: fileUrl }).openapi({ description: 'null unless ready' }),
    created_at: instantSchema,
  })
  .openapi('Statement');

export const StatementPageSchema = pageSchema('StatementPage', StatementSchema);

export const StatementQuery = z.strictObject({ ...PAGE_QUERY, account_id: uuidField.optional() });
