import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Role } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';
import { accounts, type Member, memberRoles, members } from '../db/entities/parties.js';
import { isDuplicateKey } from '../db/failures.js';
import { deleteSql, insertSql, literal, literals, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { type AuditEntry, type AuditDetails, type Actor, recordAction } from './audit-log.js';

const MAX_NAME = 80;

/** Adds a person or program without a role. Throws invalid_field, also for taken names. */
export async function addMember(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  name: string,
  actor: Actor,
): Promise<Member> {
  const member: Member = {
    id: newId(),
    tenantId,
    name: checkedText('name', name, MAX_NAME),
    createdAt: clock(),
  };
  try {
    await transact(database, async (transaction) => {
      await transaction.execute(insertSql(members, [member]));
      await recordAction(transaction, actor, member.createdAt, memberAudit(member, 'member.add'));
    });
  } catch (failure) {
    if (isDuplicateKey(failure))
      throw new ApiError({
        ...invalidField('name', 'taken'),
        message: `the tenant already has a member ${member.name}`,
      });
    throw failure;
  }
  return member;
}

/** Gives the role in one account of the member's tenant, replacing any other. */
export async function grantRole(
  database: Database,
  clock: Clock,
  member: Member,
  accountId: Uuid,
  role: Role,
  actor: Actor,
): Promise<void> {
  await transact(database, async (transaction) => {
    const account = await transaction.find(accounts, { id: accountId, tenantId: member.tenantId });
    if (account === undefined || account.type === 'system') throw notFound();
    const before = await transaction.find(
      memberRoles,
      { accountId, memberId: member.id },
      { forUpdate: true },
    );
    if (before?.role === role) return;
    await transaction.execute(
      upsertSql(memberRoles, [{ accountId, memberId: member.id, role }], ['role']),
    );
    const details = { account_id: accountId, role, previous: before?.role ?? null };
    await recordAction(transaction, actor, clock(), memberAudit(member, 'role.grant', details));
  });
}

/** Gives the role in every account that the tenant has now. Returns the number of accounts. */
export async function grantRoleEverywhere(
  database: Database,
  clock: Clock,
  member: Member,
  role: Role,
  actor: Actor,
): Promise<number> {
  const tenantId = literal(members, 'tenantId', member.tenantId);
  const fromAccounts = `FROM accounts WHERE tenant_id=${tenantId} AND type<>'system'`;
  const memberId = literal(memberRoles, 'memberId', member.id);
  return transact(database, async (transaction) => {
    await transaction.execute(
      `INSERT INTO member_roles (account_id, member_id, role)
       SELECT id, ${memberId}, ${literal(memberRoles, 'role', role)} ${fromAccounts}
       ON DUPLICATE KEY UPDATE role=VALUES(role)`,
    );
    const [counted] = await transaction.query(`SELECT COUNT(*) AS accounts ${fromAccounts}`);
    const count = column.integer.parse(counted?.accounts);
    const entry = memberAudit(member, 'role.grant_everywhere', { role, accounts: count });
    await recordAction(transaction, actor, clock(), entry);
    return count;
  });
}

/** Removes the role in one account, or in all (null). Returns the number of roles removed. */
export async function removeRole(
  database: Database,
  clock: Clock,
  member: Member,
  accountId: Uuid | null,
  actor: Actor,
): Promise<number> {
  const where = { memberId: member.id, ...(accountId === null ? {} : { accountId }) };
  return transact(database, async (transaction) => {
    const removed = await transaction.execute(deleteSql(memberRoles, where));
    if (removed === 0) return 0;
    const details = { account_id: accountId, accounts: removed };
    await recordAction(transaction, actor, clock(), memberAudit(member, 'role.remove', details));
    return removed;
  });
}

function memberAudit(
  { id, tenantId }: Member,
  action: string,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId, action, subjectType: 'member', subjectId: id, details };
}

interface MemberWithRoles {
  readonly member: Member;
  readonly roles: ReadonlyMap<string, number>;
}

export async function listMembers(
  reader: Reader,
  tenantId: Uuid,
): Promise<readonly MemberWithRoles[]> {
  const own = await reader.select(members, { tenantId }, { orderBy: ['createdAt', 'id'] });
  if (own.length === 0) return [];
  const ids = literals(
    memberRoles,
    'memberId',
    own.map(({ id }) => id),
  );
  const counted = await reader.query(
    `SELECT member_id, role, COUNT(*) AS accounts FROM member_roles WHERE member_id IN (${ids}) GROUP BY member_id, role ORDER BY role`,
  );
  return own.map((member) => ({
    member,
    roles: new Map(
      counted
        .filter((row) => column.uuid.parse(row.member_id) === member.id)
        .map((row) => [column.string.parse(row.role), column.integer.parse(row.accounts)]),
    ),
  }));
}
