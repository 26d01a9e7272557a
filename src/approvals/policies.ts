import {
  accountAudit,
  type Actor,
  type AuditDetails,
  type AuditEntry,
  changedFrom,
  recordAction,
  tenantAudit,
} from '../access/audit-log.js';
import type { Changer } from '../access/authority.js';
import { applyDueRoles } from '../members/roles.js';
import { changeAccount, lockAccount, readAccount } from '../accounts/access.js';
import { readLastPosting } from '../accounts/balances.js';
import { type Asset, ASSETS, formatAmount, MAX_RAW } from '../core/amount.js';
import { tryEach } from '../core/collections.js';
import { ApiError, assertFound, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { approvalPolicies, type ApprovalPolicyRow } from '../db/entities/approvals.js';
import { balances } from '../db/entities/ledger.js';
import { type Account, tenants } from '../db/entities/parties.js';
import { deleteSql, literal, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { rowParser } from '../db/table.js';
import type { Sweep } from '../temporal/sweeper.js';
import {
  isSame,
  NO_PENDING_POLICY,
  type PendingPolicy,
  planChange,
  type Policy,
  policyDetails,
  type PolicyPlan,
  type PolicyState,
  policyState,
} from './policy-rules.js';

/**
 * Reads and changes approval policies, which the account's row locks. (docs/contract.md, Approval
 * policies)
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
  readonly pending: PolicyState['pending'];
}

/** Throws not_found (the account or its policy), authority_insufficient. */
export async function readPolicy(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  accountId: Uuid,
  asset: Asset,
): Promise<AccountPolicy> {
  const reader = database.readerFor(caller);
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
  changer: Changer,
): Promise<AccountPolicy> {
  assertRanges(change);
  const { accountId, asset } = change;
  return changeAccount(database, changer, accountId, async (transaction, account, actor) =>
    policyInForce(change, await changePolicy(transaction, account, asset, change, actor, clock)),
  );
}

/** Removes a policy, after the tenant's delay. Returns null for an account without a policy. */
export function removePolicy(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  changer: Changer,
  why: AuditDetails = {},
): Promise<PolicyState | null> {
  return changeAccount(database, changer, accountId, (transaction, account, actor) =>
    changePolicy(transaction, account, asset, null, actor, clock, why),
  );
}

export async function listPolicies(
  reader: Reader,
  accountId: Uuid | readonly Uuid[],
  at: Instant,
): Promise<readonly AccountPolicy[]> {
  const rows = await reader.select(
    approvalPolicies,
    { accountId, asset: ASSETS },
    { orderBy: ['accountId', 'asset'] },
  );
  return rows.flatMap((row) => accountPolicy(row.accountId, row.asset, policyState(row, at)) ?? []);
}

function accountPolicy(
  accountId: Uuid,
  asset: Asset,
  { current, pending }: PolicyState,
): AccountPolicy | null {
  return current === null ? null : { accountId, asset, ...current, pending };
}

function policyInForce(
  { accountId, asset }: PolicyChange,
  after: PolicyState | null,
): AccountPolicy {
  const policy = after === null ? null : accountPolicy(accountId, asset, after);
  if (policy === null) throw new Error('a policy that was set is not in force');
  return policy;
}

function assertRanges({ threshold, approvals, expiresInS }: PolicyChange): void {
  const isWithin = (value: number, min: number, max: number): boolean =>
    value >= min && value <= max;
  if (threshold < 0n || threshold > MAX_RAW)
    throw new ApiError(invalidField('threshold', 'out_of_range'));
  if (!isWithin(approvals, 1, MAX_APPROVALS))
    throw new ApiError(invalidField('approvals', 'out_of_range'));
  if (!isWithin(expiresInS, MIN_EXPIRY_S, MAX_EXPIRY_S))
    throw new ApiError(invalidField('expires_in_s', 'out_of_range'));
}

export const MAX_POLICY_DELAY_S = 2_592_000;

/** Sets the tenant's delay; null removes it. A pending change keeps its time. Throws not_found, invalid_field. */
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
    const tenant = assertFound(
      await transaction.find(tenants, { id: tenantId }, { forUpdate: true }),
    );
    const policyDelayS = seconds ?? 0;
    await transaction.execute(updateSql(tenants, { policyDelayS }, { id: tenantId }));
    const details = { seconds: policyDelayS, before: tenant.policyDelayS };
    const entry = tenantAudit(tenantId, 'tenant.set_policy_delay', details);
    await recordAction(transaction, actor, clock(), entry);
  });
}

