import { monthOf } from '../core/calendar.js';
import { invalidField, NOT_FOUND } from '../core/errors.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import type { EventType } from '../db/entities/events.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { type Payout, payouts, payoutSecrets } from '../db/entities/payouts.js';
import { feeOf } from '../accounts/fee.js';
import { limitsOf } from '../accounts/limits.js';
import { AUTHORITY_INSUFFICIENT, spendingRefusal } from '../accounts/rules.js';
import { approvalsWanted } from '../approvals/rules.js';
import type { EventDraft } from '../ledger/event-log.js';
import { type Decision, insertRow, type LockedState, refuse } from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { presentPayout } from './presenter.js';
import { chooseRail, type RailRoute } from './rails/rules.js';
import { type CreatePayout, newPayout } from './rules.js';

/**
 * Checks 404, 403, then the rules in order; then the money is held and the payout is approved, or waits for approval.
 * (docs/contract.md, Order of checks)
 */
export function decidePayout(
  routes: readonly RailRoute[],
  command: CreatePayout,
  state: LockedState,
): Decision<Payout> {
  const { tenantId, memberId, amount, payoutId } = command;
  const source = state.named(command.sourceAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  if (
    source?.account.tenantId !== tenantId ||
    source.account.type === 'system' ||
    tenant === undefined
  )
    return refuse(NOT_FOUND, false);
  const accountId = source.account.id;
  const role = state.row(memberRoles, { accountId, memberId })?.role;
  if (!roleAllows('createPayout', role)) return refuse(AUTHORITY_INSUFFICIENT, false);
  // Configuration, not a rule: the same request may pass once operators have added a rail.
  const rail = chooseRail(routes, tenant, command.destination.country);
  if (rail === null) return refuse(invalidField('destination.country', 'not_supported'), false);

  const fee = feeOf(
    state,
    { tenantId, operation: 'payout', asset: amount.asset },
    accountId,
    amount.raw,
  );
  // Locked from the start, so that it cannot be closed while a fee is on its way to it.
  if (fee.accountId !== null) state.account(fee.accountId);
  const month = monthOf(state.at, tenant.timeZone);
  const monthKey = { accountId, asset: amount.asset, month: month.name };
  const monthUsed = state.row(monthTotals, monthKey)?.used ?? 0n;
  const limits = limitsOf(
    source.account,
    amount.asset,
    state.row(accountLimits, { accountId, asset: amount.asset }),
  );
  const refusal = spendingRefusal({ source, amount, feeRaw: fee.raw, limits, month, monthUsed });
  if (refusal !== null) return refuse(refusal, true);

  const policy = state.row(approvalPolicies, { accountId, asset: amount.asset });
  const wanted = approvalsWanted(policy, amount.raw, state.at);
  const payout = newPayout(command, { fee, limitMonth: month.name, rail, wanted }, state.at);
  const held = {
    resourceId: payoutId,
    resourceType: 'payout',
    accountId,
    asset: amount.asset,
  } as const;
  const outbox = {
    outboxId: command.outboxId,
    tenantId,
    resourceType: 'payout',
    resourceId: payoutId,
  } as const;
  return {
    outcome: { done: true, resource: payout },
    writes: {
      holds: [{ change: 'place', ...held, raw: amount.raw + fee.raw }],
      months: [{ ...monthKey, raw: amount.raw }],
      rows: [
        insertRow(payouts, payout),
        insertRow(payoutSecrets, { id: payoutId, ...command.sealed }),
        outboxWrite(outbox, state.at),
      ],
      events: wanted === null ? [payoutEvent('payout.approved', payout)] : [],
    },
    bindsKey: true,
  };
}

/** The event of a transition, with the payout as GET shows it at that moment. */
export function payoutEvent(
  type: Extract<EventType, `payout.${string}`>,
  payout: Payout,
): EventDraft {
  return {
    tenantId: payout.tenantId,
    type,
    resourceId: payout.id,
    object: () => presentPayout(payout),
  };
}
