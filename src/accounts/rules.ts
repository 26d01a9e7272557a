import { type Amount, type Asset, fitsColumn, formatAmount, MAX_RAW } from '../core/amount.js';
import { type Instant, type Month, toRfc3339 } from '../core/instant.js';
import { invalidField, invalidState, type Refusal, type SpendingRefusal } from '../core/errors.js';
import type { SENDING_REASONS } from '../core/field-reasons.js';
import type { Uuid } from '../core/ids.js';
import type { Metadata } from '../core/metadata.js';
import type { Account, Tenant } from '../db/entities/parties.js';
import type {
  Command,
  EntryDraft,
  LockedAccount,
  LockedState,
  Posting,
} from '../ledger/writer/types.js';

export const AUTHORITY_INSUFFICIENT: Refusal = {
  code: 'authority_insufficient',
  message: "the member's role in this account does not allow the operation",
  details: { reason: 'role' },
};

/** For operators' commands only: in the API a closed account does not exist or cannot send. */
export const ACCOUNT_CLOSED = invalidState('the account is closed', 'closed', ['active', 'frozen']);

/** The bounds of one operation and of a month's spending, in the asset's smallest unit. */
export interface Limits {
  readonly minimum: bigint;
  readonly maximum: bigint;
  readonly month: bigint;
}

interface Spending {
  readonly source: LockedAccount;
  readonly amount: Amount;
  readonly feeRaw: bigint;
  readonly limits: Limits;
  readonly month: Month;
  readonly monthUsed: bigint;
}

/**
 * Returns the first rule that forbids the spending, in the order of SPENDING_CODES, or null. The rules about the account
 * alone apply again at the last approval and at a capture; those about the amount alone apply to each row of a batch.
 */
export function spendingRefusal(spending: Spending): SpendingRefusal | null {
  return (
    capabilityRefusal(spending.source.account) ??
    operationLimitRefusal(spending.amount, spending.limits) ??
    monthRefusal(spending) ??
    fundsRefusal(spending)
  );
}

/** Refuses by the rules about the account: it is active and verified. (docs/contract.md, Errors) */
export function capabilityRefusal(
  account: Pick<Account, 'status' | 'verifiedAt'>,
): SpendingRefusal | null {
  const { status, verifiedAt } = account;
  if (status === 'active' && verifiedAt !== null) return null;
  const [reason, why]: readonly [keyof typeof SENDING_REASONS, string] =
    status === 'active'
      ? (['not_verified', 'it has no declared verification'] as const)
      : ([status, `it is ${status}`] as const);
  return {
    code: 'capability_cannot_send',
    message: `the account cannot send: ${why}`,
    details: { reason },
  };
}

interface OperationLimitRefusal extends SpendingRefusal {
  readonly code: 'below_minimum' | 'above_per_operation_limit';
}

/** Refuses by the rules about the amount: it is within the limits of one operation. */
export function operationLimitRefusal(
  amount: Amount,
  limits: Limits,
): OperationLimitRefusal | null {
  const { raw, asset } = amount;
  const minimum = limits.minimum > 0n ? limits.minimum : 1n;
  if (raw < minimum)
    return {
      code: 'below_minimum',
      message: `${formatAmount(amount)} is under the minimum of ${formatAmount({ raw: minimum, asset })}`,
      details: { minimum: minimum.toString(), requested: raw.toString(), asset },
    };
  if (raw > limits.maximum)
    return {
      code: 'above_per_operation_limit',
      message: `${formatAmount(amount)} is over the maximum of ${formatAmount({ raw: limits.maximum, asset })}`,
      details: { maximum: limits.maximum.toString(), requested: raw.toString(), asset },
    };
  return null;
}

function monthRefusal({ amount, limits, month, monthUsed }: Spending): SpendingRefusal | null {
  const { raw, asset } = amount;
  if (monthUsed + raw <= limits.month) return null;
  return {
    code: 'monthly_limit_exceeded',
    message:
      `${formatAmount(amount)} is more than this month still allows: ` +
      `${formatAmount({ raw: monthUsed, asset })} of ${formatAmount({ raw: limits.month, asset })} are used`,
    details: {
      used: monthUsed.toString(),
      limit: limits.month.toString(),
      resets_at: toRfc3339(month.endsAt),
    },
  };
}