const SWEEP_EVERY_MS = 1_000;
const SWEEP_LIMIT = 100;

/** Applies policies and roles whose delay is over. A failure of one kind does not stop the other. */
export function delaysSweep(deps: DatabaseDeps): Sweep {
  const run = async (): Promise<boolean> => {
    const applying = [applyDueChanges(deps, SWEEP_LIMIT), applyDueRoles(deps, SWEEP_LIMIT)];
    await Promise.allSettled(applying);
    return (await Promise.all(applying)).includes(SWEEP_LIMIT);
  };
  return { name: 'delayed changes', everyMs: SWEEP_EVERY_MS, run };
}

/** Changes the policy of an account that the caller has locked. Null removes the policy. */
async function changePolicy(
  transaction: Transaction,
  account: Account,
  asset: Asset,
  requested: Policy | null,
  actor: Actor,
  clock: Clock,
  why: AuditDetails = {},
): Promise<PolicyState | null> {
  // While the account is locked, no later command on it can have an earlier instant.
  const { lastPostedAt } = await readLastPosting(transaction, account.id);
  const at = maxInstant(clock(), lastPostedAt);
  const row = await applyDueChange(transaction, account, asset, at);
  const before = policyState(row, at);
  if (requested === null && before.current === null) return null;
  const tenant = await transaction.find(tenants, { id: account.tenantId });
  if (tenant === undefined) throw new Error('an account has no tenant');
  const plan = planChange(before, requested, tenant.policyDelayS, at);
  const requester = plan.isRequest ? actor : requesterOf(row);
  await writePolicy(transaction, account, asset, plan, requester);
  for (const { action, details } of auditEntriesOf(asset, before, plan, requested))
    await recordAction(
      transaction,
      actor,
      at,
      accountAudit(account, action, { ...details, ...why }),
    );
  return { current: plan.current, pending: plan.pending };
}

const parseDue = rowParser({ accountId: column.uuid, asset: column.asset });

/** Stores and records at most `limit` changes that have become due. Returns how many it found. */
export async function applyDueChanges(
  { database, clock }: DatabaseDeps,
  limit: number,
): Promise<number> {
  const due = await database.reader.query(
    `SELECT account_id, asset FROM approval_policies
     WHERE effective_at<=${literal(approvalPolicies, 'effectiveAt', clock())} ORDER BY effective_at LIMIT ${Math.trunc(limit)}`,
  );
  await tryEach(due, async (row) => {
    const { accountId, asset } = parseDue(row);
    await transact(database, async (transaction) =>
      applyDueChange(transaction, await lockAccount(transaction, accountId), asset, clock()),
    );
  });
  return due.length;
}

