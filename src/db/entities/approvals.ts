import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { AUDIT_CHANNELS } from './identity.js';

/** What has to be approved, and by whom it was. */

const APPROVED_TYPES = ['transfer', 'payout', 'bonus_batch'] as const;

/**
 * From which amount on an account's operations need approvals, and how many within which time; and what comes instead from
 * `effectiveAt` on. What of the two counts at an instant, `policyAt` in src/approvals/policy-rules.ts says.
 */
export const approvalPolicies = defineTable(
  'approval_policies',
  {
    accountId: column.uuid,
    asset: column.asset,
    /** In the asset's smallest unit; an amount that reaches it needs approval. */
    threshold: column.bigint,
    /** 1 to 3 */
    approvals: column.integer,
    expiresInS: column.integer,
    /** Null, with the two below, where nothing comes, or no policy. */
    nextThreshold: column.nullable(column.bigint),
    nextApprovals: column.nullable(column.integer),
    nextExpiresInS: column.nullable(column.integer),
    /** Null: nothing comes. */
    effectiveAt: column.nullable(column.time),
    /** Who asked for what comes, as the audit log names them. */
    requestedChannel: column.nullable(column.oneOf(AUDIT_CHANNELS)),
    requestedBy: column.nullable(column.string),
  },
  ['accountId', 'asset'],
);
export type ApprovalPolicyRow = RowOf<typeof approvalPolicies>;

/** One approval that counted. Never changed. */
export const approvals = defineTable('approvals', {
  id: column.uuid,
  resourceType: column.oneOf(APPROVED_TYPES),
  resourceId: column.uuid,
  /** `member:<id>`, or `support` whoever of the staff it was: each counts once for a resource. */
  approver: column.string,
  memberId: column.nullable(column.uuid),
  /** Null for a member's, and for what was approved before staff were verified. */
  staffId: column.nullable(column.uuid),
  actorClaimed: column.string,
  channel: column.oneOf(AUDIT_CHANNELS),
  createdAt: column.time,
});
export type Approval = RowOf<typeof approvals>;
