import { type Asset, ASSETS, MAX_RAW } from '../core/amount.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, DatabaseDeps, Reader } from '../db/database.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { transactFor } from '../db/transact.js';
import {
  assertAccountAllowed,
  beneficiaryOf,
  type Changer,
  lockForChange,
} from '../accounts/access.js';
import { changePolicy } from './policy-change.js';
import { type Policy, type PolicyState, policyState } from './policy-rules.js';

/**
 * The amount from which an account's operations need approvals. The account's row is the lock.
 * Pending operations keep their policy. (docs/contract.md, Approval policies)
 */

export const MAX_APPROVALS = 3;
export const MIN_EXPIRY_S = 60;
export const MAX_EXPIRY_S = 2_592_000;
export const DEFAULT_EXPIRY_S = 604_800;

export interface PolicyChange extends Policy {
  readonly accountId: Uuid;
  readonly asset: Asset;
}

export interface AccountPolicy extends PolicyChange {
  readonly coming: PolicyState['coming'];
}

/** Throws not_found, also without a policy, and authority_insufficient. */
export async function readPolicy(
  { database: { reader }, clock }: DatabaseDeps,
  caller: Caller,
  accountId: Uuid,
  asset: Asset,
): Promise<AccountPolicy> {
  await assertAccountAllowed(reader, 'readLimits', caller, accountId);
  const row = await reader.find(approvalPolicies, { accountId, asset });
  const policy = accountPolicy(accountId, asset, policyState(row, clock()));
  if (policy === null) throw notFound();
  return policy;
}

/** Sets a policy. A weakening takes effect after the tenant's delay, for operators too. */
export function setPolicy(
  database: Database,
  clock: Clock,
  change: PolicyChange,
  by: Changer,
): Promise<AccountPolicy> {
  assertRanges(change);
  return transactFor(beneficiaryOf(by), database, async (transaction) => {
    const { account, actor } = await lockForChange(transaction, by, change.accountId);
    return asSet(
      change,
      await changePolicy(transaction, account, change.asset, change, actor, clock),
    );
  });
}

/** Removes a policy, after the tenant's delay. Returns null without a policy. */
export function removePolicy(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  by: Changer,
): Promise<PolicyState | null> {
  return transactFor(beneficiaryOf(by), database, async (transaction) => {
    const { account, actor } = await lockForChange(transaction, by, accountId);
    return changePolicy(transaction, account, asset, null, actor, clock);
  });
}

export async function listPolicies(
  reader: Reader,
  accountId: Uuid,
  at: Instant,
): Promise<readonly AccountPolicy[]> {
  const rows = await reader.select(
    approvalPolicies,
    { accountId, asset: ASSETS },
    { orderBy: ['asset'] },
  );
  return rows.flatMap((row) => accountPolicy(accountId, row.asset, policyState(row, at)) ?? []);
}

function accountPolicy(
  accountId: Uuid,
  asset: Asset,
  { inForce, coming }: PolicyState,
): AccountPolicy | null {
  return inForce === null ? null : { accountId, asset, ...inForce, coming };
}

function asSet({ accountId, asset }: PolicyChange, after: PolicyState | null): AccountPolicy {
  const policy = after === null ? null : accountPolicy(accountId, asset, after);
  if (policy === null) throw new Error('a policy that was set is not in force');
  return policy;
}

function assertRanges({ threshold, approvals, expiresInS }: PolicyChange): void {
  const within = (value: number, least: number, most: number): boolean =>
    value >= least && value <= most;
  if (threshold < 0n || threshold > MAX_RAW)
    throw new ApiError(invalidField('threshold', 'out_of_range'));
  if (!within(approvals, 1, MAX_APPROVALS))
    throw new ApiError(invalidField('approvals', 'out_of_range'));
  if (!within(expiresInS, MIN_EXPIRY_S, MAX_EXPIRY_S))
    throw new ApiError(invalidField('expires_in_s', 'out_of_range'));
}
