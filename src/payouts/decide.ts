import { invalidState, missing, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { memberRoles } from '../db/entities/parties.js';
import { type Payout, payouts, type PayoutSecrets, payoutSecrets } from '../db/entities/payouts.js';
import { feeOf } from '../operations/fees.js';
import { findPayer, checkSpending } from '../operations/payments.js';
import {
  AUTHORITY_INSUFFICIENT,
  capabilityRefusal,
  paymentColumns,
  type PaymentCommand,
} from '../accounts/rules.js';
import { requiredApprovals, type RequiredApprovals } from '../approvals/rules.js';
import { nullsOf } from '../db/table.js';
import {
  accept,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type Writes,
} from '../ledger/writer/types.js';
import type { ApprovalFeature, Ending } from '../approvals/decide.js';
import type { Approvals } from '../approvals/service.js';
import { payoutEvent, insertOutboxEntry } from './commands.js';
import {
  chooseDestination,
  type ChosenDestination,
  type NewDestination,
  type PayoutRails,
} from './destination.js';
import { afterProgress, EXPIRED, releaseWrites, nextInstant } from './rules.js';

export interface CreatePayout extends PaymentCommand {
  readonly payoutId: Uuid;
  readonly systemAccountId: Uuid;
  readonly destination: NewDestination;
  readonly sealed: Omit<PayoutSecrets, 'id'>;
  readonly outboxId: Uuid;
}

/** Checks 404, 403, then the rules; then holds the money. (docs/contract.md, Order of checks) */
export function decidePayout(
  rails: PayoutRails,
  command: CreatePayout,
  state: LockedState,
): Decision<Payout> {
  const { tenantId, memberId, amount } = command;
  const { asset } = amount;
  const payer = findPayer(state, command);
  if (payer === null) return refuse(missing('source_account'));
  const accountId = payer.source.account.id;
  const role = state.row(memberRoles, { accountId, memberId })?.role;
  if (!roleAllows('createPayout', role)) return refuse(AUTHORITY_INSUFFICIENT);
  // Does not bind the key: the same request can succeed once operators have added a rail.
  const chosen = chooseDestination(rails, payer.tenant, command, state.at);
  if ('refusal' in chosen) return refuse(chosen.refusal);

  const priced = { tenantId, operation: 'payout', asset } as const;
  const fee = feeOf(state, priced, accountId, amount.raw);
  // Locks the fee account, so that it cannot be closed before the payout is created.
  if (fee.accountId !== null) state.account(fee.accountId);
  const { month, refusal } = checkSpending(state, { ...payer, amount, fee });
  if (refusal !== null) return { ...refuse(refusal), bindsKey: true };

  const policy = state.row(approvalPolicies, { accountId, asset });
  const approvals = requiredApprovals(policy, amount.raw, state.at);
  const { payoutId: id, systemAccountId } = command;
  const columns = { ...paymentColumns(command, fee, month.name, state.at), id, systemAccountId };
  const payout = newPayout(columns, chosen, approvals, state.at);
  const { rows = [], ...writes } = creationWrites(payout, command.outboxId, state.at);
  const secrets = insertRow(payoutSecrets, { id: payout.id, ...command.sealed });
  return accept(payout, { ...writes, rows: [...rows, secrets] });
}

/** Returns the writes of a new payout, besides its secrets. Holds the amount and the fee. */
export function creationWrites(payout: Payout, outboxId: Uuid, at: Instant): Writes {
  const { id, sourceAccountId: accountId, asset, raw, feeRaw, limitMonth: month } = payout;
  const hold = { resourceId: id, resourceType: 'payout', accountId, asset } as const;
  return {
    holds: [{ change: 'place', ...hold, raw: raw + feeRaw }],
    months: [{ accountId, asset, month, raw }],
    rows: [insertRow(payouts, payout), insertOutboxEntry(outboxId, payout, at)],
    // A payout may begin at once, but the event shows it as it was approved.
    events:
      payout.approvedAt === null
        ? []
        : [payoutEvent('payout.approved', { ...payout, ...APPROVED })],
  };
}

const APPROVED = { status: 'approved', submittedAt: null } as const;

type NewPayoutColumns = ReturnType<typeof paymentColumns> &
  Pick<Payout, 'id' | 'systemAccountId'> &
  Partial<Pick<Payout, 'batchId' | 'batchRow' | 'reference'>>;

/** Returns a payout that waits for these approvals; with null, it is approved. */
export function newPayout(
  columns: NewPayoutColumns,
  destination: ChosenDestination,
  approvals: RequiredApprovals | null,
  at: Instant,
): Payout {
  return {
    ...nullsOf(payouts),
    ...columns,
    ...destination.columns,
    rail: destination.rail,
    status: approvals === null ? 'approved' : 'pending_approval',
    approvalsRequired: approvals?.required ?? null,
    approvalsReceived: approvals === null ? null : 0,
    approvalExpiresAt: approvals?.expiresAt ?? null,
    approvedAt: approvals === null ? at : null,
    attempts: 0,
  };
}

/** Pure decisions about payouts that wait for approval, and cancellations of approved payouts. */
export const payoutApproval: ApprovalFeature<Payout> = {
  resourceType: 'payout',
  table: payouts,
  expiring: {
    from: `payouts t FORCE INDEX (expiring) WHERE t.status='pending_approval'`,
    expiresAt: 't.approval_expires_at',
    cannotEndSql: `t.stuck_reason<=>'contradiction'`,
  },
  operations: { approve: 'approvePayout', cancel: 'cancelPayout', alsoCanceledIn: ['approved'] },
  endRefusal: contradictionRefusal,
  railOf: ({ rail }) => rail,
  accountsOf: ({ sourceAccountId }) => [sourceAccountId],
  grant,
  end: (payout, action, reason, state) =>
    action === 'reject' ? rejected(payout, 'rejected', reason, state) : canceled(payout, state),
  expire: (payout, state) => canceled({ ...payout, ...EXPIRED }, state),
};

export type PayoutApprovals = Approvals<Payout>;

/** Refuses to end a payout that was never submitted here, but that its rail has reported. */
function contradictionRefusal({ status, stuckReason }: Payout): Refusal | null {
  if (stuckReason !== 'contradiction' || (status !== 'pending_approval' && status !== 'approved'))
    return null;
  const message =
    'the rail has reported this payout, so the money may have left: operators must resolve that before the payout can be ended';
  return invalidState(message, status, []);
}

function grant(payout: Payout, state: LockedState): Ending<Payout> {
  const source = state.account(payout.sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return rejected(payout, refusal.code, refusal.message, state);
  const approvedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...payout, status: 'approved', approvedAt };
  return { ended, writes: { events: [payoutEvent('payout.approved', ended)] } };
}

function rejected(
  payout: Payout,
  rejectionCode: string,
  rejectionReason: string | null,
  state: LockedState,
): Ending<Payout> {
  const endedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...payout, status: 'rejected', endedAt, rejectionCode, rejectionReason };
  const events = [payoutEvent('payout.rejected', ended)];
  return { ended, writes: { ...releaseWrites(ended), events } };
}

function canceled(payout: Payout, state: LockedState): Ending<Payout> {
  const endedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...afterProgress(payout), endedAt, status: 'canceled' };
  const events = [payoutEvent('payout.canceled', ended)];
  return { ended, writes: { ...releaseWrites(ended), events } };
}
