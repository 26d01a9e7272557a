import { TRANSFER_STATUSES } from '../db/entities/operations.js';
import {
  AMOUNT_QUERY,
  amountField,
  AmountSchema,
  boundedOfAsset,
  CREATED_AT_QUERY,
  instantSchema,
  optional,
  PAGE_QUERY,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

const DESCRIPTION_LENGTH = 140;
const REASON_LENGTH = 140;

/** Source and destination differ. (docs/contract.md, Transfers) */
export const CreateTransferBody = z
  .strictObject({
    source_account: uuidField,
    destination: z.strictObject({ type: z.literal('account'), account_id: uuidField }),
    amount: amountField,
    description: optional(textField({ max: DESCRIPTION_LENGTH })),
  })
  .refine(differs, {
    path: ['destination', 'account_id'],
    error: 'same_as_source',
    // Also beside other faults: all problems are told at once.
    when: () => true,
  })
  .openapi('CreateTransfer');

export const TransferSchema = z
  .object({
    id: uuidSchema,
    scope: z.literal('internal'),
    status: z.enum(TRANSFER_STATUSES),
    source_account: uuidSchema,
    destination: z.object({ type: z.literal('account'), account_id: uuidSchema }),
    amount: AmountSchema,
    fee: AmountSchema,
    description: z.string().nullable(),
    created_at: instantSchema,
    approval: z
      .object({ required: z.int(), received: z.int(), expires_at: instantSchema })
      .nullable()
      .openapi({ description: 'What approvals it waits or waited for; null where none were needed.' }),
    rejection: z.object({ code: z.string(), reason: z.string().nullable() }).nullable().openapi({
      description: '`rejected` or `canceled` by a person, or the code of the rule that refused it at its end.',
    }),
  })
  .openapi('Transfer');

export const RejectBody = z
  .strictObject({
    reason: textField({ min: 1, max: REASON_LENGTH }).refine((text) => text.trim() !== '', 'too_short'),
  })
  .openapi('Reject');

export const TransferPageSchema = pageSchema('TransferPage', TransferSchema);

export const TransferQuery = boundedOfAsset(
  z.strictObject({
    ...PAGE_QUERY,
    ...CREATED_AT_QUERY,
    ...AMOUNT_QUERY,
    status: z.enum(TRANSFER_STATUSES).optional(),
    source_account: uuidField.optional(),
    destination_account: uuidField.optional(),
    idempotency_key: uuidField.optional(),
    request_id: uuidField.optional(),
  }),
);

/** False when source and destination are well formed and the same. Sees the body before its fields are known to be right. */
function differs(body: unknown): boolean {
  const { source_account: source, destination } = asRecord(body);
  const { account_id: target } = asRecord(destination);
  return typeof source !== 'string' || typeof target !== 'string' || source.toLowerCase() !== target.toLowerCase();
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
