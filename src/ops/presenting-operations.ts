import { isAccepted, pendingRows } from '../batches/rules.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { approvals } from '../db/entities/approvals.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { type PayIn, payIns, type Transfer } from '../db/entities/operations.js';
import { members, tenants } from '../db/entities/parties.js';
import { type Payout, payoutRailEvents } from '../db/entities/payouts.js';
import type { Fields } from './output.js';
import { listResolutions } from '../payouts/resolutions.js';
import { transitionsOf } from '../payouts/rules.js';
import { payoutResource } from '../payouts/schemas.js';
import {
  eventLine,
  payoutWaitsFor,
  resolutionLine,
  stuckText,
} from '../support/reading/payouts.js';
import { readNames, type TransferDetails } from '../support/reading/transfers.js';
import { payoutWorkflowId } from '../temporal/contracts.js';
import { transferResource } from '../transfers/schemas.js';
import { attemptsOf } from './presenting-service.js';
import { rowFields } from './row-fields.js';

/** Presents operations of any tenant to operators, with only the end of a bank account's number. */

export function payInFields(payIn: PayIn): Fields {
  return {
    ...rowFields(payIns, payIn, 'id reference accountId'),
    amount: { raw: payIn.raw, asset: payIn.asset },
    ...rowFields(payIns, payIn, 'description recordedBy createdAt'),
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
    ...rowFields(bonusBatches, batch, 'tenantId sourceAccountId'),
    fees: amount(batch.feesRaw),
    settled: amount(batch.settledRaw),
    funds_held: batch.isHeld && batch.status === 'executing' && batch.canceledAt === null,
    uploaded_by: batch.createdBy,
    ...rowFields(
      bonusBatches,
      batch,
      'validatedAt executedBy executedAt pausedAt pausedBy pauseReason',
    ),
    ...rowFields(bonusBatches, batch, 'canceledAt finishedAt'),
    rejection: batch.rejectionCode,
  };
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

export function payoutFields(payout: Payout): Fields {
  const shown = payoutResource.presentToStaff('ops', payout);
  const { id = null, status = null, amount = null, rail_reference = null } = shown;
  return {
    id,
    status,
    amount,
    to: `${payout.holderName}, ${payout.country} ${payout.bankCode} ****${payout.accountEnd}`,
    rail: payout.rail,
    rail_reference,
    created_at: shown.created_at ?? null,
  };
}

const MAX_CONTRADICTIONS = 5;

export async function stuckFields(reader: Reader, payout: Payout, now: Instant): Promise<Fields> {
  const said = await reader.select(payoutRailEvents, { payoutId: payout.id }, { orderBy: ['id'] });
  const last = said.at(-1);
  const { stuckSince } = payout;
  return {
    ...payoutFields(payout),
    why: stuckText(payout),
    stuck_since: toRfc3339(stuckSince),
    stuck_for_s: stuckSince === null ? 0 : Math.max(0, Math.round((now - stuckSince) / 1_000)),
    last_said: last === undefined ? null : eventLine(last),
    contradicting: said
      .filter(({ effect }) => effect === 'conflict')
      .slice(-MAX_CONTRADICTIONS)
      .map(eventLine),
    proposed: (await listResolutions(reader, payout.id))
      .filter(({ status }) => status === 'proposed')
      .map(resolutionLine),
  };
}

/** The newest events matter most; more would hide them. */
const MAX_EVENTS = 20;

export async function payoutDetailFields(
  reader: Reader,
  payout: Payout,
  now: Instant,
): Promise<Fields> {
  const { id, tenantId, sourceAccountId, createdBy, asset } = payout;
  const [names, given, said, resolutions, tenant, creator] = await Promise.all([
    readNames(reader, [sourceAccountId]),
    reader.select(approvals, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
    reader.select(payoutRailEvents, { payoutId: id }, { orderBy: ['id'] }),
    listResolutions(reader, id),
    reader.find(tenants, { id: tenantId }),
    reader.find(members, { id: createdBy }),
  ]);
  return {
    ...(await stuckFields(reader, payout, now)),
    tenant: tenant?.name ?? tenantId,
    from: names.get(sourceAccountId) ?? sourceAccountId,
    from_account_id: sourceAccountId,
    fee: { raw: payout.feeRaw, asset },
    created_by: creator?.name ?? createdBy,
    waits_for: payoutWaitsFor(payout, now),
    transitions: transitionsOf(payout).map(({ status, at }) => `${status} at ${toRfc3339(at)}`),
    approvals: given.map(
      ({ actorClaimed, channel, createdAt }) =>
        `${actorClaimed} (${channel}) at ${toRfc3339(createdAt)}`,
    ),
    rejection:
      payout.rejectionCode === null
        ? null
        : `${payout.rejectionCode}: ${payout.rejectionReason ?? 'no reason'}`,
    failure:
      payout.failureCode === null ? null : `${payout.failureCode}: ${payout.failureMessage ?? ''}`,
    rail_said: said.slice(-MAX_EVENTS).map(eventLine),
    attempts: payout.attempts,
    last_attempt_at: toRfc3339(payout.attemptedAt),
    asked_next_at: toRfc3339(payout.askAt),
    resolutions: resolutions.map(resolutionLine),
    workflow_id: payoutWorkflowId(id),
  };
}
