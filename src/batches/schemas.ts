import { BATCH_REJECTIONS, BATCH_ROW_STATUSES, BATCH_STATUSES } from '../db/entities/bonuses.js';
import {
  AmountSchema,
  CREATED_AT_QUERY,
  instantSchema,
  nullableAmountSchema,
  PAGE_QUERY,
  pageSchema,
  optional,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

const count = z.number().int().nonnegative();
const raw = z.string().openapi({ pattern: '^(0|[1-9][0-9]{0,18})$' });
const fileUrl = z.string().nullable().openapi({ format: 'uri' });

export const BonusBatchSchema = z
  .object({
    id: uuidSchema,
    status: z.enum(BATCH_STATUSES),
    source_account: uuidSchema,
    description: z.string().nullable(),
    rows: count.openapi({ description: 'Rows in the file; while validating, those read so far.' }),
    rows_rejected: count.openapi({ description: 'Rows with a problem. One is enough for the whole file.' }),
    total: nullableAmountSchema.openapi({ description: 'Of the valid rows; null until the asset is known.' }),
    fees: nullableAmountSchema.openapi({ description: 'From ready on.' }),
    total_debit: nullableAmountSchema.openapi({ description: 'The total and the fees. From ready on.' }),
    duplicates: z
      .object({
        count: count.openapi({ description: 'Rows whose recipient an earlier row has.' }),
        rows: z.array(count).openapi({ description: 'The first 100 of them.' }),
        same_file_batch_id: uuidSchema
          .nullable()
          .openapi({ description: 'The newest earlier batch of the last 90 days with the same bytes.' }),
      })
      .nullable(),
    files: z.object({
      errors_url: fileUrl.openapi({
        description: 'Which row failed and why; with the rejection of the file, until it is removed.',
      }),
      result_url: fileUrl.openapi({
        description: 'What became of each row; with the end of the execution, until it is removed.',
      }),
    }),
    rejection: z
      .object({ code: z.enum(BATCH_REJECTIONS) })
      .nullable()
      .openapi({
        description:
          'Why a batch whose file was accepted is rejected: it was withdrawn, or nobody executed it in time.',
      }),
    created_at: instantSchema,
    executed_at: instantSchema.nullable(),
    finished_at: instantSchema.nullable(),
    funding: z
      .object({ available: raw, sufficient: z.boolean(), shortfall: raw })
      .nullable()
      .openapi({ description: 'While ready: whether the source account covers the debit now.' }),
    can_send: z.boolean().nullable().openapi({ description: 'While ready: whether the source account may send now.' }),
    progress: z.object({ paid: count, failed: count, pending: count }).nullable().openapi({
      description: 'Rows, once executed.',
    }),
  })
  .openapi('BonusBatch');

export const BonusBatchPageSchema = pageSchema('BonusBatchPage', BonusBatchSchema);

export const BonusBatchRowSchema = z
  .object({
    row: count.openapi({ description: 'As a spreadsheet shows it: the first data row is 2.' }),
    status: z.enum(BATCH_ROW_STATUSES),
    recipient: z.string().openapi({ description: 'As the file names it.' }),
    account_id: uuidSchema.openapi({ description: 'Whom it named when the file was validated.' }),
    amount: AmountSchema,
    fee: AmountSchema,
    description: z.string().nullable(),
    reference: z.string().nullable(),
    bonus_id: uuidSchema.nullable().openapi({ description: 'Once paid.' }),
    failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    paid_at: instantSchema.nullable(),
  })
  .openapi('BonusBatchRow');

export const BonusBatchRowPageSchema = pageSchema('BonusBatchRowPage', BonusBatchRowSchema);

export const BonusBatchQuery = z.strictObject({
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  status: z.enum(BATCH_STATUSES).optional(),
  source_account: uuidField.optional(),
  idempotency_key: uuidField.optional(),
});

export const BonusBatchRowQuery = z.strictObject({
  ...PAGE_QUERY,
  status: z.enum(BATCH_ROW_STATUSES).optional(),
});

const DESCRIPTION_LENGTH = 140;

/** The text fields of an upload; the file stands beside them. */
export const UploadForm = z
  .strictObject({ source_account: uuidField, description: optional(textField({ max: DESCRIPTION_LENGTH })) })
  .openapi('UploadBonusBatch');
