import type { Uuid } from '../core/ids.js';
import { type Instant, instant, maxInstant } from '../core/instant.js';
import type { Payout, PayoutStatus } from '../db/entities/payouts.js';
import type {
  EntryDraft,
  HoldChange,
  LockedState,
  Posting,
  Writes,
} from '../ledger/writer/types.js';
import { feeEntries } from '../accounts/rules.js';
import type { RailFact } from './rail-fact.js';

/** A payout's states and times, and what it does to the money. Pure. (docs/contract.md, Payouts) */

/** The failure of a payout that is canceled because it was not approved in time. */
export const EXPIRED = {
  failureCode: 'approval_expired',
  failureMessage: 'it was not approved in time',
} as const;

interface Transition {
  readonly status: PayoutStatus;
  readonly at: Instant;
}

/** Returns every status that the payout has had, oldest first. Each occurs at most once. */
export function transitionsOf(payout: Payout): readonly Transition[] {
  const { status, createdAt, approvedAt, submittedAt, failedAt, endedAt, returnedAt } = payout;
  const all: readonly (readonly [PayoutStatus, Instant | null])[] = [
    ['pending_approval', payout.approvalsRequired === null ? null : createdAt],
    ['approved', approvedAt],
    ['in_progress', submittedAt],
    ['failed', failedAt],
    [status === 'returned' ? 'completed' : status, endedAt],
    ['returned', returnedAt],
  ];
  return all.flatMap(([reached, at]) => (at === null ? [] : [{ status: reached, at }]));
}

/** Returns the instant of the next status, which is never before the last one. */
export function nextInstant(payout: Payout, now: Instant): Instant {
  return maxInstant(now, ...transitionsOf(payout).map(({ at }) => at));
}

export const UNFINISHED = [
  'pending_approval',
  'approved',
  'in_progress',
] as const satisfies readonly PayoutStatus[];

export function isUnfinished({ status }: Pick<Payout, 'status'>): boolean {
  return UNFINISHED.some((one) => one === status);
}

/** The forms of a bank account's parts, in requests and in files. (docs/contract.md, Payouts) */
export const BANK_ACCOUNT_FORMS = {
  bankCode: /^[0-9A-Z]{2,11}$/,
  accountNumber: /^[0-9A-Za-z]{4,34}$/,
  holderDocument: /^[0-9A-Z.-]{4,20}$/,
} as const;
export const MAX_HOLDER_NAME = 80;

/** Returns at most the last four characters, and at most half of the number. */
export function endOfNumber(accountNumber: string): string {
  return accountNumber.slice(-Math.min(4, Math.floor(accountNumber.length / 2)));
}

/** Returns the last four characters. Every key is longer. */
export function endOfKey(key: string): string {
  return key.slice(-4);
}

type NotNull<Row, Column extends keyof Row> = { readonly [C in Column]: NonNullable<Row[C]> };
type KeyColumns = NotNull<Payout, 'keyType' | 'keyEnd'>;
type BankAccountColumns = NotNull<
  Payout,
  'country' | 'bankCode' | 'accountType' | 'accountEnd' | 'holderName'
>;

/** Returns the columns of the payout's kind of destination, which are never null. */
export function destinationColumns(payout: Payout): KeyColumns | BankAccountColumns {
  const { keyType, keyEnd, country, bankCode, accountType, accountEnd, holderName } = payout;
  if (keyType !== null && keyEnd !== null) return { keyType, keyEnd };
  if (bankCode === null || accountType === null || accountEnd === null || holderName === null)
    throw new Error('a payout has no destination');
  return { country, bankCode, accountType, accountEnd, holderName };
}

type ShownDestination = Pick<
  Payout,
  'holderName' | 'country' | 'bankCode' | 'accountEnd' | 'keyType' | 'keyEnd'
>;

/** Returns the destination for people, with only the end of the account number or key. */
export function destinationText(payout: ShownDestination): string {
  const { country, bankCode, accountEnd } = payout;
  const bank = `, ${country} ${bankCode} ****${accountEnd}`;
  return recipientText(payout) + (payout.keyType === null ? bank : '');
}

/** Names the holder of the bank account, or the end of the key. */
export function recipientText({ holderName, keyType, keyEnd }: ShownDestination): string {
  return holderName ?? `Bre-B ${keyType} ****${keyEnd}`;
}

const FLAGGED_POLL_PAUSE_MS = 60_000;
const POLL_PAUSE_MS = 3_600_000;
/** Maximum age of a payout's id at its creation, because the validation of a batch's file makes it. */
export const PAYOUT_IDS_OLDER_BY_MS = 31 * 86_400_000;

