import { amountJson, type Asset } from '../core/amount.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { EXAMPLE } from '../http/examples.js';
import { fieldsOf } from '../http/resource.js';
import { AmountSchema, instantSchema } from '../http/schemas.js';
import { z } from '../http/zod.js';
import { type ApprovalColumns, waitingOf } from './rules.js';

interface ApprovableRow extends ApprovalColumns {
  readonly asset: Asset;
  readonly raw: bigint;
  readonly feeRaw: bigint;
  readonly description: string | null;
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
  const waiting = waitingOf(row);
  if (waiting === null) return null;
  const { required, received, expiresAt } = waiting;
  return { required, received, expires_at: toRfc3339(expiresAt) };
}
