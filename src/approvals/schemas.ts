import { amountJson, type Asset, ASSETS } from '../core/amount.js';
import { MAX_REASON } from '../core/checked-text.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import { EXAMPLE, exampled, z } from '../http/zod.js';
import { fieldsOf } from '../http/resource.js';
import {
  AmountSchema,
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

const RejectionSchema = z
  .object({
    code: z.string().describe('The cause, for machines.'),
    reason: z.string().nullable().describe('The reason that a person gave; null without one.'),
  })
  .nullable();

export function rejectionField(meaning: string) {
  return field(
    meaning,
    RejectionSchema,
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
