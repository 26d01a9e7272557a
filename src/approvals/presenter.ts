import { toRfc3339 } from '../core/instant.js';
import type { AccountPolicy } from './policies.js';
import type { z } from '../http/zod.js';
import { batchRule, type ComingPolicy, policyDetails } from './policy-rules.js';
import { type ApprovalColumns, waitingOf } from './rules.js';
import type { APPROVABLE } from './schemas.js';

/** Returns the approval of a resource; null if it needed none. */
export function presentApproval(row: ApprovalColumns): z.output<typeof APPROVABLE.approval> {
  const waiting = waitingOf(row);
  if (waiting === null) return null;
  return {
    required: waiting.required,
    received: waiting.received,
    expires_at: toRfc3339(waiting.expiresAt),
  };
}

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