async function applyDueChange(
  transaction: Transaction,
  account: Account,
  asset: Asset,
  at: Instant,
): Promise<ApprovalPolicyRow | undefined> {
  const row = await transaction.find(approvalPolicies, { accountId: account.id, asset });
  const requester = requesterOf(row);
  if (row === undefined || row.effectiveAt === null || row.effectiveAt > at || requester === null)
    return row;
  const { current } = policyState(row, at);
  // A later decision, by a process whose clock is behind, must not be dated before the change.
  const last = await readLastPosting(transaction, account.id);
  const lastPostedAt = maxInstant(last.lastPostedAt, row.effectiveAt);
  await transaction.execute(updateSql(balances, { lastPostedAt }, { accountId: account.id }));
  await writePolicy(transaction, account, asset, { current, pending: null }, null);
  const before = settingsText(asset, settingsOf(row));
  const details = {
    ...pendingDetails(asset, { policy: current, effectiveAt: row.effectiveAt }),
    ...changedFrom(before, settingsText(asset, current)),
  };
  const entry = accountAudit(account, 'approval_policy.take_effect', details);
  await recordAction(transaction, requester, at, entry);
  return current === null ? undefined : { ...row, ...current, ...NO_PENDING_POLICY };
}

function requesterOf(row: ApprovalPolicyRow | undefined): Actor | null {
  if (row === undefined || row.requestedChannel === null || row.requestedBy === null) return null;
  return { channel: row.requestedChannel, name: row.requestedBy };
}

async function writePolicy(
  transaction: Transaction,
  { id: accountId }: Account,
  asset: Asset,
  { current, pending }: PolicyState,
  requester: Actor | null,
): Promise<void> {
  if (current === null) {
    await transaction.execute(deleteSql(approvalPolicies, { accountId, asset }));
    return;
  }
  const next =
    pending === null || requester === null ? NO_PENDING_POLICY : nextColumns(pending, requester);
  const row: ApprovalPolicyRow = { accountId, asset, ...settingsOf(current), ...next };
  const set = approvalPolicies.columns.map(({ property }) => property as keyof ApprovalPolicyRow);
  await transaction.execute(upsertSql(approvalPolicies, [row], set));
}

function nextColumns(
  { policy, effectiveAt }: PendingPolicy,
  { channel, name }: Actor,
): Pick<ApprovalPolicyRow, keyof typeof NO_PENDING_POLICY> {
  return {
    nextThreshold: policy?.threshold ?? null,
    nextApprovals: policy?.approvals ?? null,
    nextExpiresInS: policy?.expiresInS ?? null,
    nextRefusesBatches: policy?.refusesBatches ?? null,
    effectiveAt,
    requestedChannel: channel,
    requestedBy: name,
  };
}

function settingsOf({ threshold, approvals, expiresInS, refusesBatches }: Policy): Policy {
  return { threshold, approvals, expiresInS, refusesBatches };
}

function auditEntriesOf(
  asset: Asset,
  before: PolicyState,
  { current, pending, withdrawn, isRequest }: PolicyPlan,
  requested: Policy | null,
): Pick<AuditEntry, 'action' | 'details'>[] {
  const entries: Pick<AuditEntry, 'action' | 'details'>[] = [];
  const changed = (after: Policy | null): AuditDetails =>
    before.current === null
      ? {}
      : changedFrom(settingsText(asset, before.current), settingsText(asset, after));
  if (withdrawn !== null)
    entries.push({ action: 'approval_policy.withdraw', details: pendingDetails(asset, withdrawn) });
  if (pending === null && requested === null)
    entries.push({ action: 'approval_policy.remove', details: { asset, ...changed(null) } });
  else if (pending === null || !isSame(before.current, current))
    entries.push({
      action: 'approval_policy.set',
      details: { asset, ...settingsText(asset, current), ...changed(current) },
    });
  if (pending !== null && isRequest)
    entries.push({
      action: 'approval_policy.request',
      details: { ...pendingDetails(asset, pending), ...changed(pending.policy) },
    });
  return entries;
}

function pendingDetails(asset: Asset, { policy, effectiveAt }: PendingPolicy): AuditDetails {
  return { asset, ...settingsText(asset, policy), effective_at: toRfc3339(effectiveAt) };
}

/** Returns the settings of a policy as the audit log has them. */
function settingsText(asset: Asset, policy: Policy | null): AuditDetails {
  const threshold = policy && formatAmount({ raw: policy.threshold, asset });
  return { ...policyDetails(policy), threshold };
}