export function fundsRefusal({
  source,
  amount,
  feeRaw,
}: Pick<Spending, 'source' | 'amount' | 'feeRaw'>): SpendingRefusal | null {
  const { asset } = amount;
  const { available } = source.balances[asset];
  const requested = amount.raw + feeRaw;
  if (available >= requested) return null;
  return {
    code: 'insufficient_funds',
    message: `${formatAmount({ raw: requested, asset })} were requested, ${formatAmount({ raw: available, asset })} are available`,
    details: { available: available.toString(), requested: requested.toString() },
  };
}

/** True if the sender may pay the account: it is open, and of the same tenant or network. */
export function isReachable(
  destination: Pick<Account, 'tenantId' | 'type' | 'status'>,
  sender: Tenant,
  receiver: Tenant | undefined,
): boolean {
  if (destination.type === 'system' || destination.status === 'closed') return false;
  if (destination.tenantId === sender.id) return true;
  return sender.network !== null && receiver?.network === sender.network;
}

export function overflowRefusal(account: LockedAccount, { raw, asset }: Amount): Refusal | null {
  const { available, held } = account.balances[asset];
  return available + held + raw > MAX_RAW ? invalidField('amount.raw', 'out_of_range') : null;
}

/** True if a balance would not fit 64 bits after one of these entries, posted in this order. */
export function overflows(
  postings: readonly Posting[],
  state: Pick<LockedState, 'account'>,
): boolean {
  const totals = new Map<string, bigint>();
  for (const { accountId, asset, raw } of postings.flatMap(({ entries }) => entries)) {
    const { available = 0n, held = 0n } = state.account(accountId)?.balances[asset] ?? {};
    const total = (totals.get(`${accountId} ${asset}`) ?? available + held) + raw;
    if (!fitsColumn(total)) return true;
    totals.set(`${accountId} ${asset}`, total);
  }
  return false;
}

export interface Fee {
  readonly raw: bigint;
  readonly accountId: Uuid | null;
}

/** The fields of every request that pays from an account. */
export interface PaymentRequest {
  readonly sourceAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
  readonly metadata: Metadata | null;
}

export interface PaymentCommand extends Command, PaymentRequest {
  readonly memberId: Uuid;
}

/**
 * Returns the columns that every payment has, except its id. Spread them last: on Node 20, each
 * property after a spread takes a microsecond.
 */
export function paymentColumns(
  payment: PaymentRequest & Pick<PaymentCommand, 'tenantId' | 'memberId'>,
  fee: Fee,
  limitMonth: string,
  createdAt: Instant,
) {
  return {
    tenantId: payment.tenantId,
    sourceAccountId: payment.sourceAccountId,
    asset: payment.amount.asset,
    raw: payment.amount.raw,
    feeRaw: fee.raw,
    feeAccountId: fee.accountId,
    description: payment.description,
    metadata: payment.metadata,
    createdBy: payment.memberId,
    limitMonth,
    createdAt,
  };
}

type Kind = EntryDraft['kind'];

function entryPair(
  from: Uuid,
  to: Uuid,
  { raw, asset }: Amount,
  fromKind: Kind,
  toKind: Kind,
): EntryDraft[] {
  return [
    { accountId: from, asset, raw: -raw, kind: fromKind, counterpartyAccountId: to },
    { accountId: to, asset, raw, kind: toKind, counterpartyAccountId: from },
  ];
}

/** Returns a fee's entries. The contract has no `fee_in`, so it arrives as `adjustment_in`. */
export function feeEntries(payer: Uuid, feeAccount: Uuid, asset: Asset, raw: bigint): EntryDraft[] {
  return entryPair(payer, feeAccount, { raw, asset }, 'fee_out', 'adjustment_in');
}

interface Payment extends Amount {
  readonly sourceAccountId: Uuid;
  readonly feeAccountId: Uuid | null;
  readonly feeRaw: bigint;
}

/** Returns the entries of a payment and, separately, of its fee. */
export function paymentEntries(
  kind: 'transfer' | 'bonus',
  payment: Payment,
  recipient: Uuid,
): EntryDraft[] {
  const { sourceAccountId: source, feeAccountId, asset, feeRaw } = payment;
  const entries = entryPair(source, recipient, payment, `${kind}_out`, `${kind}_in`);
  if (feeAccountId !== null) entries.push(...feeEntries(source, feeAccountId, asset, feeRaw));
  return entries;
}
