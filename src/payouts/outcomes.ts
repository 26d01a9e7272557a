import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import type { Payout, PayoutRailEvent } from '../db/entities/payouts.js';
import { payoutRailEvents, payouts } from '../db/entities/payouts.js';
import { overflows } from '../accounts/rules.js';
import { endingNeeds } from '../approvals/commands.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import {
  changeRow,
  type CommandResult,
  type Decision,
  type LockedState,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import {
  insertRailEvent,
  type PayoutCommand,
  payoutCommand,
  payoutEvent,
  workflowEntry,
} from './commands.js';
import {
  afterProgress,
  flagged,
  releaseWrites,
  nextInstant,
  NOT_FLAGGED,
  payoutPosting,
  postedAccounts,
  releasedHold,
  returnPosting,
  scheduled,
} from './rules.js';
import {
  contradictsReports,
  isResolved,
  isTaken,
  openLines,
  type Report,
  reportNeeds,
} from './reports.js';
import { failureOf } from './rails/rail.js';
import { type Effect, effectOf } from './state-machine.js';

/** Reports of rails. Each is a compare-and-set on the payout's row, so it may be repeated. */

interface ReportPayout extends PayoutCommand {
  readonly kind: PayoutRailEvent['kind'];
  readonly report: Report;
  /** Whether two people have resolved this report, if it is a contradiction. */
  readonly isResolved: boolean;
  /** The callback's own id; null for the response to a call. */
  readonly callbackId: string | null;
  /** The entry that notifies the workflow; null if the workflow itself polled. */
  readonly outboxId: Uuid | null;
}

const reportPayout = payoutCommand<ReportPayout>('report outcome of payout', {
  // A denial posts nothing.
  accounts: ({ facts, report }) =>
    report.status === 'unknown' ? [facts.sourceAccountId] : postedAccounts(facts),
  needs: (facts) => [...endingNeeds({ table: payouts }, facts), ...reportNeeds(facts)],
  decide: decideReport,
});

function decideReport(command: ReportPayout, payout: Payout, state: LockedState): Decision<Payout> {
  const { report, kind, callbackId, outboxId } = command;
  const effect = effectOfReport(command, payout, state);
  const intended =
    effect === 'settled' ? unchanged(payout) : applyReport(effect, payout, report, state);
  const isTooLarge = overflows(intended.writes.postings ?? [], state);
  const { settled, writes } = isTooLarge
    ? unposted(payout, report, state)
    : keepFlag(intended, payout, state);
  const recorded = isTooLarge ? 'noted' : recordedAs(effect);
  const what = { kind, reported: report.status, effect: recorded, callbackId, at: state.at };
  const rows: RowWrite[] = [insertRailEvent(command.eventId, settled, what, report)];
  if (settled !== payout) rows.push(changeRow(payouts, settled));
  if (settled !== payout && outboxId !== null)
    rows.push(workflowEntry(outboxId, settled, state.at));
  // A callback's id is bound forever, so that a repeated callback is recognised.
  const bindsKey = callbackId !== null;
  return { outcome: { done: true, resource: settled }, writes: { ...writes, rows }, bindsKey };
}

/** Returns the effect by the state machine, unless the report contradicts other reports. */
function effectOfReport(
  { report, isResolved: resolved }: ReportPayout,
  payout: Payout,
  state: LockedState,
): Effect | 'settled' {
  const effect = effectOf(payout, report, 'rail');
  const isContradiction =
    effect === 'conflict' ||
    (report.status === 'unknown' && payout.status === 'in_progress' && isTaken(payout, state));
  // An earlier resolution does not count for a payout that is flagged again.
  if (isContradiction) return resolved && payout.stuckSince === null ? 'settled' : 'conflict';
  // A duplicate changes nothing unless it is the first to name the payment.
  const changesNothing =
    report.status === 'unknown' ||
    (effect === 'duplicate' && (payout.railReference !== null || report.reference === null));
  return !changesNothing && contradictsReports(payout, report, state) ? 'conflict' : effect;
}

function recordedAs(effect: Effect | 'settled'): PayoutRailEvent['effect'] {
  if (effect === 'duplicate' || effect === 'conflict' || effect === 'settled') return effect;
  return effect === 'record' ? 'noted' : 'applied';
}

/** Flags the payout, which is polled until there is room in the balance. */
function unposted(payout: Payout, { reference }: Report, state: LockedState): AppliedReport {
  const named = { ...payout, railReference: payout.railReference ?? reference };
  return unchanged(flagged(named, 'overflow', state));
}

/** Keeps a payout flagged that is completed while a statement lists it as returned. */
function keepFlag(end: AppliedReport, before: Payout, state: LockedState): AppliedReport {
  const { settled, writes } = end;
  if (settled.status === before.status) return end;
  const isAwaited = openLines(settled, state).some(
    (line) => effectOf(settled, line, 'rail') === 'return',
  );
  return isAwaited ? { settled: flagged(settled, 'no_outcome', state), writes } : end;
}

interface AppliedReport {
  readonly settled: Payout;
  readonly writes: Writes;
}

