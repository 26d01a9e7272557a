import { accountAuditEntry, recordAction } from '../access/audit-log.js';
import { ApiError, invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { bigint } from '../db/columns.js';
import type { Database, Transaction } from '../db/database.js';
import { bonusBatches } from '../db/entities/bonuses.js';
import { balances } from '../db/entities/ledger.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { literal, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from './access.js';
import { dropAlias } from './alias.js';
import { type StatusChange, checkedReason, type Decided } from './status.js';

/**
 * Closes an empty account for good and releases its alias and phone. (docs/contract.md, Accounts)
 */
export async function closeAccount(
  database: Database,
  clock: Clock,
  id: Uuid,
  decided: Decided,
): Promise<StatusChange> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, id);
    if (account.status === 'closed') return { account, changed: false };
    const obstacle = await obstacleTo(transaction, account);
    if (obstacle !== null) throw new ApiError(obstacle);
    const now = clock();
    await dropAlias(transaction, account, decided.actor, now);
    const set = { status: 'closed', alias: null, phone: null } as const;
    await transaction.execute(updateSql<Account>(accounts, set, { id }));
    await recordAction(
      transaction,
      decided.actor,
      now,
      accountAuditEntry(account, 'account.close', { reason }),
    );
    return { account: { ...account, ...set }, changed: true };
  });
}

/** Everything pending holds funds, except a batch that the account's funds do not cover. */
async function obstacleTo(transaction: Transaction, account: Account): Promise<Refusal | null> {
  const left = await transaction.query(
    `SELECT available, held FROM balances WHERE account_id=${literal(balances, 'accountId', account.id)}`,
  );
  const isLeft = (of: 'available' | 'held'): boolean =>
    left.some((row) => bigint.parse(row[of]) !== 0n);
  if (isLeft('held')) return inTheWay('funds_held', 'funds are held for what is pending');
  if (isLeft('available')) return inTheWay('not_empty', 'its balances are not zero');
  const ofBatches = await batchObstacle(transaction, account);
  if (ofBatches !== null) return ofBatches;
  const tenant = await transaction.find(tenants, { id: account.tenantId });
  if (tenant?.feeAccountId === account.id)
    return inTheWay('fee_account', 'fees of its tenant go into it');
  return (await isAwaited(transaction, account.id))
    ? inTheWay('fee_account', 'a pending fee goes into it')
    : null;
}

/**
 * An executing batch without a hold pays its rows in sequence, and a batch's fees go to the account
 * fixed at validation: execute or cancel the batch before you close either account.
 */
async function batchObstacle(
  transaction: Transaction,
  { id, tenantId }: Account,
): Promise<Refusal | null> {
  const open = await transaction.select(bonusBatches, { tenantId, status: ['ready', 'executing'] });
  if (open.some(({ status, sourceAccountId }) => status === 'executing' && sourceAccountId === id))
    return inTheWay('executing', 'a batch that it pays is executing');
  const charged = open.find(({ feeAccountId }) => feeAccountId === id);
  if (charged === undefined) return null;
  return inTheWay(
    'fee_account',
    `the fees of the batch ${charged.id} go into it, which is ${charged.status}`,
  );
}

/** Unsettled operations that may still charge a fee. */
const AWAITING = [
  `SELECT 1 FROM holds h FORCE INDEX (expiring) STRAIGHT_JOIN transfers t ON t.id=h.resource_id
   WHERE h.resource_type='transfer' AND h.expires_at IS NOT NULL AND t.status='pending_approval'`,
  `SELECT 1 FROM payouts FORCE INDEX (expiring) WHERE status IN ('pending_approval','approved','in_progress')`,
];

async function isAwaited(transaction: Transaction, accountId: Uuid): Promise<boolean> {
  const into = ` AND fee_account_id=${literal(accounts, 'id', accountId)} LIMIT 1`;
  const found = await transaction.all(AWAITING.map((sql) => sql + into));
  return found.some((rows) => rows.length > 0);
}

function inTheWay(current: string, why: string): Refusal {
  return invalidState(`the account cannot be closed: ${why}`, current, ['empty']);
}
