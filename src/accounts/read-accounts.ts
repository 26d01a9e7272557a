import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { balances } from '../db/entities/ledger.js';
import { type Account, accounts, memberRoles } from '../db/entities/parties.js';
import { olderSql, columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';

export async function listAccounts(
  reader: Reader,
  caller: Caller,
  filter: { readonly [K in 'type' | 'status']?: Account[K] | undefined },
  before: TimePosition | null,
  limit: number,
): Promise<Page<Account>> {
  const conditions = [
    `r.member_id=${column.uuid.literal(caller.memberId)}`,
    `a.tenant_id=${column.uuid.literal(caller.tenantId)} AND a.type<>'system'`,
  ];
  if (filter.type !== undefined)
    conditions.push(`a.type=${literal(accounts, 'type', filter.type)}`);
  if (filter.status !== undefined)
    conditions.push(`a.status=${literal(accounts, 'status', filter.status)}`);
  if (before !== null) conditions.push(`r.account_id<${column.uuid.literal(before.id)}`);
  // Reading through the member's own roles costs the same in a tenant of any size.
  const rows = await reader.query(
    `SELECT ${columnList(accounts, 'a')} FROM member_roles r FORCE INDEX (member)
     STRAIGHT_JOIN accounts a ON a.id=r.account_id WHERE ${conditions.join(' AND ')}
     ORDER BY r.account_id DESC LIMIT ${limit + 1}`,
  );
  const found = rows.map((row) => parseRow(accounts, row));
  return pageOf(found, limit);
}

const MAX_ALIASES = 20_000;

/** Returns the aliases of a tenant, at most 20,000. */
export async function listAliases(reader: Reader, tenantId: Uuid): Promise<readonly string[]> {
  const rows = await reader.query(
    `SELECT alias FROM accounts WHERE tenant_id=${column.uuid.literal(tenantId)} AND alias IS NOT NULL LIMIT ${MAX_ALIASES}`,
  );
  return rows.map(({ alias }) => String(alias));
}

/** Returns the newest `limit` accounts of a tenant or of all, or those before `before`, for operators. */
export async function listTenantAccounts(
  reader: Reader,
  tenantId: Uuid | undefined,
  limit: number,
  before: TimePosition | null = null,
  status?: Account['status'],
): Promise<readonly Account[]> {
  const conditions = [`type<>'system'`];
  if (tenantId !== undefined)
    conditions.push(`tenant_id=${literal(accounts, 'tenantId', tenantId)}`);
  if (status !== undefined) conditions.push(`status=${literal(accounts, 'status', status)}`);
  if (before !== null)
    conditions.push(
      tenantId === undefined
        ? `id<${literal(accounts, 'id', before.id)}`
        : olderSql('accounts', before),
    );
  // Only those of one tenant have an index by creation, and ids are ordered by time.
  const order = tenantId === undefined ? 'id DESC' : 'created_at DESC, id DESC';
  return reader.list(
    accounts,
    `WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${Math.trunc(limit)}`,
  );
}

/** Returns an account's balances, and its members with their roles, also those that wait. */
export async function readAccountDetails(reader: Reader, accountId: Uuid) {
  const account = literal(memberRoles, 'accountId', accountId);
  const [accountBalances, roles] = await Promise.all([
    reader.select(balances, { accountId }, { orderBy: ['asset'] }),
    reader.query(
      `SELECT m.name, r.role, r.effective_at FROM (
         SELECT member_id, role, NULL AS effective_at FROM member_roles WHERE account_id=${account}
         UNION ALL SELECT member_id, role, effective_at FROM pending_roles WHERE account_id=${account}
       ) r JOIN members m ON m.id=r.member_id ORDER BY m.created_at, m.id, r.effective_at`,
    ),
  ]);
  const { string, time, nullable } = column;
  const members = roles.map((row) => {
    const from = toRfc3339(nullable(time).parse(row.effective_at));
    const role = `${string.parse(row.role)}${from === null ? '' : ` from ${from} on`}`;
    return { name: string.parse(row.name), role };
  });
  return { balances: accountBalances, members };
}
