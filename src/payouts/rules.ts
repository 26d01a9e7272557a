import type { Amount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant, maxInstant } from '../core/instant.js';
import type { Payout, PayoutStatus } from '../db/entities/payouts.js';
import type { LineStatus } from '../db/entities/rail-statements.js';
import type { Command, EntryDraft, Posting } from '../ledger/writer/types.js';
import { type Fee, feeEntries } from '../accounts/rules.js';
import type { WantedApprovals } from '../approvals/rules.js';
import { FAILURES, type FailureCode } from './rails/rules.js';

/** The states of a payout, and what each does to the money. Pure. (docs/contract.md, Payouts) */

/** Where the money goes, with secrets already sealed. */
export interface PayoutDestination {
  readonly country: string;
  readonly bankCode: string;
  readonly accountType: Payout['accountType'];
  readonly accountEnd: string;
  readonly holderName: string;
}

export interface CreatePayout extends Command {
  readonly payoutId: Uuid;
  readonly memberId: Uuid;
  readonly sourceAccountId: Uuid;
  readonly systemAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
  readonly destination: PayoutDestination;
  readonly sealed: {
    readonly accountNumber: Buffer;
    readonly holderDocument: Buffer;
    readonly keyId: string;
  };
  /** The outbox entry that tells the workflow. */
  readonly outboxId: Uuid;
}

interface NewPayout {
  readonly fee: Fee;
  readonly limitMonth: string;
  readonly rail: string;
  readonly wanted: WantedApprovals | null;
}

/** The row of a new payout: approved at once, or waiting for approvals. */
export function newPayout(
  command: CreatePayout,
  { fee, limitMonth, rail, wanted }: NewPayout,
  at: Instant,
): Payout {
  return {
    id: command.payoutId,
    tenantId: command.tenantId,
    sourceAccountId: command.sourceAccountId,
    systemAccountId: command.systemAccountId,
    asset: command.amount.asset,
    raw: command.amount.raw,
    feeRaw: fee.raw,
    feeAccountId: fee.accountId,
    description: command.description,
    ...command.destination,
    status: wanted === null ? 'approved' : 'pending_approval',
    createdBy: command.memberId,
    limitMonth,
    createdAt: at,
    approvalsRequired: wanted?.required ?? null,
    approvalsReceived: wanted === null ? null : 0,
    approvalExpiresAt: wanted?.expiresAt ?? null,
    rejectionCode: null,
    rejectionReason: null,
    failureCode: null,
    failureMessage: null,
    rail,
    railReference: null,
    approvedAt: wanted === null ? at : null,
    submittedAt: null,
    attempts: 0,
    attemptedAt: null,
    failedAt: null,
    endedAt: null,
    returnedAt: null,
    stuckSince: null,
    stuckReason: null,
    askAt: null,
  };
}

interface Transition {
  readonly status: PayoutStatus;
  readonly at: Instant;
}

/** Every status that it has been through, oldest first: each at most once, always in this order. */
export function transitionsOf(payout: Payout): readonly Transition[] {
  const { status, createdAt, approvedAt, submittedAt, failedAt, endedAt, returnedAt } = payout;
  const needed = payout.approvalsRequired !== null;
  const all: readonly (readonly [PayoutStatus, Instant | null])[] = [
    ['pending_approval', needed ? createdAt : null],
    ['approved', approvedAt],
    ['in_progress', submittedAt],
    ['failed', failedAt],
    [status === 'returned' ? 'completed' : status, endedAt],
    ['returned', returnedAt],
  ];
  return all.flatMap(([one, at]) => (at === null ? [] : [{ status: one, at }]));
}

/** The instant of its next status: never before the last one, whatever the clocks say. */
export function nextInstant(payout: Payout, now: Instant): Instant {
  return maxInstant(now, ...transitionsOf(payout).map(({ at }) => at));
}

export const UNFINISHED = [
  'pending_approval',
  'approved',
  'in_progress',
] as const satisfies readonly PayoutStatus[];

export function isUnfinished({ status }: Pick<Payout, 'status'>): boolean {
  return (UNFINISHED as readonly PayoutStatus[]).includes(status);
}

export const CALM = { stuckSince: null, stuckReason: null } as const;

/** Progress ends the silence. A contradiction stays raised until operators have settled it. */
export function calmed({ stuckReason }: Pick<Payout, 'stuckReason'>): Partial<Payout> {
  return stuckReason === 'contradiction' ? {} : CALM;
}

/** At most the last four characters, and never more than half: the rest must stay unknown. */
export function endOfNumber(accountNumber: string): string {
  return accountNumber.slice(-Math.min(4, Math.floor(accountNumber.length / 2)));
}

/** What a rail says about a payout that it knows. */
export interface RailStatement {
  readonly status: 'accepted' | 'completed' | 'failed' | 'returned' | 'voided';
  /** The rail's own name for it; null if an operator speaks for the rail, or it was voided before the rail had it. */
  readonly reference: string | null;
  readonly failureCode: FailureCode | null;
}

