import { ApiError, assertFound, notFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Caller, PERMISSIONS, type Role, ROLES, rolesCovering } from '../core/permissions.js';
import { nullable, oneOf } from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import {
  accounts,
  type Member,
  memberRoles,
  members,
  type Tenant,
  tenants,
  tokens,
} from '../db/entities/parties.js';
import { transactFor } from '../db/reader.js';
import { literal, literals } from '../db/statements.js';
import { type Actor, memberActor, type MemberName } from './audit-log.js';

/** The author of a change: a member with the right, or an operator. */
export type Changer = Caller | Actor;

export function isMember(by: Changer): by is Caller {
  return 'memberId' in by;
}

/** Runs `work` under the lock on the tenant's members, roles and tokens. Throws what `lockAccess` throws. */
export function changeAccess<T>(
  database: Database,
  by: Changer,
  tenantId: Uuid,
  work: (transaction: Transaction, tenant: Tenant, actor: Actor) => Promise<T>,
): Promise<T> {
  return transactFor(isMember(by) ? by : null, database, async (transaction) => {
    const tenant = await lockAccess(transaction, by, tenantId);
    return work(transaction, tenant, isMember(by) ? memberActor(by) : by);
  });
}

/**
 * Locks the tenant's row, which guards its members, roles and tokens. The caller's token is read
 * again under the lock, because a token that is being revoked with all that it created must not
 * create another. Throws not_found (the tenant), unauthorized (the token was revoked).
 */
export async function lockAccess(
  transaction: Transaction,
  by: Changer,
  tenantId: Uuid,
): Promise<Tenant> {
  const tenant = assertFound(
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true }),
  );
  if (isMember(by)) {
    const token = await transaction.find(tokens, { keyId: by.tokenKeyId });
    if (token?.revokedAt !== null) throw new ApiError(REVOKED, { 'WWW-Authenticate': 'Bearer' });
  }
  return tenant;
}

const REVOKED: Refusal = { code: 'unauthorized', message: 'the token is not valid' };
const NOT_AN_OWNER: Refusal = {
  code: 'authority_insufficient',
  message: 'only an owner may do this',
  details: { reason: 'role' },
};
const LACKS_ROLE: Refusal = {
  code: 'authority_insufficient',
  message: 'the member has a role that you do not have, in an account of the tenant',
  details: { reason: 'role_of_member' },
};
export const LACKS_SCOPE: Refusal = {
  code: 'authority_insufficient',
  message: 'the new token has a scope that your token does not have',
  details: { reason: 'scope' },
};

/** Throws authority_insufficient unless the caller owns the account; by default any account. */
export async function assertOwner(
  reader: Reader,
  { tenantId, memberId }: Caller,
  accountId?: Uuid,
): Promise<void> {
  const chosen = accountId === undefined ? '' : `AND a.id=${literal(accounts, 'id', accountId)}`;
  const [row] = await reader.query(
    `SELECT 1 FROM member_roles r JOIN accounts a ON a.id=r.account_id
     WHERE r.member_id=${literal(memberRoles, 'memberId', memberId)}
       AND r.role IN (${literals(memberRoles, 'role', PERMISSIONS.manageAccess.roles)})
       AND a.tenant_id=${literal(accounts, 'tenantId', tenantId)} AND a.type<>'system' ${chosen} LIMIT 1`,
  );
  if (row === undefined) throw new ApiError(NOT_AN_OWNER);
}

const nullableRole = nullable(oneOf(ROLES));

/**
 * Throws authority_insufficient unless the caller owns an account, and may do in each account all
 * that the members may do there, now or once their waiting roles take effect.
 */
export async function assertOwnerAbove(
  reader: Reader,
  caller: Caller,
  members: Iterable<Uuid>,
): Promise<void> {
  await assertOwner(reader, caller);
  const others = new Set([...members].filter((id) => id !== caller.memberId));
  if (others.size === 0) return;
  const ids = literals(memberRoles, 'memberId', others);
  const own = literal(memberRoles, 'memberId', caller.memberId);
  const rows = await reader.query(
    `SELECT DISTINCT t.role AS role, o.role AS caller_role
     FROM (SELECT account_id, role FROM member_roles WHERE member_id IN (${ids})
       UNION ALL SELECT account_id, role FROM pending_roles WHERE member_id IN (${ids})) t
     LEFT JOIN member_roles o ON o.account_id=t.account_id AND o.member_id=${own}`,
  );
  const isCovered = (role: Role | null, held: Role | null): boolean =>
    role !== null && held !== null && rolesCovering(role).includes(held);
  if (
    !rows.every((row) =>
      isCovered(nullableRole.parse(row.role), nullableRole.parse(row.caller_role)),
    )
  )
    throw new ApiError(LACKS_ROLE);
}

/** Returns a member who has not been removed. Throws not_found (`field`). */
export async function findMember(
  reader: Reader,
  { id, tenantId }: MemberName,
  field?: string,
): Promise<Member> {
  const member = await reader.find(members, { id, tenantId, isActive: true });
  if (member === undefined) throw notFound(field);
  return member;
}
