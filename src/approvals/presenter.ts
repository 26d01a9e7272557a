import { toRfc3339 } from '../core/instant.js';
import type { AccountPolicy } from './policies.js';
import { batchRule, type ComingPolicy, policyDetails } from './policy-rules.js';

export function presentPolicy(policy: AccountPolicy): Readonly<Record<string, unknown>> {
  const { accountId, asset, coming } = policy;
  const pending = coming === null ? null : presentComing(coming);
  return {
    account_id: accountId,
    asset,
    ...policyDetails(policy),
    batch_rule: batchRule(policy),
    pending,
  };
}

function presentComing({ policy, effectiveAt }: ComingPolicy): Readonly<Record<string, unknown>> {
  return {
    policy: policy === null ? null : policyDetails(policy),
    effective_at: toRfc3339(effectiveAt),
  };
}
