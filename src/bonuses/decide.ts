import { monthOf } from '../core/calendar.js';
import type { Amount } from '../core/amount.js';
import { invalidField, NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { type Bonus, bonuses, bonusReferences } from '../db/entities/bonuses.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { memberRoles, type Tenant, tenants } from '../db/entities/parties.js';
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
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import { bonusEntries, type CreateBonus } from './rules.js';

interface Payment {
  readonly source: LockedAccount;
  readonly recipient: LockedAccount;
  readonly tenant: Tenant;
  readonly amount: Amount;
  readonly fee: Fee;
}

/** The name is unknown, or this tenant cannot pay its account. */
export function findRecipient(
  state: LockedState,
  tenant: Tenant,
  recipientAccountId: Uuid,
): LockedAccount | undefined {
  const recipient = state.named(recipientAccountId);
  if (recipient === undefined) return undefined;
  const receiver = state.row(tenants, { id: recipient.account.tenantId });
  return isReachable(recipient.account, tenant, receiver) ? recipient : undefined;
}

/** Returns the first rule that forbids the payment, in the contract's order, then an overflow. */
export function paymentRefusal(state: LockedState, payment: Payment): Refusal | null {
  const { source, recipient, tenant, amount, fee } = payment;
  const { asset } = amount;
  const month = monthOf(state.at, tenant.timeZone);
  const key = { accountId: source.account.id, asset };
  const monthUsed = state.row(monthTotals, { ...key, month: month.name })?.used ?? 0n;
  const limits = limitsOf(source.account, asset, state.row(accountLimits, key));
  const refusal = spendingRefusal({ source, amount, feeRaw: fee.raw, limits, month, monthUsed });
  if (refusal !== null) return refusal;
  // The recipient may be the fee account as well.
  const credited = fee.accountId === recipient.account.id ? amount.raw + fee.raw : amount.raw;
  const feeAccount = fee.accountId === null ? undefined : state.account(fee.accountId);
  return (
    overflowRefusal(recipient, { raw: credited, asset }) ??
    (feeAccount === undefined ? null : overflowRefusal(feeAccount, { raw: fee.raw, asset }))
  );
}

export function bonusWrites(bonus: Bonus): Writes {
  const { id, sourceAccountId, asset, limitMonth, raw, description } = bonus;
  return {
    postings: [{ relatedType: 'bonus', relatedId: id, description, entries: bonusEntries(bonus) }],
    months: [{ accountId: sourceAccountId, asset, month: limitMonth, raw }],
    rows: [insertRow(bonuses, bonus), ...referenceRow(bonus)],
  };
}

/** The review of a batch finds a single bonus by this row. */
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

/** 404, 403, then the rules in their order. (docs/contract.md, Order of checks) */
export function decideBonus(command: CreateBonus, state: LockedState): Decision<Bonus> {
  const { tenantId, memberId, sourceAccountId, recipientAccountId, amount } = command;
  const source = state.named(sourceAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  if (source === undefined || tenant === undefined || recipientAccountId === null)
    return refuse(NOT_FOUND, false);
  if (source.account.tenantId !== tenantId || source.account.type === 'system')
    return refuse(NOT_FOUND, false);
  const recipient = findRecipient(state, tenant, recipientAccountId);
  if (recipient === undefined) return refuse(NOT_FOUND, false);
  const refused = sameAccountRefusal(command) ?? authorityRefusal(command, state);
  if (refused !== null) return refuse(refused, false);

  const fee = feeOf(
    state,
    { tenantId, operation: 'bonus', asset: amount.asset },
    sourceAccountId,
    amount.raw,
  );
  const refusal = paymentRefusal(state, { source, recipient, tenant, amount, fee });
  // An overflow is not a business rule: another day the amount may fit.
  if (refusal !== null) return refuse(refusal, refusal.code !== 'invalid_field');
  const bonus: Bonus = {
    id: command.bonusId,
    tenantId,
    sourceAccountId,
    recipientAccountId,
    asset: amount.asset,
    raw: amount.raw,
    feeRaw: fee.raw,
    feeAccountId: fee.accountId,
    description: command.description,
    reference: command.reference,
    createdBy: memberId,
    batchId: null,
    batchRow: null,
    limitMonth: monthOf(state.at, tenant.timeZone).name,
    createdAt: state.at,
  };
  return { outcome: { done: true, resource: bonus }, writes: bonusWrites(bonus), bindsKey: true };
}

/** A bonus that needs approval is refused: it cannot wait. */
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
  };
}

/** Only now is it known which account an alias or phone names. */
function sameAccountRefusal({ sourceAccountId, recipientAccountId }: CreateBonus): Refusal | null {
  return sourceAccountId === recipientAccountId
    ? invalidField('recipient', 'same_as_source')
    : null;
}
