import type { Uuid } from '../../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../../core/instant.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { PayoutStatementLine } from '../../db/entities/rail-statements.js';
import { DAY_MS, type DatedLine, shownDay } from './store.js';

/** The differences between a statement's lines and our payouts. Pure. (docs/payouts.md) */

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
  /** Null if it concerns a whole day. */
  readonly payoutId: Uuid | null;
  /** The day of the statement, or the one that is missing. */
  readonly day: Instant;
  /** The line of the file; null if there is none. */
  readonly line: number | null;
  readonly there: string;
  readonly here: string;
}

/** Other lines about the same payment: further up in the statement, and on other days. */
export interface Beside {
  readonly above: readonly DatedLine[];
  readonly elsewhere: readonly DatedLine[];
}

export function compared(
  line: DatedLine,
  payout: Payout | undefined,
  beside: Beside,
): readonly Difference['difference'][] {
  const sameStatus = ({ status }: DatedLine): boolean => status === line.status;
  if (beside.above.some((other) => isSameLine(other, line))) return ['twice'];
  const others = [...beside.above, ...beside.elsewhere].filter(sameStatus);
  const found: Difference['difference'][] = [];
  if (others.length > 0) found.push(line.status === 'completed' ? 'paid_twice' : 'twice');
  if (payout === undefined) return [...found, 'missing_here'];
  if (payout.raw !== line.raw || payout.asset !== line.asset) found.push('amount');
  if (!agrees(line.status, payout)) found.push('state');
  if (others.length === 0 && isOtherReference(line, payout)) found.push('reference');
  return found;
}

function isSameLine(one: PayoutStatementLine, other: PayoutStatementLine): boolean {
  return one.status === other.status && one.reference === other.reference && one.at === other.at;
}

/** A payout that was later returned was completed on its day, and one that was paid after all had failed before. */
function agrees(status: PayoutStatementLine['status'], payout: Payout): boolean {
  if (status === 'failed' && payout.failedAt !== null) return true;
  return payout.status === status || (payout.status === 'returned' && status === 'completed');
}

function isOtherReference({ reference }: PayoutStatementLine, { railReference }: Payout): boolean {
  return reference !== null && railReference !== null && reference !== railReference;
}

/** What a line says, and where else it is said. */
export function shownThere(line: DatedLine, { above, elsewhere }: Beside): string {
  const others = [...above, ...elsewhere]
    .filter(({ status }) => status === line.status)
    .map((other) => `${referenceOf(other)}on ${shownDay(other.day)}`);
  return `${line.status} ${line.raw} ${line.asset} ${referenceOf(line)}${others.length === 0 ? '' : `and ${others.join(' and ')}`}`.trimEnd();
}

function referenceOf({ reference }: PayoutStatementLine): string {
  return reference === null ? '' : `${reference} `;
}

export function shownHere({ status, raw, asset, railReference, endedAt }: Payout): string {
  const reference = railReference === null ? '' : ` ${railReference}`;
  return `${status} ${raw} ${asset}${reference}${endedAt === null ? '' : ` at ${toRfc3339(endedAt)}`}`;
}

/** Something that happened to a payout here, for which a statement must have a line. */
export interface OwnOutcome {
  readonly payout: Payout;
  readonly status: PayoutStatementLine['status'];
  readonly at: Instant;
}

export function outcomesOf(payout: Payout): readonly OwnOutcome[] {
  const { status, submittedAt, endedAt, returnedAt } = payout;
  if (submittedAt === null || endedAt === null) return [];
  const ended = {
    payout,
    status: status === 'failed' ? 'failed' : 'completed',
    at: endedAt,
  } as const;
  return returnedAt === null ? [ended] : [ended, { payout, status: 'returned', at: returnedAt }];
}

/** What the statements cover: for each day, up to which moment. */
export class Told {
  /** `delayMs`: how long after an outcome its line may be dated. */
  constructor(
    private readonly days: ReadonlyMap<Instant, Instant>,
    private readonly delayMs: number,
  ) {}

  /** Whether every statement that may have a line for this moment has been imported. */
  isWhole(at: Instant): boolean {
    const to = at + this.delayMs;
    for (let day = dayOf(at); day <= to; day = instant(day + DAY_MS))
      if (this.until(day) < Math.min(to, day + DAY_MS)) return false;
    return true;
  }

  /** Whether its line may be on that day. */
  mayBeOn(day: Instant, at: Instant): boolean {
    return at < day + DAY_MS && at + this.delayMs >= day;
  }

  /** The days before that one, from the first statement on, that are not fully covered. */
  gapsBefore(last: Instant): readonly Instant[] {
    const gaps: Instant[] = [];
    const first = Math.min(...this.days.keys());
    for (let day = instant(first); day < last; day = instant(day + DAY_MS))
      if (this.until(day) < day + DAY_MS) gaps.push(day);
    return gaps;
  }

  /** Whether its line may be in the part of that day that is not covered. */
  mayBeMissedOn(day: Instant, at: Instant): boolean {
    return this.mayBeOn(day, at) && at + this.delayMs > this.until(day);
  }

  private until(day: Instant): number {
    return this.days.get(day) ?? day;
  }
}

export function dayOf(at: Instant): Instant {
  return instant(at - (at % DAY_MS));
}
