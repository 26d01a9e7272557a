import { type Instant, instant } from '../core/instant.js';
import type { ApprovalPolicyRow } from '../db/entities/approvals.js';

/** The settings of an approval policy. Null in place of a policy means no requirement. */
export interface Policy {
  /** In the asset's smallest unit. */
  readonly threshold: bigint;
  readonly approvals: number;
  readonly expiresInS: number;
  readonly refusesBatches: boolean;
}

export interface PendingPolicy {
  /** Null if the policy is going to be removed. */
  readonly policy: Policy | null;
  readonly effectiveAt: Instant;
}

export interface PolicyState {
  readonly current: Policy | null;
  readonly pending: PendingPolicy | null;
}

/** Returns the settings as members and operators see them; nulls without a policy. */
export function policyDetails(policy: Policy | null) {
  return {
    threshold: policy?.threshold.toString() ?? null,
    approvals: policy?.approvals ?? null,
    expires_in_s: policy?.expiresInS ?? null,
    refuses_batches: policy?.refusesBatches ?? null,
  };
}

/** Returns a sentence about batches, for people who configure the policy. */
export function batchRule({ approvals, refusesBatches }: Policy): string {
  if (refusesBatches)
    return 'A batch whose total reaches the threshold is rejected when it is validated.';
  const rule =
    'A batch whose total reaches the threshold, even of one row, is executed by one member other than its uploader';
  return approvals === 1 ? `${rule}.` : `${rule}, and not approved by ${approvals}.`;
}

export const NO_PENDING_POLICY = {
  nextThreshold: null,
  nextApprovals: null,
  nextExpiresInS: null,
  nextRefusesBatches: null,
  effectiveAt: null,
  requestedChannel: null,
  requestedBy: null,
} as const;

export function policyAt(row: ApprovalPolicyRow | undefined, at: Instant): Policy | null {
  return policyState(row, at).current;
}

export function policyState(row: ApprovalPolicyRow | undefined, at: Instant): PolicyState {
  if (row === undefined) return { current: null, pending: null };
  const next = pendingPolicyOf(row);
  // In force from its time on, even before the sweep has stored it as the current policy.
  if (next !== null && next.effectiveAt <= at) return { current: next.policy, pending: null };
  const { threshold, approvals, expiresInS, refusesBatches } = row;
  return { current: { threshold, approvals, expiresInS, refusesBatches }, pending: next };
}

function pendingPolicyOf(row: ApprovalPolicyRow): PendingPolicy | null {
  const { nextThreshold, nextApprovals, nextExpiresInS, nextRefusesBatches, effectiveAt } = row;
  if (effectiveAt === null) return null;
  if (nextThreshold === null || nextApprovals === null || nextExpiresInS === null)
    return { policy: null, effectiveAt };
  const settings = {
    threshold: nextThreshold,
    approvals: nextApprovals,
    expiresInS: nextExpiresInS,
  };
  return { policy: { ...settings, refusesBatches: nextRefusesBatches === true }, effectiveAt };
}

export interface PolicyPlan {
  /** Includes the stricter part of the change, which applies at once. */
  readonly current: Policy | null;
  readonly pending: PendingPolicy | null;
  readonly withdrawn: PendingPolicy | null;
  /** False if nothing is pending, or `pending` was requested before. */
  readonly isRequest: boolean;
}

/**
 * Plans a change to `requested`, which replaces any pending change. A weaker part waits `delayS`.
 * Repeating the request does not extend the wait.
 */
export function planChange(
  state: PolicyState,
  requested: Policy | null,
  delayS: number,
  at: Instant,
): PolicyPlan {
  const immediate = delayS === 0 ? requested : stricterOf(state.current, requested);
  if (isSame(immediate, requested))
    return { current: requested, pending: null, withdrawn: state.pending, isRequest: false };
  const effectiveAt = instant(at + delayS * 1_000);
  const previous = state.pending;
  if (
    previous !== null &&
    isSame(previous.policy, requested) &&
    previous.effectiveAt <= effectiveAt
  )
    return { current: immediate, pending: previous, withdrawn: null, isRequest: false };
  return {
    current: immediate,
    pending: { policy: requested, effectiveAt },
    withdrawn: previous,
    isRequest: true,
  };
}

/** Returns the stricter of each setting: lower threshold, more approvals, shorter expiry. */
function stricterOf(one: Policy | null, other: Policy | null): Policy | null {
  if (one === null || other === null) return one ?? other;
  return {
    threshold: one.threshold < other.threshold ? one.threshold : other.threshold,
    approvals: Math.max(one.approvals, other.approvals),
    expiresInS: Math.min(one.expiresInS, other.expiresInS),
    refusesBatches: one.refusesBatches || other.refusesBatches,
  };
}

export function isSame(one: Policy | null, other: Policy | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.threshold === other.threshold &&
    one.approvals === other.approvals &&
    one.expiresInS === other.expiresInS &&
    one.refusesBatches === other.refusesBatches
  );
}
