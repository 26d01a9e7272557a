import type { Amount } from '../core/amount.js';
import { invalidField, NOT_FOUND } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { memberRoles } from '../db/entities/parties.js';
import { type Payout, payouts, type PayoutSecrets, payoutSecrets } from '../db/entities/payouts.js';
import { feeOf } from '../accounts/fee.js';
import { findPayer, judgeSpending } from '../accounts/payments.js';
import { AUTHORITY_INSUFFICIENT, type Fee } from '../accounts/rules.js';
import { requiredApprovals, type RequiredApprovals } from '../approvals/rules.js';
import {
  accept,
  type Command,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
} from '../ledger/writer/types.js';
import { payoutEvent, workflowEntry } from './commands.js';
import { chooseRail, type RailRoute } from './rails/rail.js';

export interface CreatePayout extends Command {
  readonly payoutId: Uuid;
  readonly memberId: Uuid;
  readonly sourceAccountId: Uuid;
  readonly systemAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
  readonly destination: Pick<
    Payout,
    'country' | 'bankCode' | 'accountType' | 'accountEnd' | 'holderName'
  >;
  readonly sealed: Omit<PayoutSecrets, 'id'>;
  readonly outboxId: Uuid;
}

/** Checks 404, 403, then the rules; then holds the money. (docs/contract.md, Order of checks) */
export function decidePayout(
  routes: readonly RailRoute[],
  command: CreatePayout,
  state: LockedState,
): Decision<Payout> {
  const { tenantId, memberId, amount, payoutId: resourceId } = command;
  const { asset } = amount;
  const payer = findPayer(state, command);
  if (payer === null) return refuse(NOT_FOUND, false);
  const accountId = payer.source.account.id;
  const role = state.row(memberRoles, { accountId, memberId })?.role;
  if (!roleAllows('createPayout', role)) return refuse(AUTHORITY_INSUFFICIENT, false);
  // Configuration, not a rule: the same request may pass once operators have added a rail.
  const rail = chooseRail(routes, payer.tenant, command.destination.country);
  if (rail === null) return refuse(invalidField('destination.country', 'not_supported'), false);

  const priced = { tenantId, operation: 'payout', asset } as const;
  const fee = feeOf(state, priced, accountId, amount.raw);
  // Locked from the start, so that it cannot be closed before the fee is posted to it.
  if (fee.accountId !== null) state.account(fee.accountId);
  const { month, refusal } = judgeSpending(state, { ...payer, amount, fee });
  if (refusal !== null) return refuse(refusal, true);

  const policy = state.row(approvalPolicies, { accountId, asset });
  const approvals = requiredApprovals(policy, amount.raw, state.at);
  const payout = newPayout(command, { fee, limitMonth: month.name, rail, approvals }, state.at);
  const raw = amount.raw + fee.raw;
  return accept(payout, {
    holds: [{ change: 'place', resourceId, resourceType: 'payout', accountId, asset, raw }],
    months: [{ accountId, asset, month: month.name, raw: amount.raw }],
    rows: [
      insertRow(payouts, payout),
      insertRow(payoutSecrets, { id: resourceId, ...command.sealed }),
      workflowEntry(command.outboxId, payout, state.at),
    ],
    events: approvals === null ? [payoutEvent('payout.approved', payout)] : [],
  });
}

interface NewPayout extends Pick<Payout, 'limitMonth' | 'rail'> {
  readonly fee: Fee;
  readonly approvals: RequiredApprovals | null;
}

function newPayout(
  command: CreatePayout,
  { fee, limitMonth, rail, approvals }: NewPayout,
  at: Instant,
): Payout {
  const { payoutId: id, tenantId, memberId, sourceAccountId, systemAccountId } = command;
  const { amount, description, destination } = command;
  return {
    ...{ id, tenantId, sourceAccountId, systemAccountId, ...amount, description, ...destination },
    ...{ feeRaw: fee.raw, feeAccountId: fee.accountId, limitMonth, rail, createdBy: memberId },
    status: approvals === null ? 'approved' : 'pending_approval',
    createdAt: at,
    approvalsRequired: approvals?.required ?? null,
    approvalsReceived: approvals === null ? null : 0,
    approvalExpiresAt: approvals?.expiresAt ?? null,
    approvedAt: approvals === null ? at : null,
    ...NOTHING_YET,
  };
}

const NOTHING_YET = {
  ...{ rejectionCode: null, rejectionReason: null, failureCode: null, failureMessage: null },
  ...{ railReference: null, submittedAt: null, attempts: 0, attemptedAt: null },
  ...{ failedAt: null, endedAt: null, returnedAt: null },
  ...{ stuckSince: null, stuckReason: null, askAt: null },
};
