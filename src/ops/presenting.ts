import { parseDetails } from '../access/audit-log.js';
import type { Quotas, QuotaState } from '../access/quotas.js';
import { isAccepted, pendingRows } from '../batches/rules.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import {
  auditLog,
  type AuditRow,
  type ReservedAlias,
  reservedAliases,
} from '../db/entities/identity.js';
import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import type { Balance } from '../db/entities/ledger.js';
import {
  type Adjustment,
  adjustments,
  type PayIn,
  payIns,
  type Transfer,
} from '../db/entities/operations.js';
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
import type { AccountDetails } from '../accounts/directory.js';
import { displayName } from '../accounts/display-name.js';
import type { LimitState } from '../accounts/reading.js';
import {
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import { webhookWorkflowId } from '../temporal/contracts.js';
import type { Described } from '../webhooks/staff-actions.js';
import type { ShownDelivery } from '../webhooks/queries.js';
import type { Fields } from './output.js';
import { attemptsOf } from './presenting-bridge.js';
import { rowFields } from './row-fields.js';
import type { TransferDetails } from '../support/reading/transfers.js';
import { transferResource } from '../transfers/schemas.js';

/** How operators see each resource. Never a secret. */

export function tenantFields(tenant: Tenant): Fields {
  const shown = [
    'id',
    'name',
    'network',
    'timeZone',
    'feeAccountId',
    'policyDelayS',
    'createdAt',
  ] as const;
  return rowFields(tenants, tenant, ...shown);
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
  return rowFields(members, member, 'id', 'name', 'createdAt');
}

export function tokenFields(token: Token, memberName: string): Fields {
  return {
    ...rowFields(tokens, token, 'keyId', 'name'),
    member: memberName,
    scopes: token.scopes,
    cidrs: token.cidrs === '' ? [] : token.cidrs.split(','),
    ...rowFields(tokens, token, 'expiresAt', 'revokedAt', 'createdAt', 'lastUsedAt'),
  };
}

export function accountFields(account: Account): Fields {
  const shown = [
    'id',
    'type',
    'name',
    'alias',
    'phone',
    'status',
    'verifiedAt',
    'createdAt',
  ] as const;
  return rowFields(accounts, account, ...shown);
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

export function payInFields(payIn: PayIn): Fields {
  return {
    ...rowFields(payIns, payIn, 'id', 'reference', 'accountId'),
    amount: { raw: payIn.raw, asset: payIn.asset },
    ...rowFields(payIns, payIn, 'description', 'recordedBy', 'createdAt'),
  };
}

export function adjustmentFields(adjustment: Adjustment): Fields {
  return {
    ...rowFields(adjustments, adjustment, 'id', 'reference', 'accountId', 'direction'),
    amount: { raw: adjustment.raw, asset: adjustment.asset },
    ...rowFields(
      adjustments,
      adjustment,
      'reason',
      'status',
      'proposedBy',
      'decidedBy',
      'createdAt',
      'decidedAt',
    ),
  };
}

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
    created_at: toRfc3339(batch.createdAt),
  };
}

export function batchFields(batch: BonusBatch): Fields {
  const { asset } = batch;
  const amount = (raw: bigint): Fields[string] => (asset === null ? null : { raw, asset });
  return {
    ...batchLine(batch),
    ...rowFields(bonusBatches, batch, 'tenantId', 'sourceAccountId'),
    fees: amount(batch.feesRaw),
    settled: amount(batch.settledRaw),
    funds_held: batch.isHeld && batch.status === 'executing' && batch.canceledAt === null,
    uploaded_by: batch.createdBy,
    ...rowFields(
      bonusBatches,
      batch,
      'validatedAt',
      'executedBy',
      'executedAt',
      'pausedAt',
      'pausedBy',
      'pauseReason',
    ),
    ...rowFields(bonusBatches, batch, 'canceledAt', 'finishedAt'),
    rejection: batch.rejectionCode,
  };
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
  return rowFields(reservedAliases, reserved, 'alias', 'reservedBy', 'createdAt');
}

