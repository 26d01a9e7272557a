import * as column from '../db/columns.js';
import { type Actor, memberActor } from '../access/audit-log.js';
import { assertOwner, type Changer, isMember } from '../access/authority.js';
import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Caller, type Operation, roleAllows, ROLES } from '../core/permissions.js';
import type { Database, Reader, StoredRow, Transaction } from '../db/database.js';
import { type Account, accounts, memberRoles, tenants } from '../db/entities/parties.js';
import { equalsSql, literal, literals, type Where, columnList } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { perReader, transact, transactFor } from '../db/reader.js';
import type { OwnerFinder } from '../ledger/writer/types.js';
import { ACCOUNT_CLOSED, AUTHORITY_INSUFFICIENT } from './rules.js';

const nullableRole = column.nullable(column.oneOf(ROLES));

/** Throws not_found (`field`) without a row, authority_insufficient if its `caller_role` is too low. */
export function assertAllowed(
  operation: Operation,
  row: StoredRow | undefined,
  field?: string,
): asserts row is StoredRow {
  if (row === undefined) throw notFound(field);
  if (!roleAllows(operation, nullableRole.parse(row.caller_role) ?? undefined))
    throw new ApiError(AUTHORITY_INSUFFICIENT);
}

/** Throws authority_insufficient unless the caller's role in some account allows the operation. */
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
  if (!ROLES.some((role) => roleAllows(operation, role) && rows.some((row) => row.role === role)))
    throw new ApiError(AUTHORITY_INSUFFICIENT);
}

/** Returns the tenant's account. Throws not_found (`field`), authority_insufficient. */
export async function readAccount(
  reader: Reader,
  { tenantId, memberId }: Caller,
  accountId: Uuid,
  operation: Operation,
  field?: string,
): Promise<Account> {
  const [row] = await reader.query(
    `SELECT r.role AS caller_role, ${columnList(accounts, 'a')}
     FROM accounts a LEFT JOIN member_roles r ON r.account_id=a.id AND r.member_id=${literal(memberRoles, 'memberId', memberId)}
     WHERE a.id=${literal(accounts, 'id', accountId)} AND a.tenant_id=${literal(accounts, 'tenantId', tenantId)} AND a.type<>'system'`,
  );
  assertAllowed(operation, row, field);
  return parseRow(accounts, row);
}

/** Locks an account for `work`. Throws not_found, invalid_state (closed), authority_insufficient. */
export function changeAccount<T>(
  database: Database,
  by: Changer,
  accountId: Uuid,
  work: (transaction: Transaction, account: Account, actor: Actor) => Promise<T>,
): Promise<T> {
  if (!isMember(by))
    return transact(database, async (transaction) =>
      work(transaction, await lockOpenAccount(transaction, accountId), by),
    );
  return transactFor(by, database, async (transaction) => {
    // Checked before the lock, so that no request waits for a foreign account's row.
    await readAccount(transaction, by, accountId, 'manageAccount');
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

/** Throws authority_insufficient unless the token has the scope `read` or its member is an owner. */
export async function assertMayShow(reader: Reader, caller: Caller): Promise<void> {
  if (!caller.scopes.includes('read')) await assertOwner(reader, caller);
}

interface NamedAccount {
  /** The tenant whose request names the account; not necessarily its owner. */
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
}

interface Reach {
  owns(tenantId: Uuid, accountId: Uuid): boolean;
  /** True for named accounts of the tenant and of its network. */
  reaches(tenantId: Uuid, accountId: Uuid): boolean;
  readonly ownerOf: OwnerFinder;
}

/** Owners, by account, of accounts that their own tenant named. An owner never changes. */
const ownerCache = perReader(() => new Map<Uuid, Uuid>());
const MAX_CACHED_OWNERS = 20_000;

/** Reads which accounts the tenants reach, so that no unreachable account is locked. */
export async function readReach(reader: Reader, named: Iterable<NamedAccount>): Promise<Reach> {
  const owners = new Map<Uuid, Uuid>();
  const inReach = new Set<string>();
  const cached = ownerCache(reader);
  if (cached.size > MAX_CACHED_OWNERS) cached.clear();
  const requested = new Map<string, NamedAccount>();
  for (const one of named) {
    const pair = pairKey(one.tenantId, one.accountId);
    if (cached.get(one.accountId) !== one.tenantId) requested.set(pair, one);
    else {
      inReach.add(pair);
      owners.set(one.accountId, one.tenantId);
    }
  }
  for (const row of await readPairs(reader, [...requested.values()])) {
    const [tenantId, ownerId] = [column.uuid.parse(row.tenant_id), column.uuid.parse(row.owner_id)];
    const pair = pairKey(tenantId, column.uuid.parse(row.account_id));
    const one = requested.get(pair);
    if (one === undefined) continue;
    inReach.add(pair);
    owners.set(one.accountId, ownerId);
    // Saves memory: requests share one string for their tenant, while `ownerId` is new in each row.
    if (ownerId === tenantId) cached.set(one.accountId, one.tenantId);
  }
  const reaches = (tenantId: Uuid, accountId: Uuid): boolean =>
    inReach.has(pairKey(tenantId, accountId));
  return {
    reaches,
    owns: (tenantId, accountId) =>
      owners.get(accountId) === tenantId && reaches(tenantId, accountId),
    ownerOf: (accountId) => owners.get(accountId),
  };
}

function readPairs(
  reader: Reader,
  requested: readonly NamedAccount[],
): ReturnType<Reader['query']> {
  if (requested.length === 0) return Promise.resolve([]);
  const accountIds = literals(accounts, 'id', new Set(requested.map(({ accountId }) => accountId)));
  const tenantIds = literals(tenants, 'id', new Set(requested.map(({ tenantId }) => tenantId)));
  // IN lists of single columns, because not every optimizer uses a key for pairs of columns.
  return reader.query(
    `SELECT sender.id AS tenant_id, a.id AS account_id, owner.id AS owner_id
     FROM accounts a JOIN tenants owner ON owner.id=a.tenant_id JOIN tenants sender ON sender.id=owner.id OR sender.network=owner.network
     WHERE a.id IN (${accountIds}) AND sender.id IN (${tenantIds}) AND (sender.id, a.id) IN (${pairsSql(requested)})`,
  );
}

export async function readOwners(
  reader: Reader,
  accountIds: readonly Uuid[],
): Promise<OwnerFinder> {
  if (accountIds.length === 0) return () => undefined;
  const ids = literals(accounts, 'id', new Set(accountIds));
  const rows = await reader.query(`SELECT id, tenant_id FROM accounts WHERE id IN (${ids})`);
  const owners = new Map(
    rows.map((row) => [column.uuid.parse(row.id), column.uuid.parse(row.tenant_id)]),
  );
  return (accountId) => owners.get(accountId);
}

export function pairsSql(named: readonly NamedAccount[]): string {
  return named
    .map(
      ({ tenantId, accountId }) =>
        `(${column.uuid.literal(tenantId)},${column.uuid.literal(accountId)})`,
    )
    .join(',');
}

function pairKey(tenantId: Uuid, accountId: Uuid): string {
  return `${tenantId}|${accountId}`;
}
