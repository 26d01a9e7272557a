import { formatAmount } from '../../core/amount.js';
import { newId, type Uuid } from '../../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../../core/instant.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import type { PayoutStatementLine } from '../../db/entities/rails.js';
import { ApiError, invalidState } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import {
  accept,
  changeRow,
  type Decision,
  type LockedState,
  refuse,
} from '../../ledger/writer/types.js';
import { definePayoutCommand, insertLineEvent, type PayoutCommand } from '../commands.js';
import { applyReport } from '../outcomes.js';
import { payoutAsListed, railFact, wasPaid } from '../rail-fact.js';
import { contentOf, currentLines, openLines, railRecord, reportRowKeys } from '../reports.js';
import { contradicts, type Effect, effectOf, type KnownPayout } from '../state-machine.js';
import { type DatedLine, DAY_MS, dayText, type LineInput } from './store.js';

/** The differences between a statement's lines and payouts. (docs/payouts.md) */

export const DIFFERENCES = {
  missing_here: 'the rail names a payout that we do not have, or have on another rail',
  amount: 'the amount or asset differs',
  state: 'the state differs',
  paid_twice:
    'a second completed line of one payout, on another day or with another reference or amount',
  reference: "the rail's reference differs",
  twice: 'the same line again, or a second failed or returned line of one payout',
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
  /** The rail's side, in the statement. */
  readonly there: string;
  /** This service's side, in the payout. */
  readonly here: string;
}

/** Other lines about the payment: earlier in the statement, and on other days. */
export interface OtherLines {
  readonly above: readonly DatedLine[];
  readonly elsewhere: readonly DatedLine[];
}

/** `wasPaid`: false if only two people decided the return. The rail has reported no payment. */
export type ComparedPayout = Payout & Pick<KnownPayout, 'wasPaid'>;

export function compareLine(
  line: DatedLine,
  payout: ComparedPayout | undefined,
  others: OtherLines,
): readonly Difference['difference'][] {
  const { status, reference } = line;
  if (others.above.some((other) => isSameLine(other, line))) return ['twice'];
  const isRepeated = linesWithSameStatus(line, others).length > 0;
  const differences: Difference['difference'][] = [];
  if (isRepeated) differences.push(status === 'completed' ? 'paid_twice' : 'twice');
  if (payout === undefined) return [...differences, 'missing_here'];
  if (payout.raw !== line.raw || payout.asset !== line.asset) differences.push('amount');
  if (!statusAgrees(status, payout)) differences.push('state');
  const isOtherReference =
    reference !== null && payout.railReference !== null && reference !== payout.railReference;
  if (!isRepeated && isOtherReference) differences.push('reference');
  return differences;
}

export function isSameLine(a: LineInput, b: LineInput): boolean {
  return contentOf(a) === contentOf(b) && a.at === b.at;
}

/** Returns whether the difference is a contradiction, which flags the payout. */
export function isContradiction(difference: Difference['difference']): boolean {
  return CONTRADICTIONS.includes(difference);
}

function statusAgrees(status: PayoutStatementLine['status'], payout: ComparedPayout): boolean {
  // The rail rightly lists the failure of a payout that was found to have been paid only later.
  if (status === 'failed' && payout.failedAt !== null) return true;
  const isPaidReturn = payout.status === 'returned' && payout.wasPaid !== false;
  return payout.status === status || (isPaidReturn && status === 'completed');
}

function linesWithSameStatus(
  line: DatedLine,
  { above, elsewhere }: OtherLines,
): readonly DatedLine[] {
  return [...above, ...elsewhere].filter(({ status }) => status === line.status);
}

export function lineText(line: DatedLine, others: OtherLines): string {
  const referenceOf = ({ reference }: DatedLine): string =>
    reference === null ? '' : `${reference} `;
  const repeated = linesWithSameStatus(line, others).map(
    (other) => `${referenceOf(other)}on ${dayText(other.day)}`,
  );
  const text = `${line.status} ${formatAmount(line)} ${referenceOf(line)}`;
  return `${text}${repeated.length === 0 ? '' : `and ${repeated.join(' and ')}`}`.trimEnd();
}

