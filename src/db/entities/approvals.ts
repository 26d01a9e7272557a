import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { AUDIT_CHANNELS } from './identity.js';

/** Approval policies and approvals. */

const APPROVED_TYPES = ['transfer', 'payout', 'bonus_batch'] as const;

/**
 * The amount from which an account's operations need approvals, how many, and within what time; and
 * the settings that replace these from `effectiveAt` on. `policyAt` in
 * src/approvals/policy-rules.ts says which apply at an instant.
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
    /** Whether validation rejects a batch whose total reaches the threshold. */
    refusesBatches: column.boolean,
    /** Null, like the three below, if no change is pending or the change removes the policy. */
    nextThreshold: column.nullable(column.bigint),
    nextApprovals: column.nullable(column.integer),
    nextExpiresInS: column.nullable(column.integer),
    nextRefusesBatches: column.nullable(column.boolean),
    /** Null: no change is pending. */
    effectiveAt: column.nullable(column.time),
    /** Who requested the pending change, as the audit log names them. */
    requestedChannel: column.nullable(column.oneOf(AUDIT_CHANNELS)),
    requestedBy: column.nullable(column.varchar(120)),
  },
  { key: ['accountId', 'asset'], indexes: { effectiveAt: ['effectiveAt'] } },
);
export type ApprovalPolicyRow = RowOf<typeof approvalPolicies>;

/** Approvals that counted. Rows never change. */
export const approvals = defineTable(
  'approvals',
  {
    id: column.uuid,
    resourceType: column.oneOf(APPROVED_TYPES),
    resourceId: column.uuid,
    /** `member:<id>`, or `support` for anybody on the staff: each counts once per resource. */
    approver: column.ascii(60),
    memberId: column.nullable(column.uuid),
    /** Null for a member's approval. */
    staffId: column.nullable(column.uuid),
    actorClaimed: column.varchar(120),
    channel: column.oneOf(AUDIT_CHANNELS),
    createdAt: column.time,
  },
  { unique: { approver: ['resourceId', 'approver'] } },
);
export type Approval = RowOf<typeof approvals>;
