import { isExpired, approvalProgress } from '../../approvals/rules.js';
import { formatAmount } from '../../core/amount.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { Payout, PayoutRailEvent, PayoutResolution } from '../../db/entities/payouts.js';
import { destinationText, isUnfinished } from '../../payouts/rules.js';

/** Returns the reason why a payout is stuck, as text. Returns null if it is not stuck. */
export function stuckText({
  status,
  stuckReason,
}: Pick<Payout, 'status' | 'stuckReason'>): string | null {
  if (stuckReason === null) return null;
  if (stuckReason === 'contradiction' && status === 'pending_approval')
    return 'its rail knows of it, or was not asked when the database was restored';
  if (stuckReason === 'contradiction')
    return 'the rail contradicts its earlier report or our records';
  if (stuckReason === 'account_closed')
    return 'it was returned after its account was closed: two people must empty the account by an adjustment';
  if (stuckReason === 'overflow')
    return 'its outcome cannot be posted because a balance would exceed what the ledger can hold';
  if (status === 'completed')
    return 'a statement shows that it was returned, which its rail has not reported';
  return status === 'approved'
    ? 'it is approved, but was not submitted to its rail'
    : 'the rail has not reported the outcome';
}

export function eventLine({ at, kind, reported, effect, ...event }: PayoutRailEvent): string {
  const { callbackId, railReference, attempt } = event;
  const what = reported === null ? effect : `${reported} (${effect})`;
  const named = railReference === null ? '' : ` as ${railReference}`;
  const numbered = attempt === null ? '' : `, attempt ${attempt}`;
  const called = callbackId === null ? '' : ` [${callbackId}]`;
  return `${toRfc3339(at)} ${kind}: ${what}${named}${numbered}${called}`;
}

export function resolutionLine(resolution: PayoutResolution): string {
  const { outcome, status, proposedBy, decidedBy, reason } = resolution;
  const decided = decidedBy === null ? '' : `, ${status} by ${decidedBy}`;
  return `${outcome}, proposed by ${proposedBy}${decided}: ${reason}`;
}

/** The text about what a payout with a proposed outcome is waiting for. */
export const SECOND_PERSON = 'a second person, who applies or rejects the proposed outcome';

/** Returns a text about what the payout is waiting for, for a customer. */
export function payoutWaitsFor(payout: Payout, now: Instant): string {
  const waiting = approvalProgress(payout);
  if (payout.status === 'pending_approval' && waiting !== null)
    return isExpired(waiting, now) && payout.stuckSince === null
      ? 'nothing: it has expired, and a worker cancels it within seconds'
      : counted(waiting.required - waiting.received, 'more approval');
  if (payout.status === 'approved') return 'a worker, which submits it to its rail';
  return payout.status === 'in_progress'
    ? 'its rail, to report the outcome'
    : `nothing: it is ${payout.status}`;
}

/** Returns where the money of a payout that has ended is. Returns null for another one. */
export function moneyText(payout: Payout, source: string): string | null {
  const sum = formatAmount(payout);
  if (payout.status === 'completed')
    return sentence(`${sum} was paid to ${destinationText(payout)}`);
  return isUnfinished(payout) ? null : sentence(`${sum} went back to ${source}`);
}

/** Ends the text with a point. Names such as "Ana M. P." have one. */
export function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

/** Returns a code in words, with its reason. Returns null without a code. */
export function inWords(code: string | null, reason: string | null = null): string | null {
  if (code === null) return null;
  const words = code.replaceAll('_', ' ').replace('payin', 'pay-in');
  return reason === null || reason === '' ? words : `${words}: ${reason}`;
}
