import type { Uuid } from '../core/ids.js';
import type { TimePosition } from '../core/pages.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { balances } from '../db/entities/ledger.js';
import { type Account, accounts, memberRoles } from '../db/entities/parties.js';
import { behindSql, literal } from '../db/statements.js';

/** Returns the tenant's newest `limit` accounts, or those before `before`, for operators. */
export async function listAccounts(
  reader: Reader,
  tenantId: Uuid,
  limit: number,
  before: TimePosition | null = null,
): Promise<readonly Account[]> {
  const behind = before === null ? '' : `AND ${behindSql('accounts', before)}`;
  return reader.list(
    accounts,
    `WHERE tenant_id=${literal(accounts, 'tenantId', tenantId)} ${behind}
     AND type<>'system' ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
  );
}

export async function readAccountDetails(reader: Reader, accountId: Uuid) {
  const [own, roles] = await Promise.all([
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
  return { balances: own, members };
}
