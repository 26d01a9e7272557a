import {
  accountAudit,
  type AuditEntry,
  type AuditDetails,
  type Actor,
  recordAction,
} from '../access/audit-log.js';
import { lockAccount } from '../accounts/access.js';
import type { Asset } from '../core/amount.js';
import { type Clock, type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { approvalPolicies, type ApprovalPolicyRow } from '../db/entities/approvals.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { deleteSql, literal, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import {
  type PendingPolicy,
  isSame,
  NO_PENDING_POLICY,
  planChange,
  type Policy,
  policyDetails,
  type PolicyPlan,
  type PolicyState,
  policyState,
} from './policy-rules.js';

/** Changes the policy of an account that the caller has locked. Null removes the policy. */
export async function changePolicy(
  transaction: Transaction,
  account: Account,
  asset: Asset,
  requested: Policy | null,
  actor: Actor,
  clock: Clock,
): Promise<PolicyState | null> {
  // While the account is locked, no later command on it can have an earlier instant.
  const at = maxInstant(clock(), account.lastPostedAt);
  const row = await applyDueChange(transaction, account, asset, at);
  const before = policyState(row, at);
  if (requested === null && before.current === null) return null;
  const tenant = await transaction.find(tenants, { id: account.tenantId });
  if (tenant === undefined) throw new Error('an account has no tenant');
  const plan = planChange(before, requested, tenant.policyDelayS, at);
  const requester = plan.isRequest ? actor : requesterOf(row);
  await writePolicy(transaction, account, asset, plan, requester);
  for (const { action, details } of auditEntriesOf(asset, before, plan, requested))
    await recordAction(transaction, actor, at, accountAudit(account, action, details));
  return { current: plan.current, pending: plan.pending };
}

/**
 * Stores and records changes that have taken effect, at most `limit`. Returns how many it found.
 */
export async function recordEffective(
  { database, clock }: DatabaseDeps,
  limit: number,
): Promise<number> {
  const due = await database.reader.query(
    `SELECT account_id, asset FROM approval_policies
     WHERE effective_at<=${literal(approvalPolicies, 'effectiveAt', clock())} ORDER BY effective_at LIMIT ${Math.trunc(limit)}`,
  );
  for (const row of due) {
    const accountId = approvalPolicies
      .column('accountId')
      .column.parse(row.account_id) as Account['id'];
    const asset = approvalPolicies.column('asset').column.parse(row.asset) as Asset;
    await transact(database, async (transaction) =>
      applyDueChange(transaction, await lockAccount(transaction, accountId), asset, clock()),
    );
  }
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
  // The next decision may come from a process whose clock is behind.
  const lastPostedAt = maxInstant(account.lastPostedAt, row.effectiveAt);
  await transaction.execute(updateSql<Account>(accounts, { lastPostedAt }, { id: account.id }));
  await writePolicy(transaction, account, asset, { current, pending: null }, null);
  const details = pendingDetails(asset, { policy: current, effectiveAt: row.effectiveAt });
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
  if (withdrawn !== null)
    entries.push({ action: 'approval_policy.withdraw', details: pendingDetails(asset, withdrawn) });
  if (pending === null && requested === null)
    entries.push({ action: 'approval_policy.remove', details: { asset } });
  else if (pending === null || !isSame(before.current, current))
    entries.push({ action: 'approval_policy.set', details: { asset, ...policyDetails(current) } });
  if (pending !== null && isRequest)
    entries.push({ action: 'approval_policy.request', details: pendingDetails(asset, pending) });
  return entries;
}

function pendingDetails(asset: Asset, { policy, effectiveAt }: PendingPolicy): AuditDetails {
  return { asset, ...policyDetails(policy), effective_at: toRfc3339(effectiveAt) };
}
