import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { readNames } from './transfers.js';

/** The names behind ids: for accounts, the names that others see. */
export interface Names {
  tenant(id: Uuid): string;
  account(id: Uuid): string;
}

/** What belongs to a tenant, and the accounts that it is about. */
interface Owned {
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly destinationAccountId?: Uuid;
  readonly accountId?: Uuid;
}

export async function namesOf(reader: Reader, owned: readonly Owned[]): Promise<Names> {
  const ids = [...new Set(owned.map(({ tenantId }) => tenantId))];
  const accountIds = owned.flatMap((one) => [one.sourceAccountId, one.destinationAccountId, one.accountId]);
  const [accounts, found] = await Promise.all([
    readNames(
      reader,
      accountIds.filter((id) => id !== undefined),
    ),
    ids.length === 0 ? [] : reader.select(tenants, { id: ids }),
  ]);
  const named = new Map(found.map(({ id, name }) => [id, name]));
  return { tenant: (id) => named.get(id) ?? id, account: (id) => accounts.get(id) ?? id };
}
