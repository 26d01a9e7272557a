import { parseDetails } from '../access/audit-log.js';
import { isAccepted, pendingRows } from '../batches/rules.js';
import type { BonusBatch } from '../db/entities/bonuses.js';
import type { AuditRow, ReservedAlias } from '../db/entities/identity.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Balance } from '../db/entities/ledger.js';
import type { Adjustment, PayIn } from '../db/entities/operations.js';
import type { Account, FeeScheduleRow, Member, Tenant, Token } from '../db/entities/parties.js';
import type { AccountDetails } from '../accounts/directory.js';
import { displayName } from '../accounts/display-name.js';
import type { LimitState } from '../accounts/reading.js';
import type { Fields } from './output.js';

/** What operators see of each thing. Never a secret. */

function timeOf(at: Instant | null): string | null {
  return at === null ? null : toRfc3339(at);
}

export function tenantFields(tenant: Tenant): Fields {
  return {
    id: tenant.id,
    name: tenant.name,
    network: tenant.network,
    time_zone: tenant.timeZone,
    fee_account_id: tenant.feeAccountId,
    created_at: timeOf(tenant.createdAt),
  };
}

export function memberFields(member: Member): Fields {
  return { id: member.id, name: member.name, created_at: timeOf(member.createdAt) };
}

export function tokenFields(token: Token, memberName: string): Fields {
  return {
    key_id: token.keyId,
    name: token.name,
    member: memberName,
    scopes: token.scopes,
    cidrs: token.cidrs === '' ? [] : token.cidrs.split(','),
    expires_at: timeOf(token.expiresAt),
    revoked_at: timeOf(token.revokedAt),
    created_at: timeOf(token.createdAt),
  };
}

export function accountFields(account: Account): Fields {
  return {
    id: account.id,
    type: account.type,
    name: account.name,
    alias: account.alias,
    phone: account.phone,
    status: account.status,
    verified_at: timeOf(account.verifiedAt),
    created_at: timeOf(account.createdAt),
  };
}

export function accountDetailFields(account: Account, details: AccountDetails): Fields {
  const shownName = account.type === 'system' ? account.name : displayName(account.type, account.name);
  return {
    ...accountFields(account),
    tenant_id: account.tenantId,
    display_name: shownName,
    ...Object.fromEntries(details.balances.flatMap(balanceFields)),
    members: details.members.map(({ name, role }) => `${name} (${role})`),
  };
}

function balanceFields({ asset, available, held }: Balance): [string, { raw: bigint; asset: Balance['asset'] }][] {
  return [
    [`${asset}_available`, { raw: available, asset }],
    [`${asset}_held`, { raw: held, asset }],
  ];
}

export function payInFields(payIn: PayIn): Fields {
  return {
    id: payIn.id,
    reference: payIn.reference,
    account_id: payIn.accountId,
    amount: { raw: payIn.raw, asset: payIn.asset },
    description: payIn.description,
    recorded_by: payIn.recordedBy,
    created_at: timeOf(payIn.createdAt),
  };
}

export function adjustmentFields(adjustment: Adjustment): Fields {
  return {
    id: adjustment.id,
    reference: adjustment.reference,
    account_id: adjustment.accountId,
    direction: adjustment.direction,
    amount: { raw: adjustment.raw, asset: adjustment.asset },
    reason: adjustment.reason,
    status: adjustment.status,
    proposed_by: adjustment.proposedBy,
    decided_by: adjustment.decidedBy,
    created_at: timeOf(adjustment.createdAt),
    decided_at: timeOf(adjustment.decidedAt),
  };
}

/** A batch in a list. */
export function batchLine(batch: BonusBatch): Fields {
  const { asset, totalRaw } = batch;
  return {
    id: batch.id,
    status: batch.status,
    rows: batch.rowCount,
    rejected: batch.rowsRejected,
    paid: batch.rowsPaid,
    failed: batch.rowsFailed,
    pending: isAccepted(batch) ? pendingRows(batch) : 0,
    total: asset === null ? null : { raw: totalRaw, asset },
    created_at: timeOf(batch.createdAt),
  };
}

export function batchFields(batch: BonusBatch): Fields {
  const { asset } = batch;
  const amount = (raw: bigint): Fields[string] => (asset === null ? null : { raw, asset });
  return {
    ...batchLine(batch),
    tenant_id: batch.tenantId,
    source_account_id: batch.sourceAccountId,
    fees: amount(batch.feesRaw),
    settled: amount(batch.settledRaw),
    funds_held: batch.isHeld && batch.status === 'executing' && batch.canceledAt === null,
    uploaded_by: batch.createdBy,
    validated_at: timeOf(batch.validatedAt),
    executed_by: batch.executedBy,
    executed_at: timeOf(batch.executedAt),
    paused_at: timeOf(batch.pausedAt),
    paused_by: batch.pausedBy,
    canceled_at: timeOf(batch.canceledAt),
    finished_at: timeOf(batch.finishedAt),
  };
}

export function feeFields({ operation, asset, flatRaw, basisPoints, floorRaw, capRaw }: FeeScheduleRow): Fields {
  return {
    operation,
    asset,
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
    resets_at: timeOf(resetsAt),
    set_for: isOwn ? 'this account' : 'its type',
  };
}

export function reservedAliasFields({ alias, reservedBy, createdAt }: ReservedAlias): Fields {
  return { alias, reserved_by: reservedBy, created_at: timeOf(createdAt) };
}

export function actFields(act: AuditRow): Fields {
  return {
    at: timeOf(act.at),
    channel: act.channel,
    actor: act.actor,
    action: act.action,
    subject_type: act.subjectType,
    subject_id: act.subjectId,
    tenant_id: act.tenantId,
    details: parseDetails(act),
  };
}
