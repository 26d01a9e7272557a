import { amountJson, type Asset, ASSETS } from '../core/amount.js';
import { type SPENDING_CODES } from '../core/error-table.js';
import { MAX_REASON } from '../core/checked-text.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { fieldsOf } from '../http/resource.js';
import {
  AmountSchema,
  codeSchema,
  instantSchema,
  METADATA,
  optional,
  rawField,
  rawSchema,
  textField,
  uuidSchema,
  wholeNumber,
} from '../http/schemas.js';
import { DEFAULT_EXPIRY_S, MAX_APPROVALS, MAX_EXPIRY_S, MIN_EXPIRY_S } from './policies.js';
import { batchRule } from './policy-rules.js';
import { type ApprovalColumns, approvalProgress } from './rules.js';

interface ApprovableRow extends ApprovalColumns {
  readonly asset: Asset;
  readonly raw: bigint;
  readonly feeRaw: bigint;
  readonly description: string | null;
  readonly metadata: Metadata | null;
  readonly createdAt: Instant;
  readonly rejectionCode: string | null;
  readonly rejectionReason: string | null;
}

const field = fieldsOf<ApprovableRow>();

export const APPROVAL = { required: 1, received: 0, expires_at: '2026-11-28T14:05:01.123Z' };
const ApprovalSchema = z
  .object({
    required: z.int().describe('How many approvals it needs.'),
    received: z.int().describe('How many approvals it has.'),
    expires_at: instantSchema.describe('When it ends unless it was approved by then.'),
  })
  .nullable();

/** The fields that transfers and payouts share. */
export function approvableFields(description: string) {
  return {
    amount: field(
      'The amount that the destination receives.',
      AmountSchema,
      EXAMPLE.amount,
      ({ raw, asset }) => amountJson({ raw, asset }),
      { ops: true },
    ),
    fee: field(
      'The fee that the source account pays in addition to the amount.',
      AmountSchema,
      EXAMPLE.fee,
      ({ feeRaw: raw, asset }) => amountJson({ raw, asset }),
      { ops: true },
    ),
    description: field(
      'The text that was given with the request.',
      z.string().nullable(),
      description,
      (row) => row.description,
      { desk: 'Description' },
    ),
    metadata: METADATA,
    created_at: field(
      'When the request was accepted.',
      instantSchema,
      EXAMPLE.at,
      ({ createdAt }) => toRfc3339(createdAt),
      { ops: true },
    ),
    approval: field(
      'The approvals that it needs or needed; null if it needed none.',
      ApprovalSchema,
      null,
      presentApproval,
    ),
  };
}

/** Why a rule refuses an accepted payment, and what to do. (docs/contract.md, Approval) */
export const RULE_MEANINGS = {
  capability_cannot_send:
    'the source account is frozen, closed or not verified. Verify it, or ask your operator',
  not_found: 'the destination was closed, or is out of reach. Ask for another account',
  invalid_field: 'the balance of the destination would become too large. Pay less',
  below_minimum: 'the amount is below the minimum of one operation. Pay more',
  above_per_operation_limit: 'the amount is above the maximum of one operation. Split it',
  monthly_limit_exceeded:
    'the amount is above what is left of the month. Pay it next month, or ask your operator for a higher limit',
  insufficient_funds: 'the available balance does not cover amount and fee. Fund the account',
} as const satisfies Readonly<
  Record<(typeof SPENDING_CODES)[number] | 'not_found' | 'invalid_field', string>
>;

/** The values of `rejection.code`. A last approval checks less than a run of a schedule. */
export const PAYOUT_REJECTIONS = {
  rejected: 'an approver or support rejected it, as `reason` says. Settle it with them',
  capability_cannot_send: RULE_MEANINGS.capability_cannot_send,
} as const;
export const TRANSFER_REJECTIONS = {
  rejected: PAYOUT_REJECTIONS.rejected,
  canceled: 'its creator, an admin, an owner or support canceled it. Nothing is left to do',
  ...RULE_MEANINGS,
  authority_insufficient:
    'the member who created the schedule has lost the role. Cancel it, and have another create it',
} as const;

export function rejectionField(meaning: string, codes: Readonly<Record<string, string>>) {
  const schema = z.object({
    code: codeSchema(codes),
    reason: z.string().nullable().describe("A person's reason, or a rule's; null without one."),
  });
  return field(
    meaning,
    schema.nullable(),
    null,
    ({ rejectionCode: code, rejectionReason: reason }) => (code === null ? null : { code, reason }),
  );
}

function presentApproval(row: ApprovalColumns): z.output<typeof ApprovalSchema> {
  const progress = approvalProgress(row);
  if (progress === null) return null;
  const { required, received, expiresAt } = progress;
  return { required, received, expires_at: toRfc3339(expiresAt) };
}

export const PolicyBody = z
  .strictObject({
    threshold: rawField,
    approvals: wholeNumber(1, MAX_APPROVALS).describe('How many approvals such an amount needs.'),
    expires_in_s: optional(wholeNumber(MIN_EXPIRY_S, MAX_EXPIRY_S)).openapi({
      description: `Seconds; by default ${DEFAULT_EXPIRY_S} (seven days).`,
    }),
    refuses_batches: optional(z.boolean()).openapi({
      description:
        'Whether validation rejects a batch whose total reaches the threshold; false by default.',
    }),
  })
  .openapi('SetApprovalPolicy');
exampled(PolicyBody, {
  threshold: '1000000',
  approvals: 1,
  expires_in_s: 86_400,
  refuses_batches: false,
});

const settings = {
  threshold: rawSchema.openapi({ description: 'Amounts that reach it need approval.' }),
  approvals: z.int().describe('How many approvals such an amount needs.'),
  expires_in_s: z.int().describe('How many seconds an operation waits for its approvals.'),
  refuses_batches: z
    .boolean()
    .describe('Whether validation rejects a batch whose total reaches the threshold.'),
};

export const PolicySchema = z
  .object({
    account_id: uuidSchema.describe('The source account that the policy applies to.'),
    asset: z.enum(ASSETS).describe('The asset that the policy applies to.'),
    ...settings,
    batch_rule: z.string().openapi({
      description:
        'What the policy means for a batch whose total reaches the threshold, as a sentence.',
    }),
    pending: z
      .object({
        policy: z
          .object(settings)
          .nullable()
          .openapi({ description: 'Null: the policy is removed.' }),
        effective_at: instantSchema.describe('When the change takes effect.'),
      })
      .nullable()
      .openapi({ description: 'The change to come; null if there is none.' }),
  })
  .openapi('ApprovalPolicy');
exampled(PolicySchema, {
  account_id: EXAMPLE.source,
  asset: EXAMPLE.asset,
  threshold: '1000000',
  approvals: 1,
  expires_in_s: 86_400,
  refuses_batches: false,
  batch_rule: batchRule({
    threshold: 1_000_000n,
    approvals: 1,
    expiresInS: 86_400,
    refusesBatches: false,
  }),
  pending: null,
});

const REASON = 'The invoice was paid already';
export const REJECTION = { code: 'rejected', reason: REASON };

export function rejectBody(name: string) {
  const reason = textField({ min: 1, max: MAX_REASON })
    .refine((text) => text.trim() !== '', 'too_short')
    .describe('The reason, which the resource and its events show.');
  return exampled(z.strictObject({ reason }).openapi(name), { reason: REASON });
}
