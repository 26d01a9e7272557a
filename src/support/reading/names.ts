import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { readNames } from './transfers.js';

/** The names behind ids: for accounts, the names that others see. */
export interface Names {
  tenant(id: Uuid): string;
  account(id: Uuid): string;
}

export async function namesOf(
  reader: Reader,
  { tenantIds, accountIds }: { readonly tenantIds: readonly Uuid[]; readonly accountIds: readonly Uuid[] },
): Promise<Names> {
  const ids = [...new Set(tenantIds)];
  const [accounts, found] = await Promise.all([
    readNames(reader, accountIds),
    ids.length === 0 ? [] : reader.select(tenants, { id: ids }),
  ]);
  const named = new Map(found.map(({ id, name }) => [id, name]));
  return { tenant: (id) => named.get(id) ?? id, account: (id) => accounts.get(id) ?? id };
}
