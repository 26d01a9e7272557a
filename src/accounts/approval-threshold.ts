import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { LockedState, Need } from '../ledger/desk/types.js';

/** The amount from which an operation of an account needs another member: read under the account's lock. */
export interface ApprovalThresholds {
  needs(accountId: Uuid, asset: Asset): readonly Need[];
  /** In the asset's smallest unit; null if the account has no policy. */
  of(state: LockedState, accountId: Uuid, asset: Asset): bigint | null;
}

/** Accounts without policies. */
export const NO_APPROVALS: ApprovalThresholds = { needs: () => [], of: () => null };

export function needsApproval(threshold: bigint | null, raw: bigint): boolean {
  return threshold !== null && raw >= threshold;
}
