import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import {
  BATCH_ROW_STATUSES,
  type Batch,
  type BatchKindName,
  type BatchRow,
} from '../db/entities/batches.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { AmountSchema, instantSchema, METADATA, uuidSchema } from '../http/schemas.js';

/** How the rows of a kind are shown. */
interface RowResource {
  readonly schema: z.ZodType;
  readonly present: (
    row: BatchRow,
    batch: Pick<Batch, 'asset'>,
  ) => Readonly<Record<string, unknown>>;
}

const START = {
  row: z.int().nonnegative().describe('As a spreadsheet shows it: the first data row is 2.'),
  status: z.enum(BATCH_ROW_STATUSES).describe('The state of the row.'),
};
const PAYMENT = {
  amount: AmountSchema.describe('The amount that the recipient receives.'),
  fee: AmountSchema.describe('The fee that the source account pays in addition.'),
  description: z.string().nullable().describe('As written in the file.'),
  reference: z.string().nullable().describe('Your own reference for it, from the file.'),
  metadata: METADATA.schema,
};
const FAILURE = z
  .object({
    code: z.string().describe('The cause, for machines.'),
    message: z.string().describe('The cause, for people.'),
  })
  .nullable()
  .describe('Why it could not be paid; null unless it failed.');

function presentPayment(row: BatchRow, { asset }: Pick<Batch, 'asset'>) {
  const amount = (raw: bigint) => (asset === null ? null : amountJson({ raw, asset }));
  return {
    amount: amount(row.raw),
    fee: amount(row.feeRaw),
    description: row.description,
    reference: row.reference,
    metadata: METADATA.read(row),
  };
}

function failureOf({ code, message }: BatchRow) {
  return code === null ? null : { code, message };
}

function settledAt({ status, settledAt: at }: BatchRow): string | null {
  return status === 'paid' ? toRfc3339(at) : null;
}

const BONUS_ROW = exampled(
  z
    .object({
      ...START,
      recipient: z.string().describe('As written in the file.'),
      account_id: uuidSchema.describe('The account it named when the file was validated.'),
      ...PAYMENT,
      bonus_id: uuidSchema.nullable().describe('Once paid.'),
      failure: FAILURE,
      paid_at: instantSchema.nullable().describe('When it was paid; null until then.'),
    })
    .openapi('BonusBatchRow'),
  {
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
  },
);

export const ROW_RESOURCES: Readonly<Record<BatchKindName, RowResource>> = {
  bonus: {
    schema: BONUS_ROW,
    present: (row, batch) => ({
      row: row.number,
      status: row.status,
      recipient: row.recipient,
      account_id: row.recipientKey,
      ...presentPayment(row, batch),
      bonus_id: row.paymentId,
      failure: failureOf(row),
      paid_at: settledAt(row),
    }),
  },
};
