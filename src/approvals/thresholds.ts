import type { ApprovalThresholds } from '../accounts/approval-threshold.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { need } from '../ledger/desk/types.js';
import { policyAt } from './policy-rules.js';

/** The amount from which an account's policies require another member. */
export const APPROVAL_THRESHOLDS: ApprovalThresholds = {
  needs: (accountId, asset) => [need(approvalPolicies, { accountId, asset })],
  of: (state, accountId, asset) =>
    policyAt(state.row(approvalPolicies, { accountId, asset }), state.at)?.threshold ?? null,
};
