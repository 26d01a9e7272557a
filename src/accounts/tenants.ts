import { type Clock, type Instant, isTimeZone } from '../core/instant.js';
import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField } from '../core/errors.js';
import { newId, parseUuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import { eventCounters } from '../db/entities/events.js';
import {
  type Account,
  SYSTEM_ROLES,
  type SystemRole,
  type Tenant,
  tenants,
} from '../db/entities/parties.js';
import { isDuplicateKey } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { type Actor, recordAction, tenantAudit } from '../access/audit-log.js';
import { openLedgerAccounts } from './open-accounts.js';

interface NewTenant {
  /** 1 to 80 characters, unique. */
  readonly name: string;
  readonly network: string | null;
  /** IANA name; decides when a monthly allowance renews. */
  readonly timeZone: string;
}

export const DEFAULT_TIME_ZONE = 'America/Bogota';
const NETWORK = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_NAME = 80;
const MAX_TIME_ZONE = 64;

/** Creates a tenant with its system accounts and its event counter. Throws invalid_field. */
export async function addTenant(
  database: Database,
  clock: Clock,
  request: NewTenant,
  actor: Actor,
): Promise<Tenant> {
  const createdAt = clock();
  const tenant: Tenant = {
    ...checkedTenant(request),
    id: newId(),
    feeAccountId: null,
    policyDelayS: 0,
    createdAt,
  };
  try {
    await transact(database, async (transaction) => {
      await transaction.execute(insertSql(tenants, [tenant]));
      const opened = SYSTEM_ROLES.map((role) => newSystemAccount(tenant, role, createdAt));
      await openLedgerAccounts(transaction, opened);
      await transaction.execute(
        insertSql(eventCounters, [
          { tenantId: tenant.id, lastSequence: 0n, lastAt: createdAt, restores: 0 },
        ]),
      );
      const { id: tenantId, network, timeZone } = tenant;
      const entry = tenantAudit(tenantId, 'tenant.add', { network, time_zone: timeZone });
      await recordAction(transaction, actor, createdAt, entry);
    });
  } catch (failure) {
    if (isDuplicateKey(failure))
      throw new ApiError({
        ...invalidField('name', 'taken'),
        message: `there is already a tenant ${tenant.name}`,
      });
    throw failure;
  }
  return tenant;
}

function checkedTenant({ name, network, timeZone }: NewTenant): NewTenant {
  const clean = checkedText('name', name, MAX_NAME);
  // Operators name a tenant by id or by name, so a name must not look like an id.
  if (parseUuid(clean) !== null) throw new ApiError(invalidField('name', 'looks_like_an_id'));
  if (network !== null && !NETWORK.test(network))
    throw new ApiError(invalidField('network', 'pattern'));
  if (timeZone.length > MAX_TIME_ZONE || !isTimeZone(timeZone))
    throw new ApiError(invalidField('time_zone', 'unknown'));
  return { name: clean, network, timeZone };
}

function newSystemAccount(tenant: Tenant, systemRole: SystemRole, createdAt: Instant): Account {
  return {
    id: newId(),
    tenantId: tenant.id,
    type: 'system',
    systemRole,
    status: 'active',
    name: systemRole,
    alias: null,
    phone: null,
    metadata: null,
    verifiedAt: null,
    createdAt,
  };
}
