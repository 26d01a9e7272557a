import type { Uuid } from '../core/ids.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { accounts } from '../db/entities/parties.js';
import { literals } from '../db/statements.js';

interface Owner {
  readonly tenantId: Uuid;
  readonly network: string | null;
}

/** Whose accounts these are. Read before the lock, so that a command names no account that is none of its tenant's business. */
export type Owners = ReadonlyMap<Uuid, Owner>;

const network = column.nullable(column.string);

export async function readOwners(reader: Reader, accountIds: Iterable<Uuid>): Promise<Owners> {
  const rows = await reader.query(
    `SELECT a.id, a.tenant_id, t.network FROM accounts a JOIN tenants t ON t.id=a.tenant_id
     WHERE a.id IN (${literals(accounts, 'id', new Set(accountIds))})`,
  );
  return new Map(
    rows.map((row) => [
      column.uuid.parse(row.id),
      { tenantId: column.uuid.parse(row.tenant_id), network: network.parse(row.network) },
    ]),
  );
}

/** True for the tenant's own accounts. */
export function isOwn(owners: Owners, tenantId: Uuid, accountId: Uuid): boolean {
  return owners.get(accountId)?.tenantId === tenantId;
}

/** True when money may go from the one account to the other: in one tenant, or in one network. */
export function isInReach(owners: Owners, from: Uuid, to: Uuid): boolean {
  const source = owners.get(from);
  const destination = owners.get(to);
  if (source === undefined || destination === undefined) return false;
  return (
    source.tenantId === destination.tenantId || (source.network !== null && source.network === destination.network)
  );
}
