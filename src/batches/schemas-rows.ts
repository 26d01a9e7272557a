import { RULE_MEANINGS } from '../approvals/schemas.js';
import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import {
  BATCH_ROW_STATUSES,
  type Batch,
  type BatchKindName,
  type BatchRow,
  type BatchRowStatus,
} from '../db/entities/batches.js';
import { BANK_ACCOUNT_TYPES } from '../db/entities/payouts.js';
import { withValues } from '../http/resource.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { AmountSchema, codeSchema, instantSchema, METADATA, uuidSchema } from '../http/schemas.js';
import { destinationOf } from './kinds/payout.js';

/** How the rows of a kind are shown. */
interface RowResource {
  readonly schema: z.ZodType;
  /** The shown states, in the order of `BATCH_ROW_STATUSES`. */
  readonly statuses: readonly [string, ...string[]];
  readonly present: (
    row: BatchRow,
    batch: Pick<Batch, 'asset'>,
  ) => Readonly<Record<string, unknown>>;
}

const START = {
  row: z.int().nonnegative().describe('As a spreadsheet shows it: the first data row is 2.'),
  status: z.enum(BATCH_ROW_STATUSES).describe(
    withValues<BatchRowStatus>('The state.', {
      pending: 'not paid yet',
      paid: 'paid. Final',
      failed: 'not paid, as `failure` says. Final',
    }),
  ),
};
const PAYMENT = {
  amount: AmountSchema.describe('The amount that the recipient receives.'),
  fee: AmountSchema.describe('The fee that the source account pays in addition.'),
  description: z.string().nullable().describe('As written in the file.'),
  reference: z.string().nullable().describe('Your own reference for it, from the file.'),
  metadata: METADATA.schema,
};
const { not_found, ...RULES } = RULE_MEANINGS;
const PAYOUT_FAILURES = {
  ...RULES,
  invalid_field: 'no rail pays out to the country, or takes the amount. Ask your operator',
  canceled: 'support canceled the batch first. Ask your operator why',
};
/** The values of `failure.code`: what each means, and what to do. */
export const ROW_FAILURES: Readonly<Record<BatchKindName, Readonly<Record<string, string>>>> = {
  bonus: { ...PAYOUT_FAILURES, invalid_field: RULES.invalid_field, not_found },
  payout: PAYOUT_FAILURES,
};

function failureSchema(kind: BatchKindName) {
  return z
    .object({
      code: codeSchema(ROW_FAILURES[kind]),
      message: z.string().describe('The cause, for people.'),
    })
    .nullable()
    .describe('Why it could not be paid; null unless it failed.');
}

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
      failure: failureSchema('bonus'),
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

/** `created` in place of `paid`: whether the money arrives is known only later. */
export const PAYOUT_ROW_STATUSES = ['pending', 'created', 'failed'] as const;

const PAYOUT_ROW = exampled(
  z
    .object({
      row: START.row,
      status: z.enum(PAYOUT_ROW_STATUSES).describe(
        withValues<(typeof PAYOUT_ROW_STATUSES)[number]>('The state.', {
          pending: 'not a payout yet',
          created: 'a payout, whose own state says whether it is paid. Final',
          failed: 'never a payout, as `failure` says. Final',
        }),
      ),
      destination: z
        .object({
          type: z.literal('bank_account').describe('Always `bank_account`.'),
          country: z.string().describe('The country of the bank, in ISO 3166 alpha-2.'),
          bank_code: z.string().describe('The code of the bank in its country.'),
          account_type: z.enum(BANK_ACCOUNT_TYPES).describe('The kind of account.'),
          account_number: z.string().describe('Masked: at most its last four characters.'),
          holder_name: z.string().describe('Who holds the account.'),
          holder_document: z.string().describe('Masked: at most its last four characters.'),
        })
        .describe('The bank account that receives the amount.'),
      ...PAYMENT,
      payout_id: uuidSchema.nullable().describe('Once created.'),
      failure: failureSchema('payout'),
      created_at: instantSchema
        .nullable()
        .describe('When the payout was created; null until then.'),
    })
    .openapi('PayoutBatchRow'),
  {
    row: 2,
    status: 'created',
    destination: {
      type: 'bank_account',
      country: 'CO',
      bank_code: '0007',
      account_type: 'savings',
      account_number: '****6789',
      holder_name: 'Ana María Pérez',
      holder_document: '****4050',
    },
    amount: EXAMPLE.amount,
    fee: EXAMPLE.fee,
    description: 'Invoice 2041',
    reference: 'INV-2041',
    metadata: EXAMPLE.metadata,
    payout_id: EXAMPLE.id,
    failure: null,
    created_at: EXAMPLE.later,
  },
);

function presentDestination(row: BatchRow) {
  const { country, bankCode, accountType, accountEnd, documentEnd } = destinationOf(row);
  return {
    type: 'bank_account',
    country,
    bank_code: bankCode,
    account_type: accountType,
    account_number: `****${accountEnd}`,
    holder_name: row.recipient,
    holder_document: `****${documentEnd}`,
  };
}

export const ROW_RESOURCES: Readonly<Record<BatchKindName, RowResource>> = {
  bonus: {
    schema: BONUS_ROW,
    statuses: BATCH_ROW_STATUSES,
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
  payout: {
    schema: PAYOUT_ROW,
    statuses: PAYOUT_ROW_STATUSES,
    present: (row, batch) => ({
      row: row.number,
      status: row.status === 'paid' ? 'created' : row.status,
      destination: presentDestination(row),
      ...presentPayment(row, batch),
      payout_id: row.paymentId,
      failure: failureOf(row),
      created_at: settledAt(row),
    }),
  },
};