export function payoutText(payout: Payout): string {
  const { status, railReference, endedAt } = payout;
  const reference = railReference === null ? '' : ` ${railReference}`;
  const end = endedAt === null ? '' : ` at ${toRfc3339(endedAt)}`;
  return `${status} ${formatAmount(payout)}${reference}${end}`;
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
  /**
   * `coveredDays`: up to which instant a day's statement, as loaded, can list outcomes. A rail may
   * date an outcome up to `delayMs` late.
   */
  constructor(
    private readonly coveredDays: ReadonlyMap<Instant, Instant>,
    private readonly delayMs: number,
  ) {}

  /** True if every statement that may list an outcome of this instant has been loaded. */
  isComplete(at: Instant): boolean {
    const to = at + this.delayMs;
    for (let day = dayOf(at); day <= to; day = instant(day + DAY_MS))
      if (this.coveredUntil(day) < Math.min(to, day + DAY_MS)) return false;
    return true;
  }

  /** True if the statement of a day may list an outcome of this instant. */
  mayList(day: Instant, at: Instant): boolean {
    return at < day + DAY_MS && at + this.delayMs >= day;
  }

  /** Returns the incompletely covered days from the first statement on, before `last`. */
  gapsBefore(last: Instant): readonly Instant[] {
    const gaps: Instant[] = [];
    const first = Math.min(...this.coveredDays.keys());
    for (let day = instant(first); day < last; day = instant(day + DAY_MS))
      if (this.coveredUntil(day) < day + DAY_MS) gaps.push(day);
    return gaps;
  }

  /** True if the part of a day that is not covered may list an outcome of this instant. */
  mayBeMissing(day: Instant, at: Instant): boolean {
    return this.mayList(day, at) && at + this.delayMs > this.coveredUntil(day);
  }

  private coveredUntil(day: Instant): number {
    return this.coveredDays.get(day) ?? day;
  }
}

export function dayOf(at: Instant): Instant {
  return instant(at - (at % DAY_MS));
}

/** Statement lines as reports: they flag payouts and move no money. (docs/contract.md, Rails) */

const CONTRADICTIONS: readonly Difference['difference'][] = [
  'amount',
  'state',
  'paid_twice',
  'reference',
];
const OUTCOME_DIFFERENCES: readonly Difference['difference'][] = ['state', 'reference'];

interface RecordLine extends PayoutCommand {
  readonly line: DatedLine;
  readonly differences: readonly Difference['difference'][];
}

const recordLine = definePayoutCommand<RecordLine>('note line of statement', {
  rowKeys: reportRowKeys,
  decide: decideLine,
});

/** A line changes nothing of the payout but its flag, so its reference is not applied. */
const NO_DETAILS = { reference: null, failureCode: null };
const CHANGED = invalidState('the payout has changed since the line was compared with it');

function decideLine(command: RecordLine, payout: Payout, state: LockedState): Decision<Payout> {
  const { status, railReference, stuckReason } = command.snapshot;
  const isSame = payout.status === status && payout.stuckReason === stuckReason;
  if (!isSame || payout.railReference !== railReference) return refuse(CHANGED);
  const effect = effectOfLine(command, payout, state);
  const resource =
    effect === 'settled' ? payout : applyReport(effect, payout, NO_DETAILS, 'may_pay', state).after;
  // Not `applied`, because a line moves no money.
  const recorded = effect === 'conflict' || effect === 'settled' ? effect : 'noted';
  const rows = [insertLineEvent(command.eventId, payout, command.line, recorded, state.at)];
  if (resource !== payout) rows.push(changeRow(payouts, resource));
  return accept(resource, { rows });
}

/**
 * Returns `settled` if two people have resolved the line, and `conflict` if it differs in more than
 * the outcome or from another open line. Otherwise the state machine decides.
 */
function effectOfLine(
  { line, differences }: RecordLine,
  payout: Payout,
  state: LockedState,
): Effect | 'settled' {
  const isSame = (other: PayoutStatementLine): boolean => contentOf(other) === contentOf(line);
  const open = openLines(payout, state);
  const isResolved = !open.some(isSame) && currentLines(payout, state).some(isSame);
  if (isResolved) return 'settled';
  if (!differences.every((difference) => OUTCOME_DIFFERENCES.includes(difference)))
    return 'conflict';
  return open.some((other) => contradicts(payoutAsListed(other), line))
    ? 'conflict'
    : effectOf(
        { ...payout, wasPaid: wasPaid(railFact(payout, railRecord(payout, state).words)) },
        line,
        'statement',
      );
}

/**
 * Records a line that contradicts a payout and flags the payout, once for each line and state of
 * the payout. Returns `changed` if the payout has changed since the comparison. Throws ApiError
 * ledger_unavailable.
 */
export async function flagByLine(
  writer: LedgerWriter,
  payout: Payout,
  line: DatedLine,
  differences: readonly Difference['difference'][],
): Promise<'flagged' | 'unchanged' | 'changed'> {
  if (!differences.some(isContradiction)) return 'unchanged';
  const { id, tenantId, status, railReference } = payout;
  // A line that was withdrawn and is loaded again has another statement, and flags the payout again.
  const { statementId, raw, asset, reference, at } = line;
  const listed = [statementId, line.status, `${raw}`, asset, reference ?? '', `${at}`];
  const fingerprint = commandFingerprint(['statement', ...listed, status, railReference ?? '']);
  const key = `payout/${id}/statement/${fingerprint.digest.toString('hex').slice(0, 32)}`;
  const base = { tenantId, key, fingerprint, snapshot: payout, eventId: newId() };
  const { outcome, replayed } = await writer.submit(recordLine, { ...base, line, differences });
  if (outcome.done)
    return !replayed && outcome.resource.stuckReason !== payout.stuckReason
      ? 'flagged'
      : 'unchanged';
  if (outcome.refusal === CHANGED) return 'changed';
  throw new ApiError(outcome.refusal);
}
