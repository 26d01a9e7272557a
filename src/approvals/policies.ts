import { type Actor, recordAction, tenantAudit } from '../access/audit-log.js';
import { readAccount, changeAccount, type Changer } from '../accounts/access.js';
import { type Asset, ASSETS, MAX_RAW } from '../core/amount.js';
import { ApiError, existing, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, DatabaseDeps, Reader } from '../db/database.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { tenants } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';
import { changePolicy, recordEffective } from './policy-change.js';
import { type Policy, type PolicyState, policyState } from './policy-rules.js';

/** Reads and changes approval policies, which the account's row locks. (docs/contract.md, Approval policies) */

export const MAX_APPROVALS = 3;
export const MIN_EXPIRY_S = 60;
export const MAX_EXPIRY_S = 2_592_000;
export const DEFAULT_EXPIRY_S = 604_800;

export interface PolicyChange extends Policy {
  readonly accountId: Uuid;
  readonly asset: Asset;
}

export interface AccountPolicy extends PolicyChange {
  readonly pending: PolicyState['pending'];
}

/** Throws not_found, also without a policy, and authority_insufficient. */
export async function readPolicy(
  { database: { reader }, clock }: DatabaseDeps,
  caller: Caller,
  accountId: Uuid,
  asset: Asset,
): Promise<AccountPolicy> {
  await readAccount(reader, caller, accountId, 'readLimits');
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
  const { accountId, asset } = change;
  return changeAccount(database, by, accountId, async (transaction, account, actor) =>
    asSet(change, await changePolicy(transaction, account, asset, change, actor, clock)),
  );
}

/** Removes a policy, after the tenant's delay. Returns null without a policy. */
export function removePolicy(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  by: Changer,
): Promise<PolicyState | null> {
  return changeAccount(database, by, accountId, (transaction, account, actor) =>
    changePolicy(transaction, account, asset, null, actor, clock),
  );
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
  { current, pending }: PolicyState,
): AccountPolicy | null {
  return current === null ? null : { accountId, asset, ...current, pending };
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

export const MAX_POLICY_DELAY_S = 2_592_000;

/** Null removes the delay. A pending change keeps its time. Throws not_found, invalid_field. */
export async function setPolicyDelay(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  seconds: number | null,
  actor: Actor,
): Promise<void> {
  if (
    seconds !== null &&
    !(Number.isSafeInteger(seconds) && seconds >= 1 && seconds <= MAX_POLICY_DELAY_S)
  )
    throw new ApiError(invalidField('seconds', 'out_of_range'));
  await transact(database, async (transaction) => {
    const tenant = existing(await transaction.find(tenants, { id: tenantId }, { forUpdate: true }));
    const policyDelayS = seconds ?? 0;
    await transaction.execute(updateSql(tenants, { policyDelayS }, { id: tenantId }));
    const details = { seconds: policyDelayS, before: tenant.policyDelayS };
    const entry = tenantAudit(tenantId, 'tenant.set_policy_delay', details);
    await recordAction(transaction, actor, clock(), entry);
  });
}

const EVERY_MS = 1_000;
const AT_ONCE = 100;

export function policiesSweep(deps: DatabaseDeps): Sweep {
  return {
    name: 'approval policies',
    everyMs: EVERY_MS,
    run: async () => (await recordEffective(deps, AT_ONCE)) === AT_ONCE,
  };
}
