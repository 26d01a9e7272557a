import { monthOf } from '../core/calendar.js';
import type { Amount } from '../core/amount.js';
import { NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Instant } from '../core/instant.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import type { EventType } from '../db/entities/events.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { feeOf } from '../accounts/fee.js';
import { limitsOf } from '../accounts/limits.js';
import {
  AUTHORITY_INSUFFICIENT,
  type Fee,
  isReachable,
  overflowRefusal,
  spendingRefusal,
} from '../accounts/rules.js';
import { requiredApprovals } from '../approvals/rules.js';
import {
  type Decision,
  insertRow,
  type LockedAccount,
  type LockedState,
  refuse,
  type Writes,
} from '../ledger/writer/types.js';
import type { EventDraft } from '../ledger/event-log.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { type CreateTransfer, newTransfer, transferPosting } from './rules.js';
import { transferResource } from './schemas.js';

/** 404, 403, then the rules. (docs/contract.md, Order of checks) */
export function decideTransfer(command: CreateTransfer, state: LockedState): Decision<Transfer> {
  const { tenantId, memberId, amount } = command;
  const source = state.named(command.sourceAccountId);
  const destination = state.named(command.destinationAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  if (source === undefined || destination === undefined || tenant === undefined)
    return refuse(NOT_FOUND, false);
  if (source.account.tenantId !== tenantId || source.account.type === 'system')
    return refuse(NOT_FOUND, false);
  const receiver = state.row(tenants, { id: destination.account.tenantId });
  if (!isReachable(destination.account, tenant, receiver)) return refuse(NOT_FOUND, false);

  const role = state.row(memberRoles, { accountId: source.account.id, memberId })?.role;
  if (!roleAllows('createTransfer', role)) return refuse(AUTHORITY_INSUFFICIENT, false);

  const fee = feeOf(
    state,
    { tenantId, operation: 'transfer', asset: amount.asset },
    source.account.id,
    amount.raw,
  );
  const month = monthOf(state.at, tenant.timeZone);
  const monthKey = { accountId: source.account.id, asset: amount.asset, month: month.name };
  const monthUsed = state.row(monthTotals, monthKey)?.used ?? 0n;
  const own = state.row(accountLimits, { accountId: source.account.id, asset: amount.asset });
  const limits = limitsOf(source.account, amount.asset, own);
  const refusal = spendingRefusal({ source, amount, feeRaw: fee.raw, limits, month, monthUsed });
  if (refusal !== null) return refuse(refusal, true);
  const overflow = creditRefusal(state, destination, fee, amount);
  if (overflow !== null) return refuse(overflow, false);

  const policy = state.row(approvalPolicies, { accountId: source.account.id, asset: amount.asset });
  const transfer = newTransfer(
    command,
    fee,
    month.name,
    state.at,
    requiredApprovals(policy, amount.raw, state.at),
  );
  const { rows = [], ...effect } =
    transfer.status === 'completed' ? completion(transfer) : waiting(command, transfer, state.at);
  return {
    outcome: { done: true, resource: transfer },
    writes: {
      months: [{ raw: amount.raw, ...monthKey }],
      rows: [insertRow(transfers, transfer), ...rows],
      ...effect,
    },
    bindsKey: true,
  };
}

export function completion(transfer: Transfer): Writes {
  return {
    postings: [transferPosting(transfer)],
    events: [endEvent('transfer.completed', transfer)],
  };
}

export function endEvent(
  type: Extract<EventType, `transfer.${string}`>,
  transfer: Transfer,
): EventDraft {
  const { tenantId, id: resourceId } = transfer;
  return { tenantId, type, resourceId, object: () => transferResource.present(transfer) };
}

function waiting({ outboxId }: CreateTransfer, transfer: Transfer, at: Instant): Writes {
  const {
    id,
    tenantId,
    sourceAccountId,
    asset,
    raw,
    feeRaw,
    approvalExpiresAt: expiresAt,
  } = transfer;
  return {
    holds: [
      {
        change: 'place',
        resourceId: id,
        resourceType: 'transfer',
        accountId: sourceAccountId,
        asset,
        raw: raw + feeRaw,
        expiresAt,
      },
    ],
    rows: [outboxWrite({ outboxId, tenantId, resourceType: 'transfer', resourceId: id }, at)],
  };
}

/** Refuses an amount that would overflow the 64-bit total of the receiver or the fee account. */
export function creditRefusal(
  state: LockedState,
  destination: LockedAccount,
  fee: Fee,
  { raw, asset }: Amount,
): Refusal | null {
  // The receiver may be the fee account as well.
  const credited = fee.accountId === destination.account.id ? raw + fee.raw : raw;
  const refusal = overflowRefusal(destination, { raw: credited, asset });
  if (refusal !== null || fee.accountId === null) return refusal;
  const receiver = state.account(fee.accountId);
  return receiver === undefined ? null : overflowRefusal(receiver, { raw: fee.raw, asset });
}
