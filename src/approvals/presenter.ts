import { toRfc3339 } from '../core/instant.js';
import type { AccountPolicy } from './policies.js';
import type { ComingPolicy, Policy } from './policy-rules.js';

export function presentPolicy(policy: AccountPolicy): Readonly<Record<string, unknown>> {
  const { accountId, asset, coming } = policy;
  return {
    account_id: accountId,
    asset,
    ...presentSettings(policy),
    pending: coming === null ? null : presentComing(coming),
  };
}

function presentComing({ policy, effectiveAt }: ComingPolicy): Readonly<Record<string, unknown>> {
  return { policy: policy === null ? null : presentSettings(policy), effective_at: toRfc3339(effectiveAt) };
}

function presentSettings({ threshold, approvals, expiresInS }: Policy): Readonly<Record<string, unknown>> {
  return { threshold: threshold.toString(), approvals, expires_in_s: expiresInS };
}
