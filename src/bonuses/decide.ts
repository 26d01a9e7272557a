import { feeOf } from '../operations/fees.js';
import { creditRefusal, findParties, checkSpending, missingParty } from '../operations/payments.js';
import {
  AUTHORITY_INSUFFICIENT,
  paymentColumns,
  type PaymentCommand,
  paymentEntries,
} from '../accounts/rules.js';
import { requiredApprovals } from '../approvals/rules.js';
import { invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { type Bonus, bonuses, bonusReferences } from '../db/entities/bonuses.js';
import { memberRoles } from '../db/entities/parties.js';
import {
  accept,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';

export function bonusWrites(bonus: Bonus): Writes {
  const { id, sourceAccountId, asset, limitMonth, raw, description } = bonus;
  const entries = paymentEntries('bonus', bonus, bonus.recipientAccountId);
  return {
    postings: [{ relatedType: 'bonus', relatedId: id, description, entries }],
    months: [{ accountId: sourceAccountId, asset, month: limitMonth, raw }],
    rows: [insertRow(bonuses, bonus), ...referenceRow(bonus)],
  };
}

/** Lets the review of a batch find the single bonus by its reference. */
function referenceRow({
  id,
  tenantId,
  recipientAccountId,
  reference,
  batchId,
  createdAt,
}: Bonus): RowWrite[] {
  if (batchId !== null || reference === null) return [];
  return [insertRow(bonusReferences, { id, tenantId, recipientAccountId, reference, createdAt })];
}

/** Checks 404 and 403, then the rules in their order. (docs/contract.md, Order of checks) */
export function decideBonus(command: CreateBonus, state: LockedState): Decision<Bonus> {
  const { tenantId, sourceAccountId, recipientAccountId, amount } = command;
  const parties = findParties(state, command, recipientAccountId);
  if (parties === null || recipientAccountId === null)
    return refuse(missingParty(state, command, 'recipient'));
  const refused = sameAccountRefusal(command) ?? authorityRefusal(command, state);
  if (refused !== null) return refuse(refused);

  const { asset, raw } = amount;
  const fee = feeOf(state, { tenantId, operation: 'bonus', asset }, sourceAccountId, raw);
  const { month, refusal } = checkSpending(state, { amount, fee, ...parties });
  if (refusal !== null) return { ...refuse(refusal), bindsKey: true };
  // An overflow does not bind the key, because the amount may fit another day.
  const overflow = creditRefusal(state, parties.recipient, fee, amount);
  if (overflow !== null) return refuse(overflow);
  const bonus: Bonus = {
    id: command.bonusId,
    recipientAccountId,
    reference: command.reference,
    batchId: null,
    batchRow: null,
    refundedRaw: 0n,
    refundingRaw: 0n,
    ...paymentColumns(command, fee, month.name, state.at),
  };
  return accept(bonus, bonusWrites(bonus));
}

/** Refuses without the right, and a bonus that needs approval, because it cannot wait. */
function authorityRefusal(
  { sourceAccountId: accountId, memberId, amount }: CreateBonus,
  state: LockedState,
): Refusal | null {
  const role = state.row(memberRoles, { accountId, memberId })?.role;
  if (!roleAllows('createBonus', role)) return AUTHORITY_INSUFFICIENT;
  const policy = state.row(approvalPolicies, { accountId, asset: amount.asset });
  if (requiredApprovals(policy, amount.raw, state.at) === null) return null;
  return {
    code: 'authority_insufficient',
    message:
      'this account asks for approval from this amount on, and a bonus cannot wait for it: send a transfer or a batch',
    details: { reason: 'above_approval_threshold' },
  };
}

/** Checked here and not in the schema, because an alias or phone may name the source. */
function sameAccountRefusal({ sourceAccountId, recipientAccountId }: CreateBonus): Refusal | null {
  return sourceAccountId === recipientAccountId
    ? invalidField('recipient', 'same_as_source')
    : null;
}

export interface CreateBonus extends PaymentCommand {
  readonly bonusId: Uuid;
  /** Null if no account had the name in the request. */
  readonly recipientAccountId: Uuid | null;
  readonly reference: string | null;
}

/** In code points. */
export const MAX_REFERENCE = 64;
