import * as column from '../db/columns.js';
import { type Actor, memberActor } from '../access/audit-log.js';
import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Caller, type Operation, roleAllows, ROLES } from '../core/permissions.js';
import type { Database, Reader, StoredRow, Transaction } from '../db/database.js';
import { type Account, accounts, memberRoles } from '../db/entities/parties.js';
import { equalsSql, literal, type Where } from '../db/statements.js';
import { transact, transactFor } from '../db/transact.js';
import { ACCOUNT_CLOSED, AUTHORITY_INSUFFICIENT } from './rules.js';

/** SQL that joins an account (`a`) of the caller's tenant with the caller's role in it (`r`). */
export function ownAccountSql(
  caller: Caller,
  accountId: Uuid,
): { from: string; where: string; role: string } {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return {
    role: 'r.role AS caller_role',
    from: `accounts a LEFT JOIN member_roles r ON r.account_id=a.id AND r.member_id=${member}`,
    where: `a.id=${literal(accounts, 'id', accountId)} AND a.tenant_id=${literal(accounts, 'tenantId', caller.tenantId)} AND a.type<>'system'`,
  };
}

const role = column.nullable(column.oneOf(ROLES));

/** Throws not_found without a row, authority_insufficient unless `caller_role` allows it. */
export function assertAllowed(
  operation: Operation,
  row: StoredRow | undefined,
): asserts row is StoredRow {
  if (row === undefined) throw notFound();
  if (!roleAllows(operation, role.parse(row.caller_role) ?? undefined))
    throw new ApiError(AUTHORITY_INSUFFICIENT);
}

/** Throws authority_insufficient unless a role in any account allows the operation. */
export async function assertAllowedSomewhere(
  reader: Reader,
  operation: Operation,
  caller: Caller,
): Promise<void> {
  const member = equalsSql(memberRoles, { memberId: caller.memberId });
  const rows = await reader.query(
    `SELECT DISTINCT r.role FROM member_roles r JOIN accounts a ON a.id=r.account_id
     WHERE ${member} AND a.tenant_id=${literal(accounts, 'tenantId', caller.tenantId)} AND a.type<>'system'`,
  );
  if (!ROLES.some((own) => roleAllows(operation, own) && rows.some((row) => row.role === own)))
    throw new ApiError(AUTHORITY_INSUFFICIENT);
}

export async function assertAccountAllowed(
  reader: Reader,
  operation: Operation,
  caller: Caller,
  accountId: Uuid,
): Promise<void> {
  const own = ownAccountSql(caller, accountId);
  const [row] = await reader.query(`SELECT ${own.role} FROM ${own.from} WHERE ${own.where}`);
  assertAllowed(operation, row);
}

/** The author of a change of an account: a member of its tenant with the right, or an operator. */
export type Changer = Caller | Actor;

/** Changes a locked account. Throws not_found, invalid_state (closed), authority_insufficient. */
export function changeAccount<T>(
  database: Database,
  by: Changer,
  accountId: Uuid,
  work: (transaction: Transaction, account: Account, actor: Actor) => Promise<T>,
): Promise<T> {
  if (!('memberId' in by))
    return transact(database, async (transaction) =>
      work(transaction, await lockOpenAccount(transaction, accountId), by),
    );
  return transactFor(by.tenantId, database, async (transaction) => {
    // Checked before the lock, so that no request waits for a foreign account's row.
    await assertAccountAllowed(transaction, 'manageAccount', by, accountId);
    const account = assertOpen(await lockOwnAccount(transaction, by, accountId));
    return work(transaction, account, memberActor(by));
  });
}

export function lockOwnAccount(
  transaction: Transaction,
  { tenantId }: Caller,
  id: Uuid,
): Promise<Account> {
  return lock(transaction, { id, tenantId });
}

/** Locks any account except a system account, for operators. Throws not_found. */
export function lockAccount(transaction: Transaction, id: Uuid): Promise<Account> {
  return lock(transaction, { id });
}

async function lock(transaction: Transaction, where: Where<Account>): Promise<Account> {
  const account = await transaction.find(accounts, where, { forUpdate: true });
  if (account === undefined || account.type === 'system') throw notFound();
  return account;
}

/** Locks an open account, for operators. Throws not_found, invalid_state (closed). */
export async function lockOpenAccount(transaction: Transaction, id: Uuid): Promise<Account> {
  return assertOpen(await lockAccount(transaction, id));
}

function assertOpen(account: Account): Account {
  if (account.status === 'closed') throw new ApiError(ACCOUNT_CLOSED);
  return account;
}
