import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { members, tenants } from '../../db/entities/parties.js';
import { readNames } from './transfers.js';

/** Names for ids. Accounts have the names that other tenants see. */
export interface Names {
  tenant(id: Uuid): string;
  /** Returns the tenant's time zone, in which the desk shows times. */
  timeZone(tenantId: Uuid): string;
  account(id: Uuid): string;
  person(memberId: Uuid): string;
}

export interface Owned {
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly destinationAccountId?: Uuid;
  readonly accountId?: Uuid;
  readonly createdBy?: Uuid;
  readonly executedBy?: Uuid | null;
}

export async function namesOf(reader: Reader, owned: readonly Owned[]): Promise<Names> {
  const ids = [...new Set(owned.map(({ tenantId }) => tenantId))];
  const accountIds = owned.flatMap((one) => [
    one.sourceAccountId,
    one.destinationAccountId,
    one.accountId,
  ]);
  const memberIds = owned.flatMap((one) => [one.createdBy ?? [], one.executedBy ?? []].flat());
  const [accounts, found, people] = await Promise.all([
    readNames(
      reader,
      accountIds.filter((id) => id !== undefined),
    ),
    reader.select(tenants, { id: ids }),
    reader.select(members, { id: [...new Set(memberIds)] }),
  ]);
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const known = new Map(found.map((tenant) => [tenant.id, tenant]));
  return {
    tenant: (id) => known.get(id)?.name ?? id,
    timeZone: (id) => known.get(id)?.timeZone ?? 'UTC',
    account: (id) => accounts.get(id) ?? id,
    person: (id) => nameOf.get(id) ?? id,
  };
}