export function actFields(act: AuditRow): Fields {
  const shown = [
    'at',
    'channel',
    'actorClaimed',
    'action',
    'subjectType',
    'subjectId',
    'tenantId',
  ] as const;
  return { ...rowFields(auditLog, act, ...shown), details: parseDetails(act) };
}

export function transferFields(transfer: Transfer, names: ReadonlyMap<Uuid, string>): Fields {
  const { sourceAccountId: from, destinationAccountId: to } = transfer;
  const { id = null, status = null, ...shown } = transferResource.presentToStaff('ops', transfer);
  const { amount = null, created_at = null } = shown;
  return {
    id,
    status,
    from: names.get(from) ?? from,
    to: names.get(to) ?? to,
    amount,
    created_at,
    expires_at: toRfc3339(transfer.approvalExpiresAt),
  };
}

export function transferDetailFields(details: TransferDetails): Fields {
  const { transfer, approvals, outbox } = details;
  const { id = null, status = null, ...others } = transferResource.presentToStaff('ops', transfer);
  return {
    id,
    status,
    tenant: details.tenant,
    tenant_id: transfer.tenantId,
    from: details.source,
    from_account_id: transfer.sourceAccountId,
    to: details.destination,
    to_account_id: transfer.destinationAccountId,
    ...others,
    created_by: details.createdBy,
    waits_for: details.waitsFor,
    expires_at: toRfc3339(transfer.approvalExpiresAt),
    approvals: approvals.map(({ by, channel, at }) => `${by} (${channel}) at ${toRfc3339(at)}`),
    rejection_code: transfer.rejectionCode,
    rejection_reason: transfer.rejectionReason,
    workflow_id: details.workflowId,
    outbox: outbox.map((entry) => `written ${toRfc3339(entry.createdAt)}, ${attemptsOf(entry)}`),
  };
}

export function endpointFields(endpoint: WebhookEndpoint): Fields {
  return {
    ...rowFields(
      webhookEndpoints,
      endpoint,
      'id',
      'tenantId',
      'url',
      'status',
      'disabledReason',
      'pausedBy',
    ),
    ...rowFields(webhookEndpoints, endpoint, 'failingSince', 'lastSuccessAt', 'nextDueAt'),
  };
}

export function endpointDetailFields({ endpoint, types, text, nextAttemptAt }: Described): Fields {
  const { lostFrom, lostTo } = endpoint;
  return {
    ...endpointFields(endpoint),
    waits_for: text,
    events: types,
    next_attempt_at: nextAttemptAt,
    failures_in_row: endpoint.failuresInRow,
    next_probe_at: toRfc3339(endpoint.probeAt),
    sent_to_until: toRfc3339(endpoint.leaseUntil),
    workflow: webhookWorkflowId(endpoint.id),
    workflow_waits_until: toRfc3339(endpoint.waitsUntil),
    workflow_looked_at: toRfc3339(endpoint.attendedAt),
    ...rowFields(webhookEndpoints, endpoint, 'disabledAt', 'pausedAt'),
    cursor: endpoint.cursorSequence.toString(),
    lost_events: lostFrom === null || lostTo === null ? null : `${lostFrom} to ${lostTo}`,
    created_at: toRfc3339(endpoint.createdAt),
  };
}

export function deliveryFields({ delivery, attempts }: ShownDelivery): Fields {
  const last = attempts.at(-1);
  return {
    ...rowFields(webhookDeliveries, delivery, 'id', 'eventId', 'eventType', 'cause'),
    status: delivery.state,
    attempts: attempts.length,
    last_attempt_at: last === undefined ? null : toRfc3339(last.at),
    last_answer: last === undefined ? null : (last.status ?? last.failure),
    next_attempt_at: toRfc3339(delivery.nextAttemptAt),
  };
}
