import type { Uuid } from '../../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../../core/instant.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { PayoutStatementLine } from '../../db/entities/rails.js';
import { DAY_MS, type DatedLine, dayText } from './store.js';

/** The differences between a statement's lines and payouts. Pure. (docs/payouts.md) */

export const DIFFERENCES = {
  missing_here: 'the rail names a payout that we do not have, or have on another rail',
  amount: 'the amount or asset differs',
  state: 'the state differs',
  paid_twice: 'a second completed line of one payout, on another day or with another reference',
  reference: "the rail's reference differs",
  twice: 'the same line a second time',
  missing_there: 'it was settled here, and no statement of any day has it',
  no_statement:
    'no complete statement of an earlier day was loaded, and outcomes of ours wait for it',
} as const;

export interface Difference {
  readonly difference: keyof typeof DIFFERENCES;
  /** Null if the difference concerns a whole day. */
  readonly payoutId: Uuid | null;
  /** The day of the statement, or the day without one. */
  readonly day: Instant;
  readonly line: number | null;
  readonly there: string;
  readonly here: string;
}

/** Other lines about the payment: earlier in the statement, and on other days. */
export interface EarlierLines {
  readonly above: readonly DatedLine[];
  readonly elsewhere: readonly DatedLine[];
}

export function compareLine(
  line: DatedLine,
  payout: Payout | undefined,
  others: EarlierLines,
): readonly Difference['difference'][] {
  const { status, reference, at } = line;
  const isSame = (other: DatedLine): boolean =>
    other.status === status && other.reference === reference && other.at === at;
  if (others.above.some(isSame)) return ['twice'];
  const isRepeated = withStatus(line, others).length > 0;
  const found: Difference['difference'][] = [];
  if (isRepeated) found.push(status === 'completed' ? 'paid_twice' : 'twice');
  if (payout === undefined) return [...found, 'missing_here'];
  if (payout.raw !== line.raw || payout.asset !== line.asset) found.push('amount');
  if (!agrees(status, payout)) found.push('state');
  const isOtherReference =
    reference !== null && payout.railReference !== null && reference !== payout.railReference;
  if (!isRepeated && isOtherReference) found.push('reference');
  return found;
}

function agrees(status: PayoutStatementLine['status'], payout: Payout): boolean {
  if (status === 'failed' && payout.failedAt !== null) return true;
  return payout.status === status || (payout.status === 'returned' && status === 'completed');
}

function withStatus(line: DatedLine, { above, elsewhere }: EarlierLines): readonly DatedLine[] {
  return [...above, ...elsewhere].filter(({ status }) => status === line.status);
}

export function lineText(line: DatedLine, others: EarlierLines): string {
  const referenceOf = ({ reference }: DatedLine): string =>
    reference === null ? '' : `${reference} `;
  const beside = withStatus(line, others).map(
    (other) => `${referenceOf(other)}on ${dayText(other.day)}`,
  );
  const text = `${line.status} ${line.raw} ${line.asset} ${referenceOf(line)}`;
  return `${text}${beside.length === 0 ? '' : `and ${beside.join(' and ')}`}`.trimEnd();
}

export function payoutText({ status, raw, asset, railReference, endedAt }: Payout): string {
  const reference = railReference === null ? '' : ` ${railReference}`;
  const end = endedAt === null ? '' : ` at ${toRfc3339(endedAt)}`;
  return `${status} ${raw} ${asset}${reference}${end}`;
}

export interface OwnOutcome {
  readonly payout: Payout;
  readonly status: PayoutStatementLine['status'];
  readonly at: Instant;
}

export function outcomesOf(payout: Payout): readonly OwnOutcome[] {
  const { submittedAt, endedAt, returnedAt } = payout;
  if (submittedAt === null || endedAt === null) return [];
  const status = payout.status === 'failed' ? 'failed' : 'completed';
  const ended: OwnOutcome = { payout, status, at: endedAt };
  return returnedAt === null ? [ended] : [ended, { payout, status: 'returned', at: returnedAt }];
}

export class Coverage {
  /** `days` has the instant up to which each day is covered; a line may be dated `delayMs` late. */
  constructor(
    private readonly days: ReadonlyMap<Instant, Instant>,
    private readonly delayMs: number,
  ) {}

  /** True if every statement that may list an outcome of this instant has been loaded. */
  isComplete(at: Instant): boolean {
    const to = at + this.delayMs;
    for (let day = dayOf(at); day <= to; day = instant(day + DAY_MS))
      if (this.until(day) < Math.min(to, day + DAY_MS)) return false;
    return true;
  }

  /** True if the statement of a day may list an outcome of this instant. */
  mayList(day: Instant, at: Instant): boolean {
    return at < day + DAY_MS && at + this.delayMs >= day;
  }

  /** Returns the incompletely covered days from the first statement on, before `last`. */
  gapsBefore(last: Instant): readonly Instant[] {
    const gaps: Instant[] = [];
    const first = Math.min(...this.days.keys());
    for (let day = instant(first); day < last; day = instant(day + DAY_MS))
      if (this.until(day) < day + DAY_MS) gaps.push(day);
    return gaps;
  }

  /** True if the part of a day that is not covered may list an outcome of this instant. */
  mayBeMissing(day: Instant, at: Instant): boolean {
    return this.mayList(day, at) && at + this.delayMs > this.until(day);
  }

  private until(day: Instant): number {
    return this.days.get(day) ?? day;
  }
}

export function dayOf(at: Instant): Instant {
  return instant(at - (at % DAY_MS));
}
