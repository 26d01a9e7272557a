import type { AuditAction } from '../access/audit-actions.js';
import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import { ASSETS } from '../core/amount.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, assertFound, invalidState, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { bigint, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { batches, type BatchKindName } from '../db/entities/batches.js';
import { balances, holds } from '../db/entities/ledger.js';
import { outbox, type WorkflowResourceType } from '../db/entities/outbox.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { insertSql, literal, literals, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { CLOCK_RESET_ACTION, type DatabaseClock } from '../ledger/database-clock.js';
import { outboxEntry } from '../temporal/outbox.js';
import { lockAccount, lockOpenAccount } from './access.js';
import { releaseAliasInTransaction } from './alias.js';
import { readLastPosting } from './balances.js';

/** Operators' changes lock the account's row, so that no posting uses the old status. */

interface StatusChange {
  readonly account: Account;
  readonly changed: boolean;
}

interface StatusDecision {
  readonly actor: Actor;
  /** 1 to 140 characters. */
  readonly reason: string | null;
}

function checkedReason(reason: string | null): string | null {
  return reason === null ? null : checkedText('reason', reason, MAX_REASON);
}

export const freezeAccount = statusChanger('frozen', 'account.freeze');
export const unfreezeAccount = statusChanger('active', 'account.unfreeze');

/** Makes a function that sets the status. It throws not_found, invalid_state, invalid_field. */
function statusChanger(status: 'active' | 'frozen', action: AuditAction) {
  return async (
    { database, clock }: DatabaseDeps,
    id: Uuid,
    decision: StatusDecision,
  ): Promise<StatusChange> => {
    const reason = checkedReason(decision.reason);
    return transact(database, async (transaction) => {
      const account = await lockOpenAccount(transaction, id);
      if (account.status === status) return { account, changed: false };
      await transaction.execute(updateSql<Account>(accounts, { status }, { id }));
      if (status === 'active') await notifyUnsubmittedPayouts(transaction, account, clock());
      const entry = accountAudit(account, action, { reason });
      await recordAction(transaction, decision.actor, clock(), entry);
      return { account: { ...account, status }, changed: true };
    });
  };
}

async function notifyUnsubmittedPayouts(
  transaction: Transaction,
  { id, tenantId }: Account,
  now: Instant,
): Promise<void> {
  const payoutIds = await findUnsubmittedPayouts(transaction, id);
  const entries = payoutIds.map((resourceId) =>
    outboxEntry({ outboxId: newId(), tenantId, resourceType: 'payout', resourceId }, now),
  );
  if (entries.length > 0) await transaction.execute(insertSql(outbox, entries));
}

/** Limit of workflows to notify. The workflows of further payouts check by themselves. */
const MAX_NOTIFIED = 1_000;

/**
 * Returns payouts that were not submitted because the account was frozen. They have open holds; the
 * condition on the asset lets the search use the index.
 */
