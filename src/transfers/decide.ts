import { monthOf } from '../core/calendar.js';
import type { Amount } from '../core/amount.js';
import { NOT_FOUND, type Refusal } from '../core/errors.js';
import { roleAllows } from '../core/permissions.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { feeOf } from '../accounts/fee.js';
import { limitsOf } from '../accounts/limits.js';
import { AUTHORITY_INSUFFICIENT, type Fee, isReachable, overflowRefusal, spendingRefusal } from '../accounts/rules.js';
import { type Decision, insertRow, refuse, type View } from '../ledger/desk/types.js';
import { presentTransfer } from './presenter.js';
import { completedTransfer, type CreateTransfer, transferEntries } from './rules.js';

/** 404, then 403, then the rules in their order; then the transfer is complete. (decisions.md, Order of checks) */
export function decideTransfer(command: CreateTransfer, view: View): Decision<Transfer> {
  const { tenantId, memberId, amount } = command;
  const source = view.named(command.sourceAccountId);
  const destination = view.named(command.destinationAccountId);
  const tenant = view.row(tenants, { id: tenantId });
  if (source === undefined || destination === undefined || tenant === undefined) return refuse(NOT_FOUND, false);
  if (source.account.tenantId !== tenantId || source.account.type === 'system') return refuse(NOT_FOUND, false);
  const receiver = view.row(tenants, { id: destination.account.tenantId });
  if (!isReachable(destination.account, tenant, receiver)) return refuse(NOT_FOUND, false);

  const role = view.row(memberRoles, { accountId: source.account.id, memberId })?.role;
  if (!roleAllows('createTransfer', role)) return refuse(AUTHORITY_INSUFFICIENT, false);

  const fee = feeOf(view, 'transfer', { tenantId, accountId: source.account.id }, amount);
  const month = monthOf(view.at, tenant.timeZone);
  const monthKey = { accountId: source.account.id, asset: amount.asset, month: month.name };
  const monthUsed = view.row(monthTotals, monthKey)?.used ?? 0n;
  const own = view.row(accountLimits, { accountId: source.account.id, asset: amount.asset });
  const limits = limitsOf(source.account, amount.asset, own);
  const refusal = spendingRefusal({ source, amount, feeRaw: fee.raw, limits, month, monthUsed });
  if (refusal !== null) return refuse(refusal, true);
  // The receiver may be the fee account as well.
  const credited = fee.accountId === destination.account.id ? amount.raw + fee.raw : amount.raw;
  const overflow = overflowRefusal(destination, { ...amount, raw: credited }) ?? feeOverflow(view, fee, amount);
  if (overflow !== null) return refuse(overflow, false);

  const transfer = completedTransfer(command, fee, month.name, view.at);
  return {
    outcome: { done: true, resource: transfer },
    writes: {
      postings: [
        {
          relatedType: 'transfer',
          relatedId: transfer.id,
          description: transfer.description,
          entries: transferEntries(transfer),
        },
      ],
      months: [{ ...monthKey, raw: amount.raw }],
      rows: [insertRow(transfers, transfer)],
      events: [{ tenantId, type: 'transfer.completed', resourceId: transfer.id, object: presentTransfer(transfer) }],
    },
    bindsKey: true,
  };
}

function feeOverflow(view: View, fee: Fee, { asset }: Amount): Refusal | null {
  const account = fee.accountId === null ? undefined : view.account(fee.accountId);
  return account === undefined ? null : overflowRefusal(account, { raw: fee.raw, asset });
}
