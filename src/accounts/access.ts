import { type Actor, memberActor } from '../access/audit-log.js';
import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Caller, type Operation, ROLES, roleAllows } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { type Account, accounts, memberRoles } from '../db/entities/parties.js';
import type { Beneficiary } from '../db/places.js';
import { equalsSql, literal, type Where } from '../db/statements.js';
import { ACCOUNT_CLOSED, AUTHORITY_INSUFFICIENT } from './rules.js';

/** SQL for an account (`a`) of the caller's tenant with the caller's role in it (`r`), to join in reads. */
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

/** Throws not_found when there is no row, authority_insufficient when its `caller_role` does not allow the operation. */
export function assertAllowed(
  operation: Operation,
  row: StoredRow | undefined,
): asserts row is StoredRow {
  if (row === undefined) throw notFound();
  if (!roleAllows(operation, role.parse(row.caller_role) ?? undefined))
    throw new ApiError(AUTHORITY_INSUFFICIENT);
}

/** Throws authority_insufficient unless the member may do this in some account of the tenant. */
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

/** Throws not_found or authority_insufficient unless the caller may do this in the account. */
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

/** Who changes an account: a member of its tenant, who needs the right, or an operator. */
export type Changer = Caller | Actor;

/** For whom a change is made, as `transactFor` takes it. */
export function beneficiaryOf(by: Changer): Beneficiary {
  return 'memberId' in by ? by.tenantId : null;
}

/** Throws not_found, invalid_state (closed), and authority_insufficient for a member who is no admin or owner of it. */
export async function lockForChange(
  transaction: Transaction,
  by: Changer,
  accountId: Uuid,
): Promise<{ readonly account: Account; readonly actor: Actor }> {
  if (!('memberId' in by))
    return { account: await lockOpenAccount(transaction, accountId), actor: by };
  // Before the lock: nobody ever waits for a foreign account's row, so timing reveals nothing about it.
  await assertAccountAllowed(transaction, 'manageAccount', by, accountId);
  return {
    account: assertOpen(await lockOwnAccount(transaction, by, accountId)),
    actor: memberActor(by),
  };
}

/** The caller's account, locked. Throws not_found. */
export function lockOwnAccount(
  transaction: Transaction,
  { tenantId }: Caller,
  id: Uuid,
): Promise<Account> {
  return lock(transaction, { id, tenantId });
}

/** Any account except a system account, locked: for operators. Throws not_found. */
export function lockAccount(transaction: Transaction, id: Uuid): Promise<Account> {
  return lock(transaction, { id });
}

async function lock(transaction: Transaction, where: Where<Account>): Promise<Account> {
  const account = await transaction.find(accounts, where, { forUpdate: true });
  if (account === undefined || account.type === 'system') throw notFound();
  return account;
}

/** The same; also throws invalid_state if it is closed. */
export async function lockOpenAccount(transaction: Transaction, id: Uuid): Promise<Account> {
  return assertOpen(await lockAccount(transaction, id));
}

function assertOpen(account: Account): Account {
  if (account.status === 'closed') throw new ApiError(ACCOUNT_CLOSED);
  return account;
}
