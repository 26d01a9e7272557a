import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import { ASSETS } from '../core/amount.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, existing, invalidState, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import { bigint, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { bonusBatches } from '../db/entities/bonuses.js';
import { balances, holds } from '../db/entities/ledger.js';
import { outbox } from '../db/entities/outbox.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { insertSql, literal, literals, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { CLOCK_RESET, type DatabaseClock } from '../ledger/database-clock.js';
import { outboxEntry } from '../temporal/outbox.js';
import { lockAccount, lockOpenAccount } from './access.js';
import { dropAlias } from './alias.js';

/**
 * Operators' changes of an account's status, under its row lock, so that no posting uses the old
 * one.
 */

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

export const freezeAccount = statusChange('frozen', 'account.freeze');
export const unfreezeAccount = statusChange('active', 'account.unfreeze');

/** Throws not_found, invalid_state (closed), invalid_field. */
function statusChange(status: 'active' | 'frozen', action: string) {
  return async (
    { database, clock }: DatabaseDeps,
    id: Uuid,
    decided: StatusDecision,
  ): Promise<StatusChange> => {
    const reason = checkedReason(decided.reason);
    return transact(database, async (transaction) => {
      const account = await lockOpenAccount(transaction, id);
      if (account.status === status) return { account, changed: false };
      // Updates only this column: seq and the last instant belong to the ledger.
      await transaction.execute(updateSql<Account>(accounts, { status }, { id }));
      if (status === 'active') await notifyHeldPayouts(transaction, account, clock());
      const entry = accountAudit(account, action, { reason });
      await recordAction(transaction, decided.actor, clock(), entry);
      return { account: { ...account, status }, changed: true };
    });
  };
}

async function notifyHeldPayouts(
  transaction: Transaction,
  { id, tenantId }: Account,
  now: Instant,
): Promise<void> {
  const held = await heldPayouts(transaction, id);
  const entries = held.map((resourceId) =>
    outboxEntry({ outboxId: newId(), tenantId, resourceType: 'payout', resourceId }, now),
  );
  if (entries.length > 0) await transaction.execute(insertSql(outbox, entries));
}

/** Limit of workflows to notify. The workflows of further payouts check by themselves. */
const MAX_NOTIFIED = 1_000;

/** Returns payouts that were not submitted because the account was frozen, by its open holds. */
export async function heldPayouts(reader: Reader, accountId: Uuid): Promise<readonly Uuid[]> {
  const rows = await reader.query(
    `SELECT p.id FROM holds h FORCE INDEX (account) STRAIGHT_JOIN payouts p ON p.id=h.resource_id
     WHERE h.account_id=${uuid.literal(accountId)} AND h.asset IN (${literals(holds, 'asset', ASSETS)}) AND h.remaining>0
       AND h.resource_type='payout' AND (p.status='approved' OR (p.status='in_progress' AND p.rail_reference IS NULL))
     ORDER BY p.id LIMIT ${MAX_NOTIFIED}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/**
 * Permits postings again to an account dated too far ahead of the database's clock, for example
 * after a failover. Its movements run backwards in time at this place, which the auditor accepts
 * because of the row in the audit log.
 */
export async function resetClock(
  { database, databaseClock }: { database: Database; databaseClock: DatabaseClock },
  id: Uuid,
  decided: StatusDecision,
): Promise<StatusChange> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = existing(await transaction.find(accounts, { id }, { forUpdate: true }));
    const { lastPostedAt: previous, seq } = account;
    const lastPostedAt = await databaseClock.read(transaction);
    if (!databaseClock.isTooFarAhead(previous, lastPostedAt)) return { account, changed: false };
    await transaction.execute(updateSql<Account>(accounts, { lastPostedAt }, { id }));
    const details = { reason, seq: seq.toString(), was: toRfc3339(previous) };
    const entry = accountAudit(account, CLOCK_RESET, details);
    await recordAction(transaction, decided.actor, lastPostedAt, entry);
    return { account: { ...account, lastPostedAt }, changed: true };
  });
}

/** Closes an empty account and releases its alias and phone. (docs/contract.md, Accounts) */
export async function closeAccount(
  { database, clock }: DatabaseDeps,
  id: Uuid,
  decided: StatusDecision,
): Promise<StatusChange> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, id);
    if (account.status === 'closed') return { account, changed: false };
    const refusal = await closingRefusal(transaction, account);
    if (refusal !== null) throw new ApiError(refusal);
    const now = clock();
    await dropAlias(transaction, account, decided.actor, now);
    const set = { status: 'closed', alias: null, phone: null } as const;
    await transaction.execute(updateSql<Account>(accounts, set, { id }));
    const entry = accountAudit(account, 'account.close', { reason });
    await recordAction(transaction, decided.actor, now, entry);
    return { account: { ...account, ...set }, changed: true };
  });
}

/**
 * Returns why the account cannot be closed, or null. Pending operations hold funds; some batches do
 * not.
 */
async function closingRefusal(transaction: Transaction, account: Account): Promise<Refusal | null> {
  const left = await transaction.query(
    `SELECT available, held FROM balances WHERE account_id=${literal(balances, 'accountId', account.id)}`,
  );
  const isLeft = (of: 'available' | 'held'): boolean =>
    left.some((row) => bigint.parse(row[of]) !== 0n);
  if (isLeft('held')) return cannotClose('funds_held', 'funds are held for what is pending');
  if (isLeft('available')) return cannotClose('not_empty', 'its balances are not zero');
  const ofBatches = await batchRefusal(transaction, account);
  if (ofBatches !== null) return ofBatches;
  const tenant = await transaction.find(tenants, { id: account.tenantId });
  if (tenant?.feeAccountId === account.id)
    return cannotClose('fee_account', 'fees of its tenant go into it');
  return (await awaitsFee(transaction, account.id))
    ? cannotClose('fee_account', 'a pending fee goes into it')
    : null;
}

/**
 * An executing batch without a hold pays its rows in sequence, and a batch's fees go to the account
 * fixed at validation: execute or cancel the batch before you close either account.
 */
async function batchRefusal(transaction: Transaction, { id, tenantId }: Account) {
  const open = await transaction.select(bonusBatches, { tenantId, status: ['ready', 'executing'] });
  if (open.some(({ status, sourceAccountId }) => status === 'executing' && sourceAccountId === id))
    return cannotClose('executing', 'a batch that it pays is executing');
  const charged = open.find(({ feeAccountId }) => feeAccountId === id);
  if (charged === undefined) return null;
  return cannotClose(
    'fee_account',
    `the fees of the batch ${charged.id} go into it, which is ${charged.status}`,
  );
}

/** SQL for pending operations that may still charge a fee. */
const PENDING_FEES_SQL = [
  `SELECT 1 FROM holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
   WHERE h.resource_type='transfer' AND h.expires_at IS NOT NULL AND t.status='pending_approval'`,
  `SELECT 1 FROM payouts FORCE INDEX (expiring) WHERE status IN ('pending_approval','approved','in_progress')`,
];

async function awaitsFee(transaction: Transaction, accountId: Uuid): Promise<boolean> {
  const into = ` AND fee_account_id=${literal(accounts, 'id', accountId)} LIMIT 1`;
  const found = await transaction.all(PENDING_FEES_SQL.map((sql) => sql + into));
  return found.some((rows) => rows.length > 0);
}

function cannotClose(current: string, why: string): Refusal {
  return invalidState(`the account cannot be closed: ${why}`, current, ['empty']);
}
