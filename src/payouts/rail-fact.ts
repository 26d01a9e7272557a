import type { Instant } from '../core/instant.js';
import type { Payout, PayoutResolution } from '../db/entities/payouts.js';
import type { PayoutStatementLine } from '../db/entities/rails.js';
import { contradicts, type KnownPayout, type ReportedOutcome } from './state-machine.js';

/** The fact that follows from everything a rail has reported about a payout. Pure. (docs/payouts.md) */

/** `may_pay`: the rail has neither paid nor denied the payment. */
export type RailFact = 'may_pay' | 'paid' | 'returned' | 'denied';

/** A report by the rail itself: a callback, or the answer to an order, a status request or a void. */
export interface RailWord extends ReportedOutcome {
  readonly at: Instant;
}

type SubmittedPayout = Pick<Payout, 'railReference' | 'submittedAt'>;

/**
 * Returns the fact by the rail's reports since the submission, oldest first. Reports under another
 * reference are about another payment.
 */
export function railFact(payout: SubmittedPayout, words: readonly RailWord[]): RailFact {
  return ownWords(payout, words).reduce<RailFact>(factAfter, 'may_pay');
}

/** Returns whether money is with the bank by the rail's own reports, or was and came back. */
export function wasPaid(fact: RailFact): boolean {
  return fact === 'paid' || fact === 'returned';
}

function factAfter(before: RailFact, { status }: ReportedOutcome): RailFact {
  switch (status) {
    case 'failed':
    case 'voided':
      return 'denied';
    case 'returned':
      return 'returned';
    case 'completed':
      // A report that arrives late does not undo the return.
      return before === 'returned' ? before : 'paid';
    case 'accepted':
      return before === 'denied' ? 'may_pay' : before;
    default:
      return before;
  }
}

function ownWords(payout: SubmittedPayout, words: readonly RailWord[]): readonly RailWord[] {
  const known = ownReference(payout, words);
  return wordsSinceSubmission(payout, words).filter(
    ({ reference }) => reference === null || reference === known,
  );
}

/** Returns the payment's reference: the first that the rail has named. Null if it named none. */
export function ownReference(payout: SubmittedPayout, words: readonly RailWord[]): string | null {
  const named = wordsSinceSubmission(payout, words).find(({ reference }) => reference !== null);
  return payout.railReference ?? named?.reference ?? null;
}

/** Without reports about a payout that the rail had not received. */
function wordsSinceSubmission(
  { submittedAt }: SubmittedPayout,
  words: readonly RailWord[],
): readonly RailWord[] {
  return submittedAt === null ? [] : words.filter(({ at }) => at >= submittedAt);
}

/** Everything that the rail has reported about a payout. */
export interface RailRecord {
  /** Oldest first. */
  readonly words: readonly RailWord[];
  /** Lines of current statements that two people have not resolved. */
  readonly openLines: readonly Pick<PayoutStatementLine, 'status' | 'reference'>[];
}

/** Returns whether two people may apply the outcome only once the rail denies the payment. */
export function needsDenial(outcome: PayoutResolution['outcome'], fact: RailFact): boolean {
  return outcome === 'failed' || (outcome === 'returned' && !wasPaid(fact));
}

/**
 * Returns whether the answer to a void lets two people give the money back: the rail denies this
 * very payment. A payout in progress that the rail denies has failed, and was not returned.
 */
export function permitsRelease(
  payout: SubmittedPayout & Pick<Payout, 'status'>,
  { words, openLines }: RailRecord,
  outcome: PayoutResolution['outcome'],
  { status, reference }: ReportedOutcome,
): boolean {
  const named = [ownReference(payout, words), ...openLines.map((line) => line.reference)];
  const isAboutIt = named.every((known) => known === null || (reference ?? known) === known);
  const isDenial = status === 'voided' || status === 'failed';
  return isAboutIt && isDenial && (outcome === 'failed' || payout.status === 'completed');
}

/** Returns whether the rail or a statement says that it paid, under any reference. */
export function isReportedPaid(payout: SubmittedPayout, { words, openLines }: RailRecord): boolean {
  const own = ownWords(payout, words);
  return (
    wasPaid(railFact(payout, words)) ||
    words.some((word) => isPayment(word) && !own.includes(word)) ||
    openLines.some(isPayment)
  );
}

function isPayment({ status }: Pick<ReportedOutcome, 'status'>): boolean {
  return status === 'completed' || status === 'returned';
}

/** Returns whether a report contradicts an open line, or denies a payment reported before. */
export function contradictsRecord(
  payout: Pick<Payout, 'status' | 'stuckReason'>,
  { words, openLines }: RailRecord,
  report: ReportedOutcome,
): boolean {
  const paidPayout = { status: 'completed', railReference: null } as const;
  return (
    openLines.some((line) => contradicts(payoutAsListed(line), report)) ||
    (hasUnresolvedPayment(payout, words) && contradicts(paidPayout, report))
  );
}

/** Returns whether the rail has reported a payment that was not posted, and that is unresolved. */
function hasUnresolvedPayment(
  { status, stuckReason }: Pick<Payout, 'status' | 'stuckReason'>,
  words: readonly RailWord[],
): boolean {
  return (
    status === 'in_progress' &&
    (stuckReason === 'contradiction' || stuckReason === 'overflow') &&
    words.some(isPayment)
  );
}

export function payoutAsListed({
  status,
  reference,
}: Pick<PayoutStatementLine, 'status' | 'reference'>): KnownPayout {
  return { status, railReference: reference };
}
