import {
  REFUNDED_TYPES,
  type RefundedType,
  type Transfer,
  TRANSFER_STATUSES,
  type TransferStatus,
} from '../db/entities/operations.js';
import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import {
  approvableFields,
  APPROVAL,
  rejectBody,
  REJECTION,
  rejectionField,
  TRANSFER_REJECTIONS,
} from '../approvals/schemas.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import {
  amountField,
  AmountSchema,
  boundedOfAsset,
  instantSchema,
  nullableAmountSchema,
  OPERATION_QUERY,
  optional,
  pageSchema,
  paymentBody,
  paymentRequest,
  SOURCE_ACCOUNT,
  sourceField,
  uuidField,
  uuidSchema,
  wholeNumber,
} from '../http/schemas.js';
import { defineResource, fieldsOf, withValues } from '../http/resource.js';
import type { RefundRequest, TransferRequest } from './rules.js';

const CAPTURES = ['automatic', 'manual'] as const;
const DEFAULT_CAPTURE_S = 604_800;

const transferBody = {
  source_account: sourceField,
  destination: z
    .strictObject({
      type: z.literal('account').describe('Always `account`.'),
      account_id: uuidField.describe('An account of your tenant or network.'),
    })
    .describe('The receiver of the amount.'),
  ...paymentBody('destination', 'A text that both parties see.'),
};
const DIFFERENT_ACCOUNTS = {
  path: ['destination', 'account_id'],
  error: 'same_as_source',
  // Runs also if there are other faults, because all problems are reported at once.
  when: () => true,
};

/** Source and destination differ. (docs/contract.md, Transfers) */
export const CreateTransferBody = z
  .strictObject({
    ...transferBody,
    capture: optional(
      z.enum(CAPTURES).transform((capture) => (capture === 'manual' ? capture : undefined)),
    ).openapi({
      description:
        '`manual` holds amount and fee until the transfer is captured; by default `automatic`, which moves them at once.',
    }),
    capture_within_s: optional(wholeNumber(60, 2_592_000)).openapi({
      description: `With \`manual\`: seconds after which the transfer expires unless it was captured; by default ${DEFAULT_CAPTURE_S} (seven days).`,
    }),
  })
  .refine(({ capture, capture_within_s: within }) => within === undefined || capture === 'manual', {
    path: ['capture_within_s'],
    error: 'needs_manual_capture',
  })
  .refine(accountsDiffer, DIFFERENT_ACCOUNTS)
  .openapi('CreateTransfer');
export const CREATE_TRANSFER_EXAMPLE = {
  source_account: EXAMPLE.source,
  destination: { type: 'account', account_id: EXAMPLE.destination },
  amount: EXAMPLE.amount,
  description: 'Lunch',
  metadata: EXAMPLE.metadata,
  capture: 'automatic',
  capture_within_s: undefined,
} satisfies z.input<typeof CreateTransferBody>;
exampled(CreateTransferBody, CREATE_TRANSFER_EXAMPLE);

/** The transfer of a schedule. An amount of zero could never succeed. (docs/contract.md, Schedules) */
export const ScheduledTransferBody = z
  .strictObject(transferBody)
  .refine(({ amount }) => amount.raw > 0n, { path: ['amount', 'raw'], error: 'out_of_range' })
  .refine(accountsDiffer, DIFFERENT_ACCOUNTS)
  .openapi('ScheduledTransferInput');

export function transferRequest(body: z.output<typeof CreateTransferBody>): TransferRequest {
  const within = body.capture_within_s ?? DEFAULT_CAPTURE_S;
  return {
    destinationAccountId: body.destination.account_id,
    captureWithinS: body.capture === 'manual' ? within : null,
    ...paymentRequest(body),
  };
}

const field = fieldsOf<Transfer>();

