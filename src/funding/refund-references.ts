import { ApiError, invalidField, invalidState } from '../core/errors.js';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';
import type { Adjustment } from '../db/entities/operations.js';

/**
 * References of refunds are numbered by try: `fee-refund.<operation>`, `fee-refund.<operation>.2`.
 * The operators' name for the whole refund precedes the reason.
 */

/** Not allowed as an operators' name. */
const OF_PAYERS = 'fee-refund';
const NAME = /^[A-Za-z0-9_-]{1,24}$/;
const LAST_TRY = 99;
const REFERENCE = /^([A-Za-z0-9_-]{1,24})\.([0-9a-f-]{36})(?:\.([2-9]|[1-9][0-9]))?$/;

/** The refund of a payer, or the part of a fee account. */
type RefundPart =
  | { readonly of: 'payer'; readonly operationId: Uuid; readonly tries: number }
  | { readonly of: 'fee account'; readonly tries: number };

export function assertRefundName(name: string): void {
  if (!NAME.test(name) || name === OF_PAYERS)
    throw new ApiError(invalidField('reference', 'pattern'));
}

/** Refuses an adjustment that could pass for a part of a refund, whose approvers see only sums. */
export function assertNotOfRefund({
  reference,
  accountId,
}: Pick<Adjustment, 'reference' | 'accountId'>): void {
  const [, of, id] = REFERENCE.exec(reference) ?? [];
  if (of !== undefined && (of === OF_PAYERS || id === accountId))
    throw new ApiError(invalidField('reference', 'names_a_fee_refund'));
}

/** Without the operators' name, so that no operation is refunded twice. */
export function payerReference(operationId: Uuid, tries: number): string {
  return referenceOf(OF_PAYERS, operationId, tries);
}

export function feeAccountReference(name: string, accountId: Uuid, tries: number): string {
  return referenceOf(name, accountId, tries);
}

function referenceOf(name: string, id: Uuid, tries: number): string {
  if (tries > LAST_TRY)
    throw new ApiError(invalidState(`${name}.${id} was rejected ${LAST_TRY} times`));
  return tries === 1 ? `${name}.${id}` : `${name}.${id}.${tries}`;
}

/** The reason as the payer reads it. */
export function refundReason(name: string, reason: string): string {
  return `${name}: ${reason}`;
}

/** Returns null for another adjustment, whose reason may begin with the name too. */
export function refundPart(
  name: string,
  {
    reference,
    reason,
    accountId,
    direction,
  }: Pick<Adjustment, 'reference' | 'reason' | 'accountId' | 'direction'>,
): RefundPart | null {
  const [, of, id, text = '1'] = REFERENCE.exec(reference) ?? [];
  if (id === undefined || !isCanonicalUuid(id) || !reason.startsWith(refundReason(name, '')))
    return null;
  const tries = Number.parseInt(text, 10);
  if (of === OF_PAYERS) return direction === 'in' ? { of: 'payer', operationId: id, tries } : null;
  return of === name && id === accountId ? { of: 'fee account', tries } : null;
}
