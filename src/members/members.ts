import { checkedText } from '../core/checked-text.js';
import {
  ApiError,
  type CommandResult,
  invalidField,
  invalidState,
  type Refusal,
} from '../core/errors.js';
import type { RequestKey } from '../core/fingerprint.js';
import { groupBy } from '../core/collections.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import {
  type Member,
  memberRoles,
  members,
  type PendingRole,
  pendingRoles,
} from '../db/entities/parties.js';
import { equalsSql, insertSql, literals, olderSql, updateSql } from '../db/statements.js';
import { writeKeyed } from '../ledger/keyed-writes.js';
import {
  type Actor,
  memberActor,
  memberAudit,
  type MemberName,
  recordAction,
} from '../access/audit-log.js';
import {
  assertOwner,
  assertOwnerAbove,
  changeAccess,
  type Changer,
  findMember,
  isMember,
  lockAccess,
} from '../access/authority.js';
import { assertQuota } from '../access/quotas.js';
import { removeRoles } from './roles.js';
import { revokeAll } from './tokens.js';

export const MAX_MEMBER_NAME = 80;

/** Adds a person or program without a role. Throws invalid_field, also for taken names. */
export function addMember(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  name: string,
  by: Actor,
): Promise<Member> {
  return changeAccess(database, by, tenantId, async (transaction) => {
    const member = await admitMember(transaction, clock, tenantId, name, by);
    await transaction.execute(insertSql(members, [member]));
    return member;
  });
}

/** Adds a member for an owner, at most once per key. (docs/contract.md, Own access) */
export async function createMember(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  name: string,
  idempotency: RequestKey,
): Promise<CommandResult<Member>> {
  const { tenantId, deadline } = caller;
  const kind = { resourceType: 'member', table: members } as const;
  const request = { kind, command: { ...idempotency, tenantId } };
  const result = await writeKeyed(database, request, deadline, async (transaction) => {
    await lockAccess(transaction, caller, tenantId);
    await assertOwner(transaction, caller);
    const row = await admitMember(transaction, clock, tenantId, name, memberActor(caller));
    await assertQuota(transaction, tenantId, 'members', clock());
    return { row };
  });
  const { outcome, replayed } = result;
  if (!outcome.done || !replayed) return result;
  // Since its creation the member may have been given roles, which wait.
  const [resource = outcome.resource] = await addPending(database.readerFor(caller), [
    outcome.resource,
  ]);
  return { outcome: { done: true, resource }, replayed };
}

/** Checks and records a new member, whose row the caller inserts. */
async function admitMember(
  transaction: Transaction,
  clock: Clock,
  tenantId: Uuid,
  text: string,
  actor: Actor,
): Promise<Member> {
  const name = checkedText('name', text, MAX_MEMBER_NAME);
  if ((await transaction.find(members, { tenantId, name, isActive: true })) !== undefined)
    throw new ApiError({
      ...invalidField('name', 'taken'),
      message: `the tenant already has a member ${name}`,
    });
  const member: Member = { id: newId(), tenantId, name, isActive: true, createdAt: clock() };
  await recordAction(transaction, actor, member.createdAt, memberAudit(member, 'member.add'));
  return member;
}

const OWN_ID: Refusal = invalidState('a member cannot remove itself', 'own_member', [
  'other_member',
]);

/**
 * Removes a member with all roles and tokens. Throws not_found, authority_insufficient,
 * invalid_state (the caller's own member), last_owner.
 */
export function removeMember(
  database: Database,
  clock: Clock,
  member: MemberName,
  by: Changer,
): Promise<void> {
  const { tenantId } = member;
  return changeAccess(database, by, tenantId, async (transaction, _, actor) => {
    await findMember(transaction, member);
    if (isMember(by)) {
      await assertOwnerAbove(transaction, by, [member.id]);
      if (member.id === by.memberId) throw new ApiError(OWN_ID);
    }
    const roles = await removeRoles(transaction, member.id, null);
    const tokens = await revokeAll(transaction, clock(), { tenantId, memberId: member.id }, actor);
    await transaction.execute(updateSql<Member>(members, { isActive: null }, { id: member.id }));
    const details = { roles, tokens: tokens.length };
    await recordAction(transaction, actor, clock(), memberAudit(member, 'member.remove', details));
  });
}

interface MemberWithRoles {
  readonly member: Member;
  readonly roles: ReadonlyMap<string, number>;
}

export async function listMembers(
  reader: Reader,
  tenantId: Uuid,
): Promise<readonly MemberWithRoles[]> {
  const own = await reader.select(
    members,
    { tenantId, isActive: true },
    { orderBy: ['createdAt', 'id'] },
  );
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

export interface MemberWithPending extends Member {
  readonly pending: readonly PendingRole[];
}

const MAX_PENDING = 1_000;

/** Returns the tenant's members, newest first, for an owner. Throws authority_insufficient. */
export async function listOwnMembers(
  reader: Reader,
  caller: Caller,
  before: TimePosition | null,
  limit: number,
): Promise<Page<MemberWithPending>> {
  await assertOwner(reader, caller);
  const own = equalsSql(members, { tenantId: caller.tenantId, isActive: true });
  const older = before === null ? '' : `AND ${olderSql(members.name, before)}`;
  const rows = await reader.list(
    members,
    `WHERE ${own} ${older} ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit) + 1}`,
  );
  const { items, next } = pageOf(rows, limit);
  return { items: await addPending(reader, items), next };
}

async function addPending(
  reader: Reader,
  own: readonly Member[],
): Promise<readonly MemberWithPending[]> {
  const waiting = await reader.list(
    pendingRoles,
    `WHERE ${equalsSql(pendingRoles, { memberId: own.map(({ id }) => id) })}
     ORDER BY effective_at, account_id LIMIT ${MAX_PENDING}`,
  );
  const pending = groupBy(waiting, ({ memberId }) => memberId);
  return own.map((member) => ({ ...member, pending: pending.get(member.id) ?? [] }));
}
