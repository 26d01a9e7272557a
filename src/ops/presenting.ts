import { parseDetails } from '../access/audit-log.js';
import type { Quotas, QuotaState } from '../access/quotas.js';
import { isAccepted, pendingRows } from '../batches/rules.js';
import type { BonusBatch } from '../db/entities/bonuses.js';
import type { AuditRow, ReservedAlias } from '../db/entities/identity.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Balance } from '../db/entities/ledger.js';
import type { Adjustment, PayIn, Transfer } from '../db/entities/operations.js';
import {
  type Account,
  feeKeyOf,
  type FeeScheduleRow,
  type Member,
  type Tenant,
  type Token,
} from '../db/entities/parties.js';
import type { AccountDetails } from '../accounts/directory.js';
import { displayName } from '../accounts/display-name.js';
import type { LimitState } from '../accounts/reading.js';
import type { WebhookEndpoint } from '../db/entities/webhooks.js';
import { webhookWorkflowId } from '../temporal/contracts.js';
import type { Described } from '../webhooks/operating.js';
import type { ShownDelivery } from '../webhooks/reading.js';
import type { Fields } from './output.js';
import { attemptsOf } from './presenting-bridge.js';
import type { TransferDetails } from '../support/reading/transfers.js';

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
    policy_delay_s: tenant.policyDelayS,
    created_at: timeOf(tenant.createdAt),
  };
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
    last_used_at: timeOf(token.lastUsedAt),
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
    pause_reason: batch.pauseReason,
    canceled_at: timeOf(batch.canceledAt),
    finished_at: timeOf(batch.finishedAt),
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
    actor_claimed: act.actorClaimed,
    action: act.action,
    subject_type: act.subjectType,
    subject_id: act.subjectId,
    tenant_id: act.tenantId,
    details: parseDetails(act),
  };
}

export function transferFields(transfer: Transfer, names: ReadonlyMap<Uuid, string>): Fields {
  const { asset, raw, sourceAccountId: from, destinationAccountId: to } = transfer;
  return {
    id: transfer.id,
    status: transfer.status,
    from: names.get(from) ?? from,
    to: names.get(to) ?? to,
    amount: { raw, asset },
    created_at: timeOf(transfer.createdAt),
    expires_at: timeOf(transfer.approvalExpiresAt),
  };
}

export function transferDetailFields(details: TransferDetails): Fields {
  const { transfer, approvals, outbox } = details;
  const { asset, raw, feeRaw, rejectionCode, rejectionReason } = transfer;
  return {
    id: transfer.id,
    status: transfer.status,
    tenant: details.tenant,
    tenant_id: transfer.tenantId,
    from: details.source,
    from_account_id: transfer.sourceAccountId,
    to: details.destination,
    to_account_id: transfer.destinationAccountId,
    amount: { raw, asset },
    fee: { raw: feeRaw, asset },
    created_at: timeOf(transfer.createdAt),
    created_by: details.createdBy,
    waits_for: details.waitsFor,
    expires_at: timeOf(transfer.approvalExpiresAt),
    approvals: approvals.map(({ by, channel, at }) => `${by} (${channel}) at ${toRfc3339(at)}`),
    rejection_code: rejectionCode,
    rejection_reason: rejectionReason,
    workflow_id: details.workflowId,
    outbox: outbox.map((entry) => `written ${toRfc3339(entry.createdAt)}, ${attemptsOf(entry)}`),
  };
}

/** A webhook endpoint in a list. */
export function endpointFields(endpoint: WebhookEndpoint): Fields {
  return {
    id: endpoint.id,
    tenant_id: endpoint.tenantId,
    url: endpoint.url,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    paused_by: endpoint.pausedBy,
    failing_since: timeOf(endpoint.failingSince),
    last_success_at: timeOf(endpoint.lastSuccessAt),
    next_due_at: timeOf(endpoint.nextDueAt),
  };
}

/** The same with all that is known of it. */
export function endpointDetailFields({ endpoint, types, text, nextAttemptAt }: Described): Fields {
  const { lostFrom, lostTo } = endpoint;
  return {
    ...endpointFields(endpoint),
    waits_for: text,
    events: types,
    next_attempt_at: nextAttemptAt,
    failures_in_row: endpoint.failuresInRow,
    next_probe_at: timeOf(endpoint.probeAt),
    sent_to_until: timeOf(endpoint.leaseUntil),
    workflow: webhookWorkflowId(endpoint.id),
    workflow_waits_until: timeOf(endpoint.waitsUntil),
    workflow_looked_at: timeOf(endpoint.attendedAt),
    disabled_at: timeOf(endpoint.disabledAt),
    paused_at: timeOf(endpoint.pausedAt),
    cursor: endpoint.cursorSequence.toString(),
    lost_events: lostFrom === null || lostTo === null ? null : `${lostFrom} to ${lostTo}`,
    created_at: timeOf(endpoint.createdAt),
  };
}

/** A delivery with its last attempt. */
export function deliveryFields({ delivery, attempts }: ShownDelivery): Fields {
  const last = attempts.at(-1);
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    cause: delivery.cause,
    status: delivery.state,
    attempts: attempts.length,
    last_attempt_at: last === undefined ? null : timeOf(last.at),
    last_answer: last === undefined ? null : (last.status ?? last.failure),
    next_attempt_at: timeOf(delivery.nextAttemptAt),
  };
}
