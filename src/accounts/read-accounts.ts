import { ASSETS } from '../core/amount.js';
import { type Instant, maxInstant, monthOf, toRfc3339 } from '../core/instant.js';
import { notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { accountLimits } from '../db/entities/identity.js';
import { balances, monthTotals } from '../db/entities/ledger.js';
import { type Account, accounts, memberRoles, tenants } from '../db/entities/parties.js';
import { olderSql, columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readAccount } from './access.js';
import { limitsOf } from './limits-and-fees.js';

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

export async function readLimits(
  reader: Reader,
  caller: Caller,
  accountId: Uuid,
  now: Instant,
): Promise<Readonly<Record<string, unknown>>> {
  const account = await readAccount(reader, caller, accountId, 'readLimits');
  const limits = await readLimitState(reader, account, now);
  return {
    account_id: accountId,
    limits: limits.map(({ asset, limits: { minimum, maximum, month }, used, resetsAt }) => ({
      asset,
      minimum: minimum.toString(),
      maximum: maximum.toString(),
      month: { used: used.toString(), limit: month.toString(), resets_at: toRfc3339(resetsAt) },
    })),
  };
}

/** Returns the limits and the month's usage. `isOwn`: operators set limits for this account. */
export async function readLimitState(reader: Reader, account: Account, now: Instant) {
  const { id: accountId, tenantId } = account;
  const [tenant, overrides] = await Promise.all([
    reader.find(tenants, { id: tenantId }),
    reader.select(accountLimits, { accountId }),
  ]);
  if (tenant === undefined) throw notFound();
  // The month in which an operation would count now: never earlier than the account's last posting.
  const month = monthOf(maxInstant(now, account.lastPostedAt), tenant.timeZone);
  const totals = await reader.select(monthTotals, { accountId, month: month.name });
  return ASSETS.map((asset) => {
    const override = overrides.find((one) => one.asset === asset);
    return {
      asset,
      limits: limitsOf(account, asset, override),
      isOwn: override !== undefined,
      used: totals.find((one) => one.asset === asset)?.used ?? 0n,
      resetsAt: month.endsAt,
    };
  });
}

/** Returns the tenant's newest `limit` accounts, or those before `before`, for operators. */
export async function listTenantAccounts(
  reader: Reader,
  tenantId: Uuid,
  limit: number,
  before: TimePosition | null = null,
): Promise<readonly Account[]> {
  const olderThan = before === null ? '' : `AND ${olderSql('accounts', before)}`;
  return reader.list(
    accounts,
    `WHERE tenant_id=${literal(accounts, 'tenantId', tenantId)} ${olderThan}
     AND type<>'system' ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
  );
}

export async function readAccountDetails(reader: Reader, accountId: Uuid) {
  const [accountBalances, roles] = await Promise.all([
    reader.select(balances, { accountId }, { orderBy: ['asset'] }),
    reader.query(
      `SELECT m.name, r.role FROM member_roles r JOIN members m ON m.id=r.member_id
       WHERE r.account_id=${literal(memberRoles, 'accountId', accountId)} ORDER BY m.created_at, m.id`,
    ),
  ]);
  const { string } = column;
  const members = roles.map((row) => ({
    name: string.parse(row.name),
    role: string.parse(row.role),
  }));
  return { balances: accountBalances, members };
}
