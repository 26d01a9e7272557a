import { MAX_DESCRIPTION } from '../core/checked-text.js';
import { TRANSFER_STATUSES } from '../db/entities/operations.js';
import {
  APPROVABLE,
  APPROVAL,
  REJECTION,
  rejectBody,
  RejectionSchema,
} from '../approvals/schemas.js';
import { EXAMPLE, exampled } from '../http/examples.js';
import { OPERATION_QUERY } from '../http/operation-query.js';
import {
  amountField,
  boundedOfAsset,
  optional,
  pageSchema,
  textField,
  uuidField,
  uuidSchema,
} from '../http/schemas.js';
import { z } from '../http/zod.js';

/** Source and destination differ. (docs/contract.md, Transfers) */
export const CreateTransferBody = z
  .strictObject({
    source_account: uuidField,
    destination: z.strictObject({ type: z.literal('account'), account_id: uuidField }),
    amount: amountField,
    description: optional(textField({ max: MAX_DESCRIPTION })),
  })
  .refine(differs, {
    path: ['destination', 'account_id'],
    error: 'same_as_source',
    // Runs also if there are other faults, because all problems are reported at once.
    when: () => true,
  })
  .openapi('CreateTransfer');
exampled(CreateTransferBody, {
  source_account: EXAMPLE.source,
  destination: { type: 'account', account_id: EXAMPLE.destination },
  amount: EXAMPLE.amount,
  description: 'Lunch',
});

export const TransferSchema = z
  .object({
    id: uuidSchema,
    scope: z.literal('internal'),
    status: z.enum(TRANSFER_STATUSES),
    source_account: uuidSchema,
    destination: z.object({ type: z.literal('account'), account_id: uuidSchema }),
    ...APPROVABLE,
    rejection: RejectionSchema.openapi({
      description:
        '`rejected` or `canceled` by a person, or the code of the rule that refused it at its last approval.',
    }),
  })
  .openapi('Transfer');

const COMPLETED: z.input<typeof TransferSchema> = {
  id: EXAMPLE.id,
  scope: 'internal',
  status: 'completed',
  source_account: EXAMPLE.source,
  destination: { type: 'account', account_id: EXAMPLE.destination },
  amount: EXAMPLE.amount,
  fee: EXAMPLE.fee,
  description: 'Lunch',
  created_at: EXAMPLE.at,
  approval: null,
  rejection: null,
};
exampled(TransferSchema, COMPLETED);

export const TRANSFER_EXAMPLES = {
  pending: { ...COMPLETED, status: 'pending_approval', approval: APPROVAL },
  approved: { ...COMPLETED, approval: { ...APPROVAL, received: 1 } },
  rejected: {
    ...{ ...COMPLETED, status: 'rejected', approval: APPROVAL },
    rejection: REJECTION,
  },
  canceled: {
    ...{ ...COMPLETED, status: 'rejected', approval: APPROVAL },
    rejection: { code: 'canceled', reason: null },
  },
  expired: { ...COMPLETED, status: 'expired', approval: APPROVAL },
} satisfies Record<string, z.input<typeof TransferSchema>>;

export const RejectBody = rejectBody('Reject');

export const TransferPageSchema = pageSchema('TransferPage', TransferSchema);

export const TransferQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    status: z.enum(TRANSFER_STATUSES).optional(),
    destination_account: uuidField.optional(),
  }),
);

/**
 * Returns false if source and destination are well formed and equal. Reads the body before its
 * fields are validated.
 */
function differs(body: unknown): boolean {
  const { source_account: source, destination } = asRecord(body);
  const { account_id: target } = asRecord(destination);
  return (
    typeof source !== 'string' ||
    typeof target !== 'string' ||
    source.toLowerCase() !== target.toLowerCase()
  );
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
