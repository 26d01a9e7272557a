import type { ApprovalPolicy } from '../db/entities/approvals.js';

export function presentPolicy(policy: ApprovalPolicy): Readonly<Record<string, unknown>> {
  return {
    account_id: policy.accountId,
    asset: policy.asset,
    threshold: policy.threshold.toString(),
    approvals: policy.approvals,
    expires_in_s: policy.expiresInS,
  };
}