export async function findUnsubmittedPayouts(
  reader: Reader,
  accountId: Uuid,
): Promise<readonly Uuid[]> {
  const rows = await reader.query(
    `SELECT p.id FROM holds h FORCE INDEX (account) STRAIGHT_JOIN payouts p ON p.id=h.resource_id
     WHERE h.account_id=${uuid.literal(accountId)} AND h.asset IN (${literals(holds, 'asset', ASSETS)}) AND h.remaining>0
       AND h.resource_type='payout' AND (p.status='approved' OR (p.status='in_progress' AND p.rail_reference IS NULL))
     ORDER BY p.id LIMIT ${MAX_NOTIFIED}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/**
 * Permits postings again to an account whose last posting is dated too far ahead of the database's
 * clock, for example after a failover. The next movements are dated before the previous ones, which
 * the auditor accepts because the audit log records the reset.
 */
export async function resetClock(
  { database, databaseClock }: { database: Database; databaseClock: DatabaseClock },
  id: Uuid,
  decision: StatusDecision,
): Promise<{ readonly lastPostedAt: Instant; readonly changed: boolean }> {
  const reason = checkedReason(decision.reason);
  return transact(database, async (transaction) => {
    const account = assertFound(await transaction.find(accounts, { id }, { forUpdate: true }));
    const { lastPostedAt: previous, seq } = await readLastPosting(transaction, id);
    const lastPostedAt = await databaseClock.read(transaction);
    if (!databaseClock.isTooFarAhead(previous, lastPostedAt))
      return { lastPostedAt: previous, changed: false };
    await transaction.execute(updateSql(balances, { lastPostedAt }, { accountId: id }));
    const details = { reason, seq: seq.toString(), was: toRfc3339(previous) };
    const entry = accountAudit(account, CLOCK_RESET_ACTION, details);
    await recordAction(transaction, decision.actor, lastPostedAt, entry);
    return { lastPostedAt, changed: true };
  });
}

/** Closes an empty account and releases its alias and phone. (docs/contract.md, Accounts) */
export async function closeAccount(
  { database, clock }: DatabaseDeps,
  id: Uuid,
  decision: StatusDecision,
): Promise<StatusChange> {
  const reason = checkedReason(decision.reason);
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, id);
    if (account.status === 'closed') return { account, changed: false };
    const refusal = await closingRefusal(transaction, account);
    if (refusal !== null) throw new ApiError(refusal);
    const now = clock();
    await releaseAliasInTransaction(transaction, account, decision.actor, now);
    const set = { status: 'closed', alias: null, phone: null } as const;
    await transaction.execute(updateSql<Account>(accounts, set, { id }));
    const entry = accountAudit(account, 'account.close', { reason });
    await recordAction(transaction, decision.actor, now, entry);
    return { account: { ...account, ...set }, changed: true };
  });
}

type ClosingRule = (reader: Reader, account: Account) => Promise<Refusal | null>;

/** Why an account without funds cannot be closed while a resource of each type waits. */
const CLOSING_RULES: Readonly<Record<WorkflowResourceType, ClosingRule | null>> = {
  transfer:
    pendingFeeRule(`SELECT 1 FROM holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
    WHERE h.resource_type='transfer' AND h.expires_at IS NOT NULL`),
  payout: pendingFeeRule(
    `SELECT 1 FROM payouts FORCE INDEX (expiring) WHERE status IN ('pending_approval','approved','in_progress')`,
  ),
  bonus_batch: openBatchRule('bonus'),
  payout_batch: openBatchRule('payout'),
  webhook_endpoint: null,
  // Its next run is refused.
  schedule: null,
};

/** Returns why the account cannot be closed. Pending operations hold funds, except some batches. */
export async function closingRefusal(reader: Reader, account: Account): Promise<Refusal | null> {
  const rows = await reader.query(
    `SELECT available, held FROM balances WHERE account_id=${literal(balances, 'accountId', account.id)}`,
  );
  const hasAny = (part: 'available' | 'held'): boolean =>
    rows.some((row) => bigint.parse(row[part]) !== 0n);
  if (hasAny('held')) return cannotClose('funds_held', 'funds are held for pending operations');
  if (hasAny('available')) return cannotClose('not_empty', 'its balances are not zero');
  const tenant = await reader.find(tenants, { id: account.tenantId });
  if (tenant?.feeAccountId === account.id)
    return cannotClose('fee_account', 'fees of its tenant go into it');
  for (const rule of Object.values(CLOSING_RULES)) {
    const refusal = (await rule?.(reader, account)) ?? null;
    if (refusal !== null) return refusal;
  }
  return null;
}

/**
 * Refuses while an executing batch pays its rows from the account without a hold, or while the fees
 * of a batch, whose fee account is fixed at validation, go into the account.
 */
function openBatchRule(kind: BatchKindName): ClosingRule {
  return async (transaction, { id, tenantId }) => {
    const open = await transaction.select(batches, {
      tenantId,
      kind,
      status: ['ready', 'executing'],
    });
    if (
      open.some(({ status, sourceAccountId }) => status === 'executing' && sourceAccountId === id)
    )
      return cannotClose('executing', 'a batch that it pays is executing');
    const charged = open.find(({ feeAccountId }) => feeAccountId === id);
    if (charged === undefined) return null;
    return cannotClose(
      'fee_account',
      `the fees of the batch ${charged.id}, which is ${charged.status}, go into it`,
    );
  };
}

/** Refuses while one of the operations found by this SQL may still charge a fee into the account. */
function pendingFeeRule(sql: string): ClosingRule {
  return async (transaction, { id }) => {
    const into = ` AND fee_account_id=${literal(accounts, 'id', id)} LIMIT 1`;
    const found = await transaction.query(sql + into);
    return found.length > 0 ? cannotClose('fee_account', 'a pending fee goes into it') : null;
  };
}

function cannotClose(current: string, why: string): Refusal {
  return invalidState(`the account cannot be closed: ${why}`, current, ['empty']);
}
