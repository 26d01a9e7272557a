import { parseUuid, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { bonusBatches } from '../db/entities/bonuses.js';
import { type Adjustment, adjustments, transfers } from '../db/entities/operations.js';
import {
  type Account,
  accounts,
  type Member,
  members,
  type Tenant,
  tenants,
} from '../db/entities/parties.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import type { Where } from '../db/statements.js';
import type { Table } from '../db/table.js';
import type { Staff } from '../db/entities/staff.js';
import { findStaff } from '../staff/people.js';
import { payouts } from '../db/entities/payouts.js';
import { parseAlias, parsePhone } from '../accounts/identifiers.js';
import { OpsError, UsageError } from './failures.js';

/** Finds resources by id or common name. Functions throw OpsError if none matches. */

export async function findTenant(reader: Reader, named: string): Promise<Tenant> {
  const id = parseUuid(named);
  const found = await reader.find(tenants, id === null ? { name: named } : { id });
  if (found === undefined) throw new OpsError(`there is no tenant ${named}`);
  return found;
}

/** Returns the id of the tenant that an option names; undefined without the option. */
export async function tenantIdOf(
  reader: Reader,
  named: string | undefined,
): Promise<Uuid | undefined> {
  return named === undefined ? undefined : (await findTenant(reader, named)).id;
}

/** An account by id, alias or phone, and its tenant by id or name (optional with an id). */
interface AccountName {
  readonly account: string;
  readonly tenant?: string | undefined;
}

export async function findAccount(reader: Reader, named: AccountName): Promise<Account> {
  const found = await reader.find(accounts, await accountKey(reader, named));
  if (found !== undefined && found.type !== 'system') return found;
  const where = named.tenant === undefined ? '' : ` in ${named.tenant}`;
  throw new OpsError(`there is no account ${named.account}${where}`);
}

async function accountKey(
  reader: Reader,
  { account, tenant }: AccountName,
): Promise<Partial<Account>> {
  const within = await tenantIdOf(reader, tenant);
  const id = parseUuid(account);
  if (id !== null) return { id, ...(within === undefined ? {} : { tenantId: within }) };
  if (within === undefined) throw new UsageError('--tenant is required with an alias or phone');
  const alias = parseAlias(account);
  if (alias !== null) return { tenantId: within, alias };
  if (account.startsWith('$')) throw new UsageError(`${account} is not a valid alias`);
  const phone = parsePhone(account);
  if (phone === null) throw new UsageError(`${account} is not an id, an alias ($…) or a phone`);
  return { tenantId: within, phone };
}

export async function findMember(reader: Reader, tenantId: Uuid, named: string): Promise<Member> {
  const id = parseUuid(named);
  const found = await reader.find(members, {
    tenantId,
    ...(id === null ? { name: named } : { id }),
  });
  if (found === undefined) throw new OpsError(`the tenant has no member ${named}`);
  return found;
}

export async function findAdjustment(
  reader: Reader,
  tenantId: Uuid,
  reference: string,
): Promise<Adjustment> {
  const found = await reader.find(adjustments, { tenantId, reference });
  if (found === undefined)
    throw new OpsError(`the tenant has no adjustment with the reference ${reference}`);
  return found;
}

/** Finds by id among resources that are not deleted. */
function byId<Row extends { readonly id: Uuid; readonly status: string }>(
  table: Table<Row>,
  noun: string,
) {
  return async (reader: Reader, named: string): Promise<Row> => {
    const id = parseUuid(named);
    const found = id === null ? undefined : await reader.find(table, { id } as Where<Row>);
    if (found === undefined || found.status === 'deleted')
      throw new OpsError(`there is no ${noun} ${named}`);
    return found;
  };
}

export const findTransfer = byId(transfers, 'transfer');
export const findEndpoint = byId(webhookEndpoints, 'webhook endpoint');
export const findBatch = byId(bonusBatches, 'batch');
export const findPayout = byId(payouts, 'payout');

export async function findStaffCalled(reader: Reader, name: string): Promise<Staff> {
  const found = await findStaff(reader, name);
  if (found === undefined) throw new OpsError(`no member of the staff is called ${name}`);
  return found;
}
