import { amountJson, formatAmount } from '../core/amount.js';
import { invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';
import { type RefundedType, type Transfer, transfers } from '../db/entities/operations.js';
import type { Table } from '../db/table.js';
import {
  changeRow,
  type LockedState,
  rowKey,
  type RowKey,
  type RowWrite,
} from '../ledger/writer/types.js';
import { movedAmount, zeroRefusal } from './rules.js';

/** A transfer or bonus that a refund sends back. The lock on its source account guards its sums. */
export type Original = Transfer | Bonus;

export const ORIGINALS: Readonly<Record<RefundedType, Table<Original>>> = {
  transfer: transfers,
  bonus: bonuses,
};

export function typeOf(original: Original): RefundedType {
  return 'recipientAccountId' in original ? 'bonus' : 'transfer';
}

/** Returns the account that received the original's amount, and pays its refunds. */
export function receiverOf(original: Original): Uuid {
  return 'recipientAccountId' in original
    ? original.recipientAccountId
    : original.destinationAccountId;
}

/** Returns the moved amount less completed and waiting refunds. */
export function refundableRaw(original: Original): bigint {
  const { raw } = 'capturedRaw' in original ? movedAmount(original) : original;
  return raw - original.refundedRaw - original.refundingRaw;
}

/** Returns why the amount, or null for all that is left, cannot be refunded. (docs/contract.md, Refunds) */
export function refundRefusal(original: Original, requested: bigint | null): Refusal | null {
  const { asset } = original;
  if ('status' in original) {
    const { status, refundOfId } = original;
    if (status !== 'completed') return notCompleted(status);
    if (refundOfId !== null) return NOT_REFUNDABLE;
  }
  const refundable = refundableRaw(original);
  const raw = requested ?? refundable;
  const isWithin = raw <= refundable && refundable > 0n;
  if (isWithin || requested === 0n) return zeroRefusal({ raw, asset });
  return {
    code: 'refund_exceeds_amount',
    message: `${formatAmount({ raw, asset })} were requested, ${formatAmount({ raw: refundable, asset })} can still be refunded`,
    details: { refundable: amountJson({ raw: refundable, asset }) },
  };
}

const NOT_REFUNDABLE: Refusal = {
  code: 'not_refundable',
  message: 'it is a refund, which cannot be refunded itself',
};

function notCompleted(current: string): Refusal {
  const message = `it is ${current}, and only a completed transfer can be refunded`;
  return invalidState(message, current, ['completed']);
}

type Sums = Pick<Original, 'refundedRaw' | 'refundingRaw'>;

/** Returns the original's sums after a refund was created or, if it has waited, has ended. */
export function countRefund(
  { refundedRaw, refundingRaw }: Sums,
  { raw, status }: Pick<Transfer, 'raw' | 'status'>,
  hasWaited: boolean,
): Sums {
  const freed = hasWaited ? raw : 0n;
  return {
    refundedRaw: refundedRaw + (status === 'completed' ? raw : 0n),
    refundingRaw: refundingRaw - freed + (status === 'pending_approval' ? raw : 0n),
  };
}

type Refund = Pick<Transfer, 'raw' | 'status' | 'refundOfType' | 'refundOfId'>;

/** Returns the key of the row that a refund refunds; none for every other transfer. */
export function originalKeys({ refundOfType, refundOfId: id }: Refund): RowKey[] {
  return refundOfType === null || id === null ? [] : [rowKey(ORIGINALS[refundOfType], { id })];
}

/** Returns the change of the original by the end of a refund that has waited. */
export function endedRefundRows(ended: Refund, state: LockedState): RowWrite[] {
  const { refundOfType, refundOfId: id } = ended;
  if (refundOfType === null || id === null) return [];
  const original = state.row(ORIGINALS[refundOfType], { id });
  if (original === undefined) throw new Error('the original of a refund does not exist');
  return [
    changeRow(ORIGINALS[refundOfType], { ...original, ...countRefund(original, ended, true) }),
  ];
}