function unchanged(payout: Payout): AppliedReport {
  return { settled: payout, writes: {} };
}

/** Returns the payout after the effect, and what is posted. The row itself if nothing changes. */
export function applyReport(
  effect: Effect,
  before: Payout,
  { reference, failureCode }: Pick<Report, 'reference' | 'failureCode'>,
  state: LockedState,
): AppliedReport {
  const railReference = before.railReference ?? reference;
  const payout = railReference === before.railReference ? before : { ...before, railReference };
  switch (effect) {
    case 'record':
    case 'duplicate':
      return unchanged(payout);
    case 'flag':
      return unchanged(flagged(before, 'no_outcome', state));
    case 'conflict':
      return unchanged(flagged(before, 'contradiction', state));
    case 'clear':
      return unchanged(scheduled({ ...before, ...NOT_FLAGGED }, state));
    case 'complete':
      return completed(payout, state);
    case 'complete_after_failure':
      return completedAfterFailure(payout, state);
    case 'fail':
      return failed(payout, failureCode, state);
    case 'return':
      return returned(payout, failureCode, state);
    case 'complete_and_return': {
      const { settled, writes } = completed(payout, state);
      const end = returned(settled, failureCode, state);
      const postings = [...(writes.postings ?? []), ...(end.writes.postings ?? [])];
      const events = [...(writes.events ?? []), ...(end.writes.events ?? [])];
      return { settled: end.settled, writes: { ...writes, postings, events } };
    }
  }
}

function completed(payout: Payout, state: LockedState): AppliedReport {
  const ends = { status: 'completed', endedAt: nextInstant(payout, state.at) } as const;
  const settled = scheduled({ ...afterProgress(payout), ...ends }, state);
  const events = [payoutEvent('payout.completed', settled)];
  const [holds, postings] = [[releasedHold(settled)], [payoutPosting(settled)]];
  return { settled, writes: { holds, postings, events } };
}

/** The money that was given back leaves after all, and counts in its month again. */
function completedAfterFailure(payout: Payout, state: LockedState): AppliedReport {
  const { sourceAccountId: accountId, asset, raw, limitMonth: month, endedAt: failedAt } = payout;
  const ends = { status: 'completed', failedAt, endedAt: nextInstant(payout, state.at) } as const;
  const noFailure = { failureCode: null, failureMessage: null, ...NOT_FLAGGED };
  const settled = scheduled({ ...payout, ...ends, ...noFailure }, state);
  const months = [{ accountId, asset, month, raw }];
  const events = [payoutEvent('payout.completed', settled)];
  return { settled, writes: { postings: [payoutPosting(settled)], months, events } };
}

function failed(payout: Payout, code: Report['failureCode'], state: LockedState): AppliedReport {
  const ends = { status: 'failed', endedAt: nextInstant(payout, state.at) } as const;
  const settled = scheduled({ ...afterProgress(payout), ...failureOf(code), ...ends }, state);
  return {
    settled,
    writes: { ...releaseWrites(settled), events: [payoutEvent('payout.failed', settled)] },
  };
}

/** Posts the amount back, also to a closed account, whose payout is flagged. */
function returned(payout: Payout, code: Report['failureCode'], state: LockedState): AppliedReport {
  const ends = { status: 'returned', returnedAt: nextInstant(payout, state.at) } as const;
  const back = scheduled({ ...afterProgress(payout), ...failureOf(code), ...ends }, state);
  const isClosed = state.account(payout.sourceAccountId)?.account.status === 'closed';
  const settled = isClosed ? flagged(back, 'account_closed', state) : back;
  const events = [payoutEvent('payout.returned', settled)];
  return { settled, writes: { postings: [returnPosting(settled)], events } };
}

export interface OutcomeObserver {
  /** The rail contradicts what is known about a payout, unless that was resolved. */
  contradicted(rail: string): void;
  ended(payout: Payout): void;
}

/** Submits a report about a payout, and counts its outcome. Throws DatabaseUnavailable. */
export async function submitReport(
  { database, writer, observer }: ReportDeps,
  command: Omit<ReportPayout, 'isResolved'>,
): Promise<CommandResult<Payout> & { readonly effect: PayoutRailEvent['effect'] }> {
  const { facts, report, eventId } = command;
  const mayBeResolved =
    report.status === 'unknown' || effectOf(facts, report, 'rail') === 'conflict';
  const resolved = mayBeResolved && (await isResolved(database.reader, facts, report));
  const result = await writer.submit(reportPayout, { ...command, isResolved: resolved });
  if (result.replayed || !result.outcome.done) return { ...result, effect: 'replayed' };
  const { resource } = result.outcome;
  if (facts.endedAt === null && resource.endedAt !== null) observer.ended(resource);
  const isConflict = resource.stuckReason === 'contradiction';
  if (!isConflict && command.callbackId === null) return { ...result, effect: 'noted' };
  const event = await database.reader.find(payoutRailEvents, { id: eventId });
  if (event?.effect === 'conflict') observer.contradicted(facts.rail);
  return { ...result, effect: event?.effect ?? 'noted' };
}

export interface ReportDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
  readonly observer: OutcomeObserver;
}
