import { ASSETS } from '../core/amount.js';
import { monthOf } from '../core/calendar.js';
import { notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { assertAllowed, ownAccountSql } from './access.js';
import { limitsOf } from './limits.js';

/** What the API shows of the accounts themselves. */

export interface AccountFilter {
  readonly type?: 'person' | 'business' | undefined;
  readonly status?: Account['status'] | undefined;
}

export interface AccountPosition {
  readonly createdAt: Instant;
  readonly id: Uuid;
}

export interface AccountPage {
  readonly items: readonly Account[];
  readonly next: AccountPosition | null;
}

/** One of the tenant's accounts. Throws not_found, authority_insufficient. */
export async function readAccount(reader: Reader, caller: Caller, accountId: Uuid): Promise<Account> {
  const own = ownAccountSql(caller, accountId);
  const [row] = await reader.query(
    `SELECT ${own.role},${columnList(accounts, 'a')} FROM ${own.from} WHERE ${own.where}`,
  );
  assertAllowed('readAccount', row);
  return parseRow(accounts, row);
}

/** The accounts in which the member has a role, newest first, those before `before`. */
export async function listAccounts(
  reader: Reader,
  caller: Caller,
  filter: AccountFilter,
  before: AccountPosition | null,
  limit: number,
): Promise<AccountPage> {
  const member = column.uuid.literal(caller.memberId);
  const conditions = [`a.tenant_id=${column.uuid.literal(caller.tenantId)}`, `a.type<>'system'`];
  if (filter.type !== undefined) conditions.push(`a.type=${literal(accounts, 'type', filter.type)}`);
  if (filter.status !== undefined) conditions.push(`a.status=${literal(accounts, 'status', filter.status)}`);
  if (before !== null) {
    const at = column.time.literal(before.createdAt);
    conditions.push(`a.created_at<=${at} AND (a.created_at<${at} OR a.id<${column.uuid.literal(before.id)})`);
  }
  const rows = await reader.query(
    `SELECT ${columnList(accounts, 'a')} FROM accounts a FORCE INDEX (created) WHERE ${conditions.join(' AND ')}
       AND EXISTS (SELECT 1 FROM member_roles r WHERE r.account_id=a.id AND r.member_id=${member})
     ORDER BY a.created_at DESC, a.id DESC LIMIT ${limit + 1}`,
  );
  const items = rows.slice(0, limit).map((row) => parseRow(accounts, row));
  const last = items.at(-1);
  return {
    items,
    next: rows.length > limit && last !== undefined ? { createdAt: instant(last.createdAt), id: last.id } : null,
  };
}

/** What one operation and this month may still take. Throws not_found, authority_insufficient. (decisions.md, Limits and fees) */
export async function readLimits(
  reader: Reader,
  caller: Caller,
  accountId: Uuid,
  now: Instant,
): Promise<Readonly<Record<string, unknown>>> {
  const own = ownAccountSql(caller, accountId);
  const [row] = await reader.query(
    `SELECT ${own.role},${columnList(accounts, 'a')} FROM ${own.from} WHERE ${own.where}`,
  );
  assertAllowed('readLimits', row);
  const account = parseRow(accounts, row);
  const [tenant, overrides] = await Promise.all([
    reader.find(tenants, { id: account.tenantId }),
    reader.select(accountLimits, { accountId }),
  ]);
  if (tenant === undefined) throw notFound();
  const month = monthOf(now, tenant.timeZone);
  const totals = await reader.select(monthTotals, { accountId, month: month.name });
  return {
    account_id: accountId,
    limits: ASSETS.map((asset) => {
      const limits = limitsOf(account, asset, overrides.find((one) => one.asset === asset));
      const used = totals.find((one) => one.asset === asset)?.used ?? 0n;
      return {
        asset,
        minimum: limits.minimum.toString(),
        maximum: limits.maximum.toString(),
        month: { used: used.toString(), limit: limits.month.toString(), resets_at: toRfc3339(month.endsAt) },
      };
    }),
  };
}
