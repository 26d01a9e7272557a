import { tryEach } from '../core/collections.js';
import { ApiError, assertFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, instant, toRfc3339 } from '../core/instant.js';
import { type Role, rolesCovering } from '../core/permissions.js';
import { integer, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import {
  accounts,
  memberRoles,
  members,
  type PendingRole,
  pendingRoles,
  type Tenant,
  tenants,
} from '../db/entities/parties.js';
import { transact } from '../db/reader.js';
import {
  columnList,
  deleteSql,
  equalsSql,
  literal,
  literals,
  upsertSql,
} from '../db/statements.js';
import { rowParser } from '../db/table.js';
import type { AuditAction } from '../access/audit-actions.js';
import {
  type Actor,
  memberAudit,
  memberOf,
  type MemberName,
  recordAction,
} from '../access/audit-log.js';
import {
  assertOwner,
  changeAccess,
  type Changer,
  findMember,
  isMember,
} from '../access/authority.js';

/**
 * Gives the role in one account of the member's tenant, replacing any other. A role that permits
 * more than the previous one waits for the tenant's delay. Returns when it takes effect; null if it
 * is in force. Throws not_found, authority_insufficient, last_owner.
 */
export function grantRole(
  database: Database,
  clock: Clock,
  member: MemberName,
  accountId: Uuid,
  role: Role,
  by: Changer,
): Promise<Instant | null> {
  return changeAccess(database, by, member.tenantId, async (transaction, tenant, actor) => {
    await assertParties(transaction, member, accountId, by);
    const own = { accountId, memberId: member.id };
    const before = await transaction.find(memberRoles, own);
    const waited = await transaction.find(pendingRoles, own);
    const at = clock();
    await storeRole(transaction, { ...own, tenant, role, at, actor });
    const waiting = await transaction.find(pendingRoles, own);
    const details = { account_id: accountId, role, previous: before?.role ?? null };
    const record = (action: AuditAction, more: object = {}): Promise<void> =>
      recordAction(transaction, actor, at, memberAudit(member, action, { ...details, ...more }));
    if (waited !== undefined && waited.role !== waiting?.role)
      await recordWithdrawal(transaction, actor, at, tenant.id, waited);
    const effectiveAt = waiting?.effectiveAt ?? null;
    if (effectiveAt === null && before?.role !== role) await record('role.grant');
    if (effectiveAt !== null && waited?.role !== role)
      await record('role.request', { effective_at: toRfc3339(effectiveAt) });
    return effectiveAt;
  });
}

/** Gives the role in every account that the tenant has now. Returns the number of accounts. */
export function grantRoleEverywhere(
  database: Database,
  clock: Clock,
  member: MemberName,
  role: Role,
  by: Actor,
): Promise<number> {
  return changeAccess(database, by, member.tenantId, async (transaction, tenant, actor) => {
    await findMember(transaction, member);
    const at = clock();
    await storeRole(transaction, { accountId: null, memberId: member.id, tenant, role, at, actor });
    const [counted] = await transaction.query(
      `SELECT COUNT(*) AS accounts FROM accounts WHERE ${equalsSql(accounts, { tenantId: tenant.id })} AND type<>'system'`,
    );
    const count = integer.parse(counted?.accounts);
    const entry = memberAudit(member, 'role.grant_everywhere', { role, accounts: count });
    await recordAction(transaction, actor, at, entry);
    return count;
  });
}

/**
 * Removes the role, or the waiting one, in one account or in all (null). Returns the number of roles
 * removed. Throws not_found, authority_insufficient, last_owner.
 */
export function removeRole(
  database: Database,
  clock: Clock,
  member: MemberName,
  accountId: Uuid | null,
  by: Changer,
): Promise<number> {
  return changeAccess(database, by, member.tenantId, async (transaction, _, actor) => {
    if (accountId !== null) await assertParties(transaction, member, accountId, by);
    const removed = await removeRoles(transaction, member.id, accountId);
    if (removed === 0) return 0;
    const details = { account_id: accountId, accounts: removed };
    await recordAction(transaction, actor, clock(), memberAudit(member, 'role.remove', details));
    return removed;
  });
}

/** Removes roles, in force or waiting, under the lock of the tenant. Throws last_owner. */
export async function removeRoles(
  transaction: Transaction,
  memberId: Uuid,
  accountId: Uuid | null,
): Promise<number> {
  const where = { memberId, ...(accountId === null ? {} : { accountId }) };
  await assertOtherOwner(transaction, where);
  const waiting = await transaction.execute(deleteSql(pendingRoles, where));
  return waiting + (await transaction.execute(deleteSql(memberRoles, where)));
}

async function assertParties(
  transaction: Transaction,
  member: MemberName,
  accountId: Uuid,
  by: Changer,
): Promise<void> {
  const { tenantId } = member;
  const account = assertFound(await transaction.find(accounts, { id: accountId, tenantId }));
  assertFound(account.type === 'system' ? undefined : account);
  await findMember(transaction, member);
  if (isMember(by)) await assertOwner(transaction, by, accountId);
}

interface NewRole {
  /** Null for every account of the tenant. */
  readonly accountId: Uuid | null;
  readonly memberId: Uuid;
  readonly tenant: Tenant;
  readonly role: Role;
  readonly at: Instant;
  readonly actor: Actor;
}

/** Stores the role where it permits no more than the previous one, and lets it wait elsewhere. */
async function storeRole(
  transaction: Transaction,
  { accountId, memberId, tenant, role, at, actor }: NewRole,
): Promise<void> {
  const where = { memberId, ...(accountId === null ? {} : { accountId }) };
  if (role !== 'owner') await assertOtherOwner(transaction, where);
  const member = literal(memberRoles, 'memberId', memberId);
  const [roleSql, covering] = [
    literal(memberRoles, 'role', role),
    literals(memberRoles, 'role', rolesCovering(role)),
  ];
  const chosen = accountId === null ? '' : `AND a.id=${literal(accounts, 'id', accountId)}`;
  const inAccounts = `FROM accounts a LEFT JOIN member_roles r ON r.account_id=a.id AND r.member_id=${member}
    WHERE a.tenant_id=${literal(accounts, 'tenantId', tenant.id)} AND a.type<>'system' ${chosen}`;
  const isWider = `(r.role IS NULL OR r.role NOT IN (${covering}))`;
  const isAtOnce = tenant.policyDelayS === 0 ? 'TRUE' : `NOT ${isWider}`;
  if (tenant.policyDelayS > 0) {
    const effectiveAt = literal(
      pendingRoles,
      'effectiveAt',
      instant(at + tenant.policyDelayS * 1_000),
    );
    const requester = `${literal(pendingRoles, 'requestedChannel', actor.channel)}, ${literal(pendingRoles, 'requestedBy', actor.name)}`;
    // Requesting the same role again does not extend its wait.
    await transaction.execute(
      `INSERT INTO pending_roles (${columnList(pendingRoles)})
       SELECT a.id, ${member}, ${roleSql}, ${effectiveAt}, ${requester} ${inAccounts} AND ${isWider}
       ON DUPLICATE KEY UPDATE
         effective_at=IF(pending_roles.role=VALUES(role), LEAST(pending_roles.effective_at, VALUES(effective_at)), VALUES(effective_at)),
         pending_roles.role=VALUES(role), requested_channel=VALUES(requested_channel), requested_by=VALUES(requested_by)`,
    );
  }
  await transaction.execute(
    `DELETE FROM pending_roles WHERE member_id=${member} AND account_id IN (SELECT a.id ${inAccounts} AND ${isAtOnce})`,
  );
  await transaction.execute(
    `INSERT INTO member_roles (account_id, member_id, role)
     SELECT a.id, ${member}, ${roleSql} ${inAccounts} AND ${isAtOnce}
     ON DUPLICATE KEY UPDATE member_roles.role=VALUES(role)`,
  );
}

/** Throws last_owner if the member is the only owner of one of these accounts. */
async function assertOtherOwner(
  reader: Reader,
  where: { readonly memberId: Uuid; readonly accountId?: Uuid },
): Promise<void> {
  const [row] = await reader.query(
    `SELECT account_id FROM member_roles m WHERE ${equalsSql(memberRoles, where)} AND role='owner'
     AND NOT EXISTS (SELECT 1 FROM member_roles o WHERE o.account_id=m.account_id AND o.role='owner'
       AND o.member_id<>m.member_id) LIMIT 1`,
  );
  if (row === undefined) return;
  const refusal: Refusal = {
    code: 'last_owner',
    message: 'the member is the only owner of an account: make another member its owner first',
    details: { account_id: uuid.parse(row.account_id) },
  };
  throw new ApiError(refusal);
}

const parseDue = rowParser({ accountId: uuid, memberId: uuid });

/** Stores at most `limit` roles whose wait is over. Returns how many it found. */
export async function applyDueRoles(
  { database, clock }: DatabaseDeps,
  limit: number,
): Promise<number> {
  const due = await database.reader.query(
    `SELECT account_id, member_id FROM pending_roles WHERE effective_at<=${literal(pendingRoles, 'effectiveAt', clock())} ORDER BY effective_at LIMIT ${Math.trunc(limit)}`,
  );
  await tryEach(due, (row) =>
    transact(database, (transaction) => applyDueRole(transaction, clock, parseDue(row))),
  );
  return due.length;
}

/** Stores a role whose wait is over, or withdraws it if its grantor no longer owns the account. */
async function applyDueRole(
  transaction: Transaction,
  clock: Clock,
  own: Pick<PendingRole, 'accountId' | 'memberId'>,
): Promise<void> {
  const { tenantId } = assertFound(await transaction.find(members, { id: own.memberId }));
  await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
  const pending = await transaction.find(pendingRoles, own);
  const at = clock();
  if (pending === undefined || pending.effectiveAt > at) return;
  await transaction.execute(deleteSql(pendingRoles, own));
  const requester = { channel: pending.requestedChannel, name: pending.requestedBy };
  const grantor = memberOf(requester);
  const isEntitled =
    grantor === null ||
    (await transaction.find(memberRoles, { ...own, memberId: grantor }))?.role === 'owner';
  if (!isEntitled) return recordWithdrawal(transaction, requester, at, tenantId, pending);
  const { role } = pending;
  await transaction.execute(upsertSql(memberRoles, [{ ...own, role }], ['role']));
  const details = { account_id: own.accountId, role };
  const entry = memberAudit({ id: own.memberId, tenantId }, 'role.take_effect', details);
  await recordAction(transaction, requester, at, entry);
}

function recordWithdrawal(
  transaction: Transaction,
  actor: Actor,
  at: Instant,
  tenantId: Uuid,
  { accountId, memberId, role }: PendingRole,
): Promise<void> {
  const details = { account_id: accountId, role };
  const entry = memberAudit({ id: memberId, tenantId }, 'role.withdraw', details);
  return recordAction(transaction, actor, at, entry);
}
