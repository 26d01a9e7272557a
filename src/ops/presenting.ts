import type { QuotaState, Quotas } from '../access/quotas.js';
import type { AccountDetails } from '../accounts/directory.js';
import { displayName } from '../accounts/display-name.js';
import type { LimitState } from '../accounts/reading.js';
import { toRfc3339 } from '../core/instant.js';
import { type ReservedAlias, reservedAliases } from '../db/entities/identity.js';
import type { Balance } from '../db/entities/ledger.js';
import {
  type Account,
  accounts,
  feeKeyOf,
  type FeeScheduleRow,
  type Member,
  members,
  type Tenant,
  tenants,
  type Token,
  tokens,
} from '../db/entities/parties.js';
import type { Fields } from './output.js';
import { rowFields } from './row-fields.js';

/** Presents tenants, their members, tokens and accounts to operators. Never shows a secret. */

export function tenantFields(tenant: Tenant): Fields {
  return rowFields(tenants, tenant, 'id name network timeZone feeAccountId policyDelayS createdAt');
}

export function quotaFields({ limits, used }: QuotaState): readonly Fields[] {
  const line = (quota: string, name: keyof Quotas): Fields => ({
    quota,
    used: used[name].toString(),
    limit: limits[name].toString(),
  });
  return [
    line('open_batches', 'openBatches'),
    line('problem_rows', 'problemRows'),
    line('unpaid_rows', 'unpaidRows'),
    line('stored_bytes', 'storedBytes'),
    line('statement_rows', 'statementRows'),
  ];
}

export function memberFields(member: Member): Fields {
  return rowFields(members, member, 'id name createdAt');
}

export function tokenFields(token: Token, memberName: string): Fields {
  return {
    ...rowFields(tokens, token, 'keyId name'),
    member: memberName,
    scopes: token.scopes,
    cidrs: token.cidrs === '' ? [] : token.cidrs.split(','),
    ...rowFields(tokens, token, 'expiresAt revokedAt createdAt lastUsedAt'),
  };
}

export function accountFields(account: Account): Fields {
  return rowFields(accounts, account, 'id type name alias phone status verifiedAt createdAt');
}

export function accountDetailFields(account: Account, details: AccountDetails): Fields {
  return {
    ...accountFields(account),
    tenant_id: account.tenantId,
    display_name: displayName(account.type, account.name),
    ...Object.fromEntries(details.balances.flatMap(balanceFields)),
    members: details.members.map(({ name, role }) => `${name} (${role})`),
  };
}

function balanceFields({
  asset,
  available,
  held,
}: Balance): [string, { raw: bigint; asset: Balance['asset'] }][] {
  return [
    [`${asset}_available`, { raw: available, asset }],
    [`${asset}_held`, { raw: held, asset }],
  ];
}

export function feeFields(schedule: FeeScheduleRow): Fields {
  const { flatRaw, basisPoints, floorRaw, capRaw } = schedule;
  const { tenantId: _, ...of } = feeKeyOf(schedule);
  const { asset } = of;
  return {
    ...of,
    flat: { raw: flatRaw, asset },
    basis_points: basisPoints.toString(),
    floor: { raw: floorRaw, asset },
    cap: capRaw === null ? null : { raw: capRaw, asset },
  };
}

export function limitFields({ asset, limits, isOwn, used, resetsAt }: LimitState): Fields {
  return {
    asset,
    minimum: { raw: limits.minimum, asset },
    maximum: { raw: limits.maximum, asset },
    month: { raw: limits.month, asset },
    month_used: { raw: used, asset },
    resets_at: toRfc3339(resetsAt),
    set_for: isOwn ? 'this account' : 'its type',
  };
}

export function reservedAliasFields(reserved: ReservedAlias): Fields {
  return rowFields(reservedAliases, reserved, 'alias reservedBy createdAt');
}