export const transferResource = defineResource(
  'Transfer',
  'An amount that moves from an account of the tenant to another account, at once or after approval.',
  {
    id: field('The id of the transfer.', uuidSchema, EXAMPLE.id, ({ id }) => id, { ops: true }),
    scope: field(
      'Always `internal`: the money stays in the service.',
      z.literal('internal'),
      'internal',
      () => 'internal' as const,
    ),
    status: field(
      withValues<TransferStatus>('The state. Only `completed` has moved money.', {
        pending_approval:
          'other members must approve it. Becomes `completed`, or `held` if it is captured later; `rejected`; or `expired`',
        held: 'amount and fee are held until it is captured. Becomes `completed`, `rejected` or `expired`',
        completed: 'the destination has the amount. Final',
        rejected: 'a person or a rule ended it, as `rejection` says. Final',
        expired: 'it was not approved, or not captured, in time. Final',
      }),
      z.enum(TRANSFER_STATUSES),
      'completed',
      ({ status }) => status,
      { ops: true },
    ),
    source_account: SOURCE_ACCOUNT,
    destination: field(
      'The receiver of the amount.',
      z.object({
        type: z.literal('account').describe('Always `account`.'),
        account_id: uuidSchema.describe('The account that receives the amount.'),
      }),
      { type: 'account', account_id: EXAMPLE.destination },
      (transfer) => ({ type: 'account' as const, account_id: transfer.destinationAccountId }),
    ),
    ...approvableFields('Lunch'),
    capture: field(
      'Whether the money moves at once, or is held until it is captured.',
      z.enum(CAPTURES),
      'automatic',
      ({ captureWithinS }) => (captureWithinS === null ? 'automatic' : 'manual'),
      { ops: true },
    ),
    capture_expires_at: field(
      'When the transfer expires unless it is captured by then; null until it is `held`.',
      instantSchema.nullable(),
      null,
      ({ captureExpiresAt }) => toRfc3339(captureExpiresAt),
      { desk: 'Held until', ops: true },
    ),
    captured: field(
      'The amount that was captured; null until then.',
      nullableAmountSchema,
      null,
      ({ capturedRaw: raw, asset }) => (raw === null ? null : amountJson({ raw, asset })),
      { desk: 'Captured', ops: true },
    ),
    refunded: field(
      'The sum of its completed refunds.',
      AmountSchema,
      EXAMPLE.zero,
      ({ refundedRaw: raw, asset }) => amountJson({ raw, asset }),
      { ops: true },
    ),
    refund_of: field(
      'The transfer or bonus that it refunds; null unless it is a refund.',
      z
        .object({
          type: z.enum(REFUNDED_TYPES).describe('What it refunds.'),
          id: uuidSchema.describe('The id of what it refunds.'),
        })
        .nullable(),
      null,
      ({ refundOfType: type, refundOfId: id }) =>
        type === null || id === null ? null : { type, id },
    ),
    fee: field(
      'The fee that the source account pays in addition to the amount; once captured, that of the captured amount.',
      AmountSchema,
      EXAMPLE.fee,
      ({ capturedFeeRaw, feeRaw, asset }) => amountJson({ raw: capturedFeeRaw ?? feeRaw, asset }),
      { ops: true },
    ),
    rejection: rejectionField(
      'Why it is `rejected`: a person ended it, or a rule refused its last approval or its run of a schedule.',
      TRANSFER_REJECTIONS,
    ),
    schedule: field(
      'The run of the schedule that created it; null for a transfer that a request created.',
      z
        .object({
          id: uuidSchema.describe('The id of the schedule.'),
          run: z.int().describe('The number of the run, from 1.'),
          due_at: instantSchema.describe('When the run was due.'),
        })
        .nullable(),
      null,
      ({ scheduleId: id, scheduleRun: run, scheduleDueAt: dueAt }) =>
        id === null || run === null || dueAt === null
          ? null
          : { id, run, due_at: toRfc3339(dueAt) },
    ),
  },
);
export const TransferSchema = transferResource.schema;
const COMPLETED = transferResource.example;

export const TRANSFER_EXAMPLES = {
  pending: { ...COMPLETED, status: 'pending_approval', approval: APPROVAL },
  approved: { ...COMPLETED, approval: { ...APPROVAL, received: 1 } },
  rejected: { ...COMPLETED, status: 'rejected', approval: APPROVAL, rejection: REJECTION },
  canceled: {
    ...COMPLETED,
    status: 'rejected',
    approval: APPROVAL,
    rejection: { code: 'canceled', reason: null },
  },
  expired: { ...COMPLETED, status: 'expired', approval: APPROVAL },
  held: {
    ...COMPLETED,
    status: 'held',
    capture: 'manual',
    capture_expires_at: '2026-11-28T14:05:01.123Z',
  },
  captured: {
    ...COMPLETED,
    capture: 'manual',
    capture_expires_at: '2026-11-28T14:05:01.123Z',
    captured: EXAMPLE.amount,
  },
} satisfies Record<string, z.input<typeof TransferSchema>>;

/** The examples of the responses to a refund. */
export function refundExamples(type: RefundedType) {
  const completed = {
    ...COMPLETED,
    source_account: EXAMPLE.destination,
    destination: { type: 'account', account_id: EXAMPLE.source },
    fee: EXAMPLE.zero,
    description: 'Returned shoes',
    refund_of: { type, id: EXAMPLE.id },
  } satisfies z.input<typeof TransferSchema>;
  const pending = { ...completed, status: 'pending_approval', approval: APPROVAL };
  return { 200: completed, 201: completed, 202: pending };
}

export const CaptureBody = exampled(
  z
    .strictObject({
      amount: optional(amountField).openapi({
        description: 'At most the amount of the transfer; by default all of it.',
      }),
    })
    .openapi('CaptureTransfer'),
  { amount: EXAMPLE.amount },
);

export const RefundBody = exampled(
  z
    .strictObject({
      ...paymentBody('destination', 'A text that both parties see.'),
      amount: optional(amountField).openapi({
        description: 'At most what can still be refunded; by default all of it.',
      }),
    })
    .openapi('Refund'),
  { amount: EXAMPLE.amount, description: 'Returned shoes', metadata: EXAMPLE.metadata },
);

export function refundRequest(body: z.output<typeof RefundBody>): RefundRequest {
  const { amount = null, description = null, metadata = null } = body;
  return { amount, description, metadata };
}

export const RejectBody = rejectBody('Reject');

export const TransferPageSchema = pageSchema('TransferPage', TransferSchema);

export const TransferQuery = boundedOfAsset(
  z.strictObject({
    ...OPERATION_QUERY,
    status: z.enum(TRANSFER_STATUSES).optional().describe('Only transfers in this state.'),
    destination_account: uuidField.optional().describe('Paid to this account.'),
    schedule: uuidField.optional().describe('Created by this schedule.'),
    refund_of: uuidField.optional().describe('Only the refunds of this transfer or bonus.'),
  }),
);

/** Reads a body that is not validated yet. True unless both accounts are texts and equal. */
function accountsDiffer(body: unknown): boolean {
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
