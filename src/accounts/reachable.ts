import type { Uuid } from '../core/ids.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { accounts, tenants } from '../db/entities/parties.js';
import { literals } from '../db/statements.js';

/** An account, and the tenant that has named it. */
export interface NamedAccount {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
}

/** What the tenants have to do with the accounts that they named. */
export interface Reach {
  /** True for the tenant's own account. */
  owns(tenantId: Uuid, accountId: Uuid): boolean;
  /** True where money of the tenant may go: to its own accounts, and to those of its network. */
  reaches(tenantId: Uuid, accountId: Uuid): boolean;
}

/**
 * Read before the lock, so that a command names no account that is none of its tenant's business. What a tenant cannot reach is
 * not read for it.
 */
export async function readReach(reader: Reader, named: Iterable<NamedAccount>): Promise<Reach> {
  const asked = new Map(Array.from(named, (one) => [pairOf(one.tenantId, one.accountId), one]));
  const own = new Set<string>();
  const inReach = new Set<string>();
  for (const row of await readPairs(reader, [...asked.values()])) {
    const pair = pairOf(column.uuid.parse(row.tenant_id), column.uuid.parse(row.account_id));
    inReach.add(pair);
    // A number with MariaDB, text with MySQL.
    if (column.integer.parse(row.owned) === 1) own.add(pair);
  }
  return {
    owns: (tenantId, accountId) => own.has(pairOf(tenantId, accountId)),
    reaches: (tenantId, accountId) => inReach.has(pairOf(tenantId, accountId)),
  };
}

function readPairs(reader: Reader, asked: readonly NamedAccount[]): ReturnType<Reader['query']> {
  if (asked.length === 0) return Promise.resolve([]);
  const accountIds = literals(accounts, 'id', new Set(asked.map(({ accountId }) => accountId)));
  const tenantIds = literals(tenants, 'id', new Set(asked.map(({ tenantId }) => tenantId)));
  // The lists are for the keys: no optimizer makes ranges of the pairs on every server.
  return reader.query(
    `SELECT t.id AS tenant_id, a.id AS account_id, a.tenant_id=t.id AS owned
     FROM accounts a JOIN tenants o ON o.id=a.tenant_id JOIN tenants t ON t.id=o.id OR t.network=o.network
     WHERE a.id IN (${accountIds}) AND t.id IN (${tenantIds}) AND (t.id, a.id) IN (${pairsSql(asked)})`,
  );
}

/** SQL of (tenant, account) pairs. */
export function pairsSql(named: readonly NamedAccount[]): string {
  return named
    .map(({ tenantId, accountId }) => `(${column.uuid.literal(tenantId)},${column.uuid.literal(accountId)})`)
    .join(',');
}

function pairOf(tenantId: Uuid, accountId: Uuid): string {
  return `${tenantId}|${accountId}`;
}
