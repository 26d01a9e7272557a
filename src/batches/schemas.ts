import { EXAMPLE_ASSET, formatAmount } from '../core/amount.js';
import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { BATCH_REJECTIONS, BATCH_ROW_STATUSES, BATCH_STATUSES } from '../db/entities/bonuses.js';
import { EXAMPLE, exampled } from '../http/examples.js';
import { KEYED_QUERY } from '../http/operation-query.js';
import {
  AmountSchema,
  instantSchema,
  nullableAmountSchema,
  PAGE_QUERY,
  pageSchema,
  rawSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

const count = z.number().int().nonnegative();
const exampleOf = (raw: bigint): string => formatAmount({ raw, asset: EXAMPLE_ASSET });
const formatted = z
  .string()
  .nullable()
  .openapi({ description: `While ready: the amount for people, such as ${exampleOf(150_000n)}.` });
const fileUrl = z.string().nullable().openapi({ format: 'uri' });

export const BonusBatchSchema = z
  .object({
    id: uuidSchema,
    status: z.enum(BATCH_STATUSES),
    source_account: uuidSchema,
    description: z.string().nullable(),
    rows: count.openapi({ description: 'Rows in the file; while validating, those read so far.' }),
    rows_rejected: count.openapi({
      description: 'Rows with a problem. One is enough to reject the whole file.',
    }),
    total: nullableAmountSchema.openapi({
      description: 'Of the valid rows; null until the asset is known.',
    }),
    fees: nullableAmountSchema.openapi({ description: 'Once ready.' }),
    total_debit: nullableAmountSchema.openapi({
      description: 'The total plus the fees. Once ready.',
    }),
    duplicates: z
      .object({
        count: count.openapi({ description: 'Rows with the same recipient as an earlier row.' }),
        rows: z.array(count).openapi({ description: 'The first 100 of them.' }),
        same_file_batch_id: uuidSchema.nullable().openapi({
          description:
            'The most recent earlier batch with the same bytes, within the last 90 days.',
        }),
      })
      .nullable(),
    hidden: z
      .object({
        rows: count.openapi({
          description: 'Rows that are hidden in the spreadsheet. They are paid like all rows.',
        }),
        skipped_sheets: count.openapi({
          description: 'Hidden sheets before the sheet that was read. Their rows are not paid.',
        }),
      })
      .nullable()
      .openapi({ description: 'Once validated.' }),
    files: z.object({
      errors_url: fileUrl.openapi({
        description: 'Which rows failed and why; from the rejection until retention removes it.',
      }),
      result_url: fileUrl.openapi({
        description:
          'The outcome of each row; from the end of the execution until retention removes it.',
      }),
    }),
    rejection: z
      .object({ code: z.enum(BATCH_REJECTIONS) })
      .nullable()
      .openapi({
        description:
          'Why a batch whose file was accepted was rejected: it was withdrawn, or nobody executed it in time.',
      }),
    created_at: instantSchema,
    executed_at: instantSchema.nullable(),
    finished_at: instantSchema.nullable(),
    funding: z
      .object({ available: rawSchema, sufficient: z.boolean(), shortfall: rawSchema })
      .nullable()
      .openapi({ description: 'While ready: whether the source account covers the debit now.' }),
    can_send: z
      .boolean()
      .nullable()
      .openapi({ description: 'While ready: whether the source account may send now.' }),
    earlier_payments: z
      .object({
        count: count.openapi({ description: 'Rows of the file.' }),
        rows: z
          .array(
            z.object({
              row: count,
              batch_id: uuidSchema.nullable().openapi({
                description: 'The batch that paid or will pay; null for a single bonus.',
              }),
              bonus_id: uuidSchema.nullable().openapi({
                description: 'The newest bonus that paid; null if the other batch has yet to pay.',
              }),
            }),
          )
          .openapi({ description: 'The first 100 of them.' }),
      })
      .nullable()
      .openapi({
        description:
          'While ready, when one batch is read: the rows whose reference the tenant paid to the same account within the last 90 days, by another batch or a single bonus, and those that another batch, ready or executing, will pay. A warning.',
      }),
    total_formatted: formatted,
    fees_formatted: formatted,
    total_debit_formatted: formatted,
    progress: z.object({ paid: count, failed: count, pending: count }).nullable().openapi({
      description: 'Rows, once executed.',
    }),
  })
  .openapi('BonusBatch');

/** The batch in events, without the fields that are only valid at the time of a response. */
export const BatchOfEventSchema = BonusBatchSchema.omit({
  funding: true,
  can_send: true,
  earlier_payments: true,
  total_formatted: true,
  fees_formatted: true,
  total_debit_formatted: true,
  progress: true,
}).openapi('BonusBatchOfEvent');

const of = (raw: string): z.input<typeof AmountSchema> => ({ raw, asset: EXAMPLE.asset });

const READY: z.input<typeof BatchOfEventSchema> = {
  id: EXAMPLE.id,
  status: 'ready',
  source_account: EXAMPLE.source,
  description: 'November',
  rows: 2,
  rows_rejected: 0,
  total: of('300000'),
  fees: of('300'),
  total_debit: of('300300'),
  duplicates: { count: 0, rows: [], same_file_batch_id: null },
  hidden: { rows: 0, skipped_sheets: 0 },
  files: { errors_url: null, result_url: null },
  rejection: null,
  created_at: EXAMPLE.at,
  executed_at: null,
  finished_at: null,
};
const REVIEWED: z.input<typeof BonusBatchSchema> = {
  ...READY,
  funding: { available: '49850000', sufficient: true, shortfall: '0' },
  can_send: true,
  earlier_payments: { count: 0, rows: [] },
  total_formatted: exampleOf(300_000n),
  fees_formatted: exampleOf(300n),
  total_debit_formatted: exampleOf(300_300n),
  progress: null,
};
exampled(BatchOfEventSchema, READY);
exampled(BonusBatchSchema, REVIEWED);

const NOT_NOW = {
  funding: null,
  can_send: null,
  earlier_payments: null,
  total_formatted: null,
  fees_formatted: null,
  total_debit_formatted: null,
};
/** Examples of responses in other states of a batch. */
export const BATCH_EXAMPLES = {
  validating: {
    ...{ ...REVIEWED, ...NOT_NOW, status: 'validating', rows: 0 },
    ...{ total: null, fees: null, total_debit: null, duplicates: null, hidden: null },
  },
  executing: {
    ...{ ...REVIEWED, ...NOT_NOW, status: 'executing', executed_at: EXAMPLE.later },
    progress: { paid: 0, failed: 0, pending: 2 },
  },
  withdrawn: {
    ...{ ...REVIEWED, ...NOT_NOW, status: 'rejected', finished_at: EXAMPLE.later },
    rejection: { code: 'withdrawn' },
  },
} satisfies Record<string, z.input<typeof BonusBatchSchema>>;

const files = `https://api.example.com/v1/bonus_batches/${EXAMPLE.id}/files`;
const EXECUTED = {
  ...{ ...READY, executed_at: EXAMPLE.at, finished_at: EXAMPLE.later },
  files: { errors_url: null, result_url: `${files}/result` },
};
export const BATCH_EVENT_EXAMPLES = {
  ready: READY,
  rejected: {
    ...{ ...READY, status: 'rejected', rows_rejected: 1, total: of('150000') },
    ...{ fees: null, total_debit: null, duplicates: null },
    files: { errors_url: `${files}/errors`, result_url: null },
  },
  completed: { ...EXECUTED, status: 'completed' },
  partiallyFailed: { ...EXECUTED, status: 'partially_failed' },
} satisfies Record<string, z.input<typeof BatchOfEventSchema>>;

const RESULT_COLUMNS =
  'row,reference,recipient,amount,asset,status,bonus_id,fee,code,message,paid_at';
export const FILE_EXAMPLES = {
  template: `recipient,amount,asset,description,reference\r\n$example-delete-this-row,150000,${EXAMPLE.asset},Bonus for November,NOV-0001\r\n`,
  errors:
    'row,column,code,message,value\r\n3,recipient,not_found,nobody who can be paid has this alias,$anna\r\n',
  result: `${RESULT_COLUMNS}\r\n2,NOV-0001,$ana,150000,${EXAMPLE.asset},paid,${EXAMPLE.id},150,,,${EXAMPLE.later}\r\n`,
};

export const BonusBatchPageSchema = pageSchema('BonusBatchPage', BonusBatchSchema);

const BonusBatchRowSchema = z
  .object({
    row: count.openapi({ description: 'As a spreadsheet shows it: the first data row is 2.' }),
    status: z.enum(BATCH_ROW_STATUSES),
    recipient: z.string().openapi({ description: 'As written in the file.' }),
    account_id: uuidSchema.openapi({
      description: 'The account it named when the file was validated.',
    }),
    amount: AmountSchema,
    fee: AmountSchema,
    description: z.string().nullable(),
    reference: z.string().nullable(),
    bonus_id: uuidSchema.nullable().openapi({ description: 'Once paid.' }),
    failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    paid_at: instantSchema.nullable(),
  })
  .openapi('BonusBatchRow');
exampled(BonusBatchRowSchema, {
  row: 2,
  status: 'paid',
  recipient: '$ana',
  account_id: EXAMPLE.destination,
  amount: EXAMPLE.amount,
  fee: EXAMPLE.fee,
  description: 'Bonus for November',
  reference: 'NOV-0001',
  bonus_id: EXAMPLE.id,
  failure: null,
  paid_at: EXAMPLE.later,
});

export const BonusBatchRowPageSchema = pageSchema('BonusBatchRowPage', BonusBatchRowSchema);

export const BonusBatchQuery = z.strictObject({
  ...KEYED_QUERY,
  status: z.enum(BATCH_STATUSES).optional(),
});

export const BonusBatchRowQuery = z.strictObject({
  ...PAGE_QUERY,
  status: z.enum(BATCH_ROW_STATUSES).optional(),
});

export const UploadForm = z
  .strictObject({
    source_account: uuidField,
    description: textField({ max: MAX_DESCRIPTION }).optional(),
  })
  .openapi('UploadBonusBatch');
exampled(UploadForm, { source_account: EXAMPLE.source, description: 'November' });
