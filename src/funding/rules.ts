import { type Amount, fitsColumn, formatAmount } from '../core/amount.js';
import { invalidField, invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Adjustment } from '../db/entities/operations.js';
import type { Account } from '../db/entities/parties.js';
import { ACCOUNT_CLOSED } from '../accounts/rules.js';
import type { EntryDraft, LockedAccount } from '../ledger/writer/types.js';
import { secondPersonRefusal } from '../staff/rules.js';

interface Move {
  readonly account: LockedAccount;
  readonly system: LockedAccount;
  readonly amount: Amount;
  readonly direction: 'in' | 'out';
}

/** Returns why the adjustment may not be posted. A closed account can be emptied, never filled. */
export function approvalRefusal(
  adjustment: Adjustment,
  approverId: Uuid,
  move: Move,
): Refusal | null {
  return (
    (adjustment.status === 'proposed' ? null : decidedRefusal(adjustment)) ??
    secondPersonRefusal(adjustment.proposedById, approverId) ??
    (move.direction === 'in' ? closedRefusal(move.account.account) : fundsRefusal(move)) ??
    rangeRefusal(move)
  );
}

export function decidedRefusal({ status, decidedBy }: Adjustment): Refusal {
  return invalidState(`the adjustment is already ${status}, by ${decidedBy ?? 'nobody'}`, status, [
    'proposed',
  ]);
}

export function closedRefusal({ status }: Pick<Account, 'status'>): Refusal | null {
  return status === 'closed' ? ACCOUNT_CLOSED : null;
}

function fundsRefusal({ account, amount }: Move): Refusal | null {
  const { available } = account.balances[amount.asset];
  if (available >= amount.raw) return null;
  return {
    code: 'insufficient_funds',
    message: `${formatAmount(amount)} were requested, ${formatAmount({ raw: available, asset: amount.asset })} are available`,
    details: { available: available.toString(), requested: amount.raw.toString() },
  };
}

export function rangeRefusal({ account, system, amount, direction }: Move): Refusal | null {
  const gained = direction === 'in' ? amount.raw : -amount.raw;
  const fits = (side: LockedAccount, change: bigint): boolean => {
    const { available, held } = side.balances[amount.asset];
    return fitsColumn(available + change) && fitsColumn(available + held + change);
  };
  if (fits(account, gained) && fits(system, -gained)) return null;
  return {
    ...invalidField('amount.raw', 'out_of_range'),
    message: `with ${formatAmount(amount)} more, a balance would be larger than the ledger can hold`,
  };
}

export function entriesOf(
  move: Move,
  kind: 'payin_in' | 'adjustment_in' | 'adjustment_out',
): readonly EntryDraft[] {
  const { raw, asset } = move.amount;
  const gained = move.direction === 'in' ? raw : -raw;
  const [own, system] = [move.account.account.id, move.system.account.id];
  return [
    { accountId: own, asset, raw: gained, kind, counterpartyAccountId: system },
    {
      accountId: system,
      asset,
      raw: -gained,
      kind: move.direction === 'in' ? 'system_out' : 'system_in',
      counterpartyAccountId: own,
    },
  ];
}
