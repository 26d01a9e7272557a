import { amountJson } from '../core/amount.js';
import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { toRfc3339 } from '../core/instant.js';
import {
  BATCH_ROW_STATUSES,
  BATCH_STATUSES,
  type Batch,
  type BatchRow,
} from '../db/entities/batches.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import {
  AmountSchema,
  instantSchema,
  KEYED_QUERY,
  METADATA,
  PAGE_QUERY,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import {
  batchOfEventResource,
  type BatchOfEventSchema,
  batchResource,
  BonusBatchSchema,
} from './schemas.js';

export const BonusBatchPageSchema = pageSchema('BonusBatchPage', BonusBatchSchema);

const count = z.int().nonnegative();

const BonusBatchRowSchema = z
  .object({
    row: count.describe('As a spreadsheet shows it: the first data row is 2.'),
    status: z.enum(BATCH_ROW_STATUSES).describe('The state of the row.'),
    recipient: z.string().describe('As written in the file.'),
    account_id: uuidSchema.describe('The account it named when the file was validated.'),
    amount: AmountSchema.describe('The amount that the recipient receives.'),
    fee: AmountSchema.describe('The fee that the source account pays in addition.'),
    description: z.string().nullable().describe('As written in the file.'),
    reference: z.string().nullable().describe('Your own reference for it, from the file.'),
    metadata: METADATA.schema,
    bonus_id: uuidSchema.nullable().describe('Once paid.'),
    failure: z
      .object({
        code: z.string().describe('The cause, for machines.'),
        message: z.string().describe('The cause, for people.'),
      })
      .nullable()
      .describe('Why it could not be paid; null unless it failed.'),
    paid_at: instantSchema.nullable().describe('When it was paid; null until then.'),
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
  metadata: EXAMPLE.metadata,
  bonus_id: EXAMPLE.id,
  failure: null,
  paid_at: EXAMPLE.later,
});

export function presentBatchRow(
  row: BatchRow,
  batch: Pick<Batch, 'asset'>,
): Readonly<Record<string, unknown>> {
  const { asset } = batch;
  const amount = (raw: bigint) => (asset === null ? null : amountJson({ raw, asset }));
  return {
    row: row.number,
    status: row.status,
    recipient: row.recipient,
    account_id: row.recipientKey,
    amount: amount(row.raw),
    fee: amount(row.feeRaw),
    description: row.description,
    reference: row.reference,
    metadata: METADATA.read(row),
    bonus_id: row.paymentId,
    failure: row.code === null ? null : { code: row.code, message: row.message },
    paid_at: row.status === 'paid' && row.settledAt !== null ? toRfc3339(row.settledAt) : null,
  };
}

export const BonusBatchRowPageSchema = pageSchema('BonusBatchRowPage', BonusBatchRowSchema);

export const BonusBatchQuery = z.strictObject({
  ...KEYED_QUERY,
  status: z.enum(BATCH_STATUSES).optional().describe('Only batches in this state.'),
});

export const BonusBatchRowQuery = z.strictObject({
  ...PAGE_QUERY,
  status: z.enum(BATCH_ROW_STATUSES).optional().describe('Only rows in this state.'),
});

export const UploadForm = z
  .strictObject({
    source_account: uuidField.describe('The account that pays the bonuses and their fees.'),
    description: textField({ max: MAX_DESCRIPTION }).optional().describe('A text about the batch.'),
  })
  .openapi('UploadBonusBatch');
exampled(UploadForm, { source_account: EXAMPLE.source, description: 'November' });

const of = (raw: string) => ({ raw, asset: EXAMPLE.asset });

const NULL_UNLESS_READY = {
  funding: null,
  can_send: null,
  earlier_payments: null,
  total_formatted: null,
  fees_formatted: null,
  total_debit_formatted: null,
};
export const BATCH_EXAMPLES = {
  validating: {
    ...batchResource.example,
    ...NULL_UNLESS_READY,
    status: 'validating',
    rows: 0,
    total: null,
    fees: null,
    total_debit: null,
    duplicates: null,
    hidden: null,
    unread_sheets: null,
  },
  executing: {
    ...batchResource.example,
    ...NULL_UNLESS_READY,
    status: 'executing',
    executed_at: EXAMPLE.later,
    progress: { paid: 0, failed: 0, pending: 2 },
  },
  withdrawn: {
    ...batchResource.example,
    ...NULL_UNLESS_READY,
    status: 'rejected',
    finished_at: EXAMPLE.later,
    rejection: { code: 'withdrawn' },
  },
} satisfies Record<string, z.input<typeof BonusBatchSchema>>;

const files = `https://api.example.com/v1/bonus_batches/${EXAMPLE.id}/files`;
const EXECUTED = {
  ...batchOfEventResource.example,
  executed_at: EXAMPLE.at,
  finished_at: EXAMPLE.later,
  files: { errors_url: null, result_url: `${files}/result` },
};
export const BATCH_EVENT_EXAMPLES = {
  ready: batchOfEventResource.example,
  rejected: {
    ...batchOfEventResource.example,
    status: 'rejected',
    rows_rejected: 1,
    total: of('150000'),
    fees: null,
    total_debit: null,
    duplicates: null,
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
    'row,column,code,message,value\r\n3,recipient,not_found,"no account can be paid under ""$anna""",$anna\r\n',
  result: `${RESULT_COLUMNS}\r\n2,NOV-0001,$ana,150000,${EXAMPLE.asset},paid,${EXAMPLE.id},150,,,${EXAMPLE.later}\r\n`,
};
