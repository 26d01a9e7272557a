import * as column from '../db/columns.js';
import type { Uuid } from '../core/ids.js';
import { perReader } from '../db/coalesced-reads.js';
import type { Reader } from '../db/database.js';
import { accounts, tenants } from '../db/entities/parties.js';
import { literals } from '../db/statements.js';
import type { OwnerFinder } from '../ledger/writer/types.js';

interface NamedAccount {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
}

interface Reach {
  owns(tenantId: Uuid, accountId: Uuid): boolean;
  /** True for accounts of the tenant and of its network. */
  reaches(tenantId: Uuid, accountId: Uuid): boolean;
  readonly ownerOf: OwnerFinder;
}

/** Cached owners of accounts that their own tenant named. An owner never changes. */
const knownOwnersOf = perReader(() => new Map<Uuid, Uuid>());
const MAX_KNOWN_OWNERS = 20_000;

/** Reads which accounts the tenants reach, so that no unreachable account is locked. */
export async function readReach(reader: Reader, named: Iterable<NamedAccount>): Promise<Reach> {
  const owners = new Map<Uuid, Uuid>();
  const inReach = new Set<string>();
  const known = knownOwnersOf(reader);
  if (known.size > MAX_KNOWN_OWNERS) known.clear();
  const requested = new Map<string, NamedAccount>();
  for (const one of named) {
    const pair = pairOf(one.tenantId, one.accountId);
    if (known.get(one.accountId) !== one.tenantId) requested.set(pair, one);
    else {
      inReach.add(pair);
      owners.set(one.accountId, one.tenantId);
    }
  }
  for (const row of await readPairs(reader, [...requested.values()])) {
    const [tenantId, ownerId] = [column.uuid.parse(row.tenant_id), column.uuid.parse(row.owner_id)];
    const pair = pairOf(tenantId, column.uuid.parse(row.account_id));
    const one = requested.get(pair);
    if (one === undefined) continue;
    inReach.add(pair);
    owners.set(one.accountId, ownerId);
    // Keeps the named object: one string for all of a tenant's accounts.
    if (ownerId === tenantId) known.set(one.accountId, one.tenantId);
  }
  const reaches = (tenantId: Uuid, accountId: Uuid): boolean =>
    inReach.has(pairOf(tenantId, accountId));
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
    `SELECT t.id AS tenant_id, a.id AS account_id, a.tenant_id AS owner_id
     FROM accounts a JOIN tenants o ON o.id=a.tenant_id JOIN tenants t ON t.id=o.id OR t.network=o.network
     WHERE a.id IN (${accountIds}) AND t.id IN (${tenantIds}) AND (t.id, a.id) IN (${pairsSql(requested)})`,
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

function pairOf(tenantId: Uuid, accountId: Uuid): string {
  return `${tenantId}|${accountId}`;
}