export const DEFAULT_RETURN_WINDOW_MS = 60 * 86_400_000;

/**
 * Returns when the rail is polled next about an ended payout: in its return window, unless the rail
 * has confirmed a failure or return. (docs/contract.md, Payouts)
 */
export function nextPoll(
  { status, endedAt, returnedAt, stuckSince, stuckReason }: Payout,
  fact: RailFact,
  now: Instant,
  returnWindowMs: number,
): Instant | null {
  // Until the payout has ended, its workflow polls. A return to a closed account is resolved by people.
  if (endedAt === null || stuckReason === 'account_closed') return null;
  // For a flagged payout, the pause grows from a minute to an hour.
  if (stuckSince !== null)
    return instant(
      now + Math.min(POLL_PAUSE_MS, Math.max(FLAGGED_POLL_PAUSE_MS, now - stuckSince)),
    );
  const isOpen =
    status === 'completed' ||
    (status === 'returned' && fact !== 'returned') ||
    (status === 'failed' && fact !== 'denied');
  const since = returnedAt ?? endedAt;
  const closesAt = since + returnWindowMs;
  if (!isOpen || now >= closesAt) return null;
  return instant(Math.min(closesAt, now + Math.max(POLL_PAUSE_MS, now - since)));
}

export function postedAccounts(payout: Payout): readonly Uuid[] {
  const { sourceAccountId, systemAccountId, feeAccountId } = payout;
  return [sourceAccountId, systemAccountId, ...(feeAccountId === null ? [] : [feeAccountId])];
}

/** Posts the amount to the bank account and, as a separate movement, the fee. */
export function payoutPosting(payout: Payout): Posting {
  const { sourceAccountId: source, feeAccountId, asset, feeRaw } = payout;
  const fee = feeAccountId === null ? [] : feeEntries(source, feeAccountId, asset, feeRaw);
  return posting(payout, [
    ...amountEntries(payout, 'payout_out', 'system_in', -payout.raw),
    ...fee,
  ]);
}

export function returnPosting(payout: Payout): Posting {
  return posting(payout, amountEntries(payout, 'adjustment_in', 'system_out', payout.raw));
}

function posting({ id, description }: Payout, entries: readonly EntryDraft[]): Posting {
  return { relatedType: 'payout', relatedId: id, description, entries };
}

function amountEntries(
  { sourceAccountId: source, systemAccountId: system, asset }: Payout,
  sourceKind: EntryDraft['kind'],
  systemKind: EntryDraft['kind'],
  raw: bigint,
): readonly EntryDraft[] {
  return [
    { accountId: source, asset, raw, kind: sourceKind, counterpartyAccountId: system },
    { accountId: system, asset, raw: -raw, kind: systemKind, counterpartyAccountId: source },
  ];
}

export function releasedHold({ id, raw, feeRaw }: Payout): HoldChange {
  return { change: 'release', resourceId: id, raw: raw + feeRaw };
}

/** Releases the hold and restores the month's allowance, because nothing leaves. */
export function releaseWrites(payout: Payout): Writes {
  const { sourceAccountId: accountId, asset, limitMonth: month, raw } = payout;
  return { holds: [releasedHold(payout)], months: [{ accountId, asset, month, raw: -raw }] };
}

/** The flag that shows a payout to operators. (docs/payouts.md, What operators settle) */

export const NOT_FLAGGED = { stuckSince: null, stuckReason: null } as const;

/** Clears the flag after progress, except a contradiction, which two people must resolve. */
export function afterProgress(payout: Payout): Payout {
  return payout.stuckReason === 'contradiction' ? payout : { ...payout, ...NOT_FLAGGED };
}

/** Sets the time of the next poll. The poller applies the rail's own return window. */
export function schedulePoll(payout: Payout, fact: RailFact, { at }: LockedState): Payout {
  return { ...payout, nextPollAt: nextPoll(payout, fact, at, Number.POSITIVE_INFINITY) };
}

/** Flags a payout. `stuckSince` never changes, and no reason is replaced by a less serious one. */
export function withFlag(
  payout: Payout,
  stuckReason: NonNullable<Payout['stuckReason']>,
  state: LockedState,
): Payout {
  const { stuckReason: before } = payout;
  if (before === 'contradiction' || before === stuckReason) return payout;
  if (before !== null && stuckReason === 'no_outcome') return payout;
  const flagged: Payout = { ...payout, stuckSince: payout.stuckSince ?? state.at, stuckReason };
  // For a flagged payout, the fact does not matter.
  return schedulePoll(flagged, 'may_pay', state);
}
