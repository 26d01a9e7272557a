import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { AUDIT_CHANNELS } from './identity.js';

const APPROVABLE_TYPES = ['transfer', 'payout'] as const;
export type ApprovableType = (typeof APPROVABLE_TYPES)[number];

/** Policies, each with the settings that apply from `effectiveAt` on (src/approvals/policy-rules.ts). */
export const approvalPolicies = defineTable(
  'approval_policies',
  {
    accountId: column.uuid,
    asset: column.asset,
    /** Amounts of at least the threshold need approval. */
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
    effectiveAt: column.nullable(column.time),
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
    resourceType: column.oneOf([...APPROVABLE_TYPES, 'bonus_batch']),
    resourceId: column.uuid,
    /** `member:<id>`, or `support` for all staff, who together count as one approver. */
    approver: column.ascii(60),
    memberId: column.nullable(column.uuid),
    staffId: column.nullable(column.uuid),
    actorClaimed: column.varchar(120),
    channel: column.oneOf(AUDIT_CHANNELS),
    createdAt: column.time,
  },
  { unique: { approver: ['resourceId', 'approver'] } },
);
export type Approval = RowOf<typeof approvals>;