/** What a report from the rail does to a payout in its current state. */
export type Effect =
  | 'note'
  | 'complete'
  | 'fail'
  | 'return'
  | 'complete_and_return'
  | 'duplicate'
  /** The rail contradicts what it said before, or reports something that it was never given. */
  | 'conflict'
  /** The same, but operators have settled that it means nothing. */
  | 'settled';

const EFFECTS: Readonly<
  Partial<Record<PayoutStatus, Readonly<Record<RailStatement['status'], Effect>>>>
> = {
  in_progress: {
    accepted: 'note',
    completed: 'complete',
    failed: 'fail',
    returned: 'complete_and_return',
    // It was not paid and never will be.
    voided: 'fail',
  },
  // A late report of the acceptance: the outcome is already known.
  completed: {
    accepted: 'duplicate',
    completed: 'duplicate',
    failed: 'conflict',
    returned: 'return',
    voided: 'conflict',
  },
  failed: {
    accepted: 'conflict',
    completed: 'conflict',
    failed: 'duplicate',
    returned: 'conflict',
    voided: 'duplicate',
  },
  returned: {
    accepted: 'duplicate',
    completed: 'duplicate',
    failed: 'conflict',
    returned: 'duplicate',
    voided: 'conflict',
  },
};

/** A second name for a payment would mean a second payment. */
export function effectOf(
  { status, railReference }: Pick<Payout, 'status' | 'railReference'>,
  said: Pick<RailStatement, 'status' | 'reference'>,
): Effect {
  if (railReference !== null && said.reference !== null && said.reference !== railReference)
    return 'conflict';
  return EFFECTS[status]?.[said.status] ?? 'conflict';
}

/** True if a report cannot be right together with what was reported before. An empty reference contradicts nothing. */
export function disagree(
  known: { readonly status: LineStatus; readonly reference: string | null },
  said: Pick<RailStatement, 'status' | 'reference'>,
): boolean {
  return effectOf({ status: known.status, railReference: known.reference }, said) === 'conflict';
}

/** True for a report that only repeats what is known about a paid payout. */
export function repeats(payout: Payout, said: RailStatement): boolean {
  const isPaid = payout.status === 'completed' || payout.status === 'returned';
  return (
    isPaid && said.reference === payout.railReference && effectOf(payout, said) === 'duplicate'
  );
}

const SOONEST_ASK_MS = 60_000;
const FIRST_ASK_MS = 3_600_000;

/**
 * When the rail is next asked about a payout that has ended: a completed one may be returned within `windowMs`, and is
 * asked about at growing intervals, for the last time when the window closes; a raised one is asked about sooner. Null
 * if nothing is asked, or its workflow asks. (docs/contract.md, Payouts)
 */
export function nextAsk(
  { status, endedAt, stuckSince, stuckReason }: Payout,
  now: Instant,
  windowMs: number,
): Instant | null {
  // A closed account is a matter of ours, about which the rail has nothing to say.
  if (endedAt === null || stuckReason === 'account_closed') return null;
  if (stuckSince !== null)
    return instant(now + Math.min(FIRST_ASK_MS, Math.max(SOONEST_ASK_MS, now - stuckSince)));
  const closesAt = endedAt + windowMs;
  if (status !== 'completed' || now >= closesAt) return null;
  return instant(Math.min(closesAt, now + Math.max(FIRST_ASK_MS, now - endedAt)));
}

/** The default for a rail. */
export const USUAL_WINDOW_MS = 60 * 86_400_000;

/** The failure that a tenant sees: the message is ours, since the rail's own words may contain anything. */
export function failureOf(code: FailureCode): Pick<Payout, 'failureCode' | 'failureMessage'> {
  return { failureCode: code, failureMessage: FAILURES[code] };
}

/** The money leaves: the amount to the bank account and, as a separate movement, the fee. */
export function payoutPosting(payout: Payout): Posting {
  const {
    sourceAccountId: source,
    systemAccountId: system,
    feeAccountId,
    asset,
    raw,
    feeRaw,
  } = payout;
  const entries: EntryDraft[] = [
    { accountId: source, asset, raw: -raw, kind: 'payout_out', counterpartyAccountId: system },
    { accountId: system, asset, raw, kind: 'system_in', counterpartyAccountId: source },
  ];
  if (feeAccountId !== null) entries.push(...feeEntries(source, feeAccountId, asset, feeRaw));
  return { relatedType: 'payout', relatedId: payout.id, description: payout.description, entries };
}

/** The amount comes back; the fee does not. */
export function returnPosting(payout: Payout): Posting {
  const { sourceAccountId: source, systemAccountId: system, asset, raw } = payout;
  return {
    relatedType: 'payout',
    relatedId: payout.id,
    description: payout.description,
    entries: [
      { accountId: source, asset, raw, kind: 'adjustment_in', counterpartyAccountId: system },
      { accountId: system, asset, raw: -raw, kind: 'system_out', counterpartyAccountId: source },
    ],
  };
}
