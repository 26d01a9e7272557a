import { parseUuid, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { type Adjustment, adjustments, type Transfer, transfers } from '../db/entities/operations.js';
import { type Account, accounts, type Member, members, type Tenant, tenants } from '../db/entities/parties.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import type { Staff } from '../db/entities/staff.js';
import { findStaff } from '../staff/people.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { parseAlias, parsePhone } from '../accounts/identifiers.js';
import { OpsError, UsageError } from './failures.js';

/** Finds what an operator names by id or by a common name. All throw OpsError if there is none. */

export async function findTenant(reader: Reader, named: string): Promise<Tenant> {
  const id = parseUuid(named);
  const found = await reader.find(tenants, id === null ? { name: named } : { id });
  if (found === undefined) throw new OpsError(`there is no tenant ${named}`);
  return found;
}

interface AccountName {
  /** An id, an alias or a phone. */
  readonly account: string;
  /** Id or name of its tenant; optional with an id. */
  readonly tenant?: string | undefined;
}

export async function findAccount(reader: Reader, named: AccountName): Promise<Account> {
  const found = await reader.find(accounts, await accountKey(reader, named));
  if (found !== undefined && found.type !== 'system') return found;
  const where = named.tenant === undefined ? '' : ` in ${named.tenant}`;
  throw new OpsError(`there is no account ${named.account}${where}`);
}

async function accountKey(reader: Reader, { account, tenant }: AccountName): Promise<Partial<Account>> {
  const within = tenant === undefined ? undefined : (await findTenant(reader, tenant)).id;
  const id = parseUuid(account);
  if (id !== null) return { id, ...(within === undefined ? {} : { tenantId: within }) };
  if (within === undefined)
    throw new UsageError('--tenant is required where the account is named by its alias or phone');
  if (account.startsWith('$')) {
    const alias = parseAlias(account);
    if (alias === null) throw new UsageError(`${account} is no alias`);
    return { tenantId: within, alias };
  }
  const phone = parsePhone(account);
  if (phone === null) throw new UsageError(`${account} is neither an id, nor an alias ($…), nor a phone`);
  return { tenantId: within, phone };
}

export async function findMember(reader: Reader, tenantId: Uuid, named: string): Promise<Member> {
  const id = parseUuid(named);
  const found = await reader.find(members, { tenantId, ...(id === null ? { name: named } : { id }) });
  if (found === undefined) throw new OpsError(`the tenant has no member ${named}`);
  return found;
}

export async function findAdjustment(reader: Reader, tenantId: Uuid, reference: string): Promise<Adjustment> {
  const found = await reader.find(adjustments, { tenantId, reference });
  if (found === undefined) throw new OpsError(`the tenant has no adjustment with the reference ${reference}`);
  return found;
}

export async function findTransfer(reader: Reader, named: string): Promise<Transfer> {
  const id = parseUuid(named);
  const found = id === null ? undefined : await reader.find(transfers, { id });
  if (found === undefined) throw new OpsError(`there is no transfer ${named}`);
  return found;
}

/** An endpoint that is not deleted, by its id. */
export async function findEndpoint(reader: Reader, named: string): Promise<WebhookEndpoint> {
  const id = parseUuid(named);
  const found = id === null ? undefined : await reader.find(webhookEndpoints, { id });
  if (found === undefined || found.status === 'deleted') throw new OpsError(`there is no webhook endpoint ${named}`);
  return found;
}

export async function findBatch(reader: Reader, named: string): Promise<BonusBatch> {
  const id = parseUuid(named);
  const found = id === null ? undefined : await reader.find(bonusBatches, { id });
  if (found === undefined) throw new OpsError(`there is no batch ${named}`);
  return found;
}

export async function findPayout(reader: Reader, named: string): Promise<Payout> {
  const id = parseUuid(named);
  const found = id === null ? undefined : await reader.find(payouts, { id });
  if (found === undefined) throw new OpsError(`there is no payout ${named}`);
  return found;
}

/** A member of staff, by any name that folds to the same. */
export async function findStaffCalled(reader: Reader, name: string): Promise<Staff> {
  const found = await findStaff(reader, name);
  if (found === undefined) throw new OpsError(`there is nobody called ${name} among the staff`);
  return found;
}
