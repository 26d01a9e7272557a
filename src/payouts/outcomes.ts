import type { CommandResult } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import type { Payout, PayoutRailEvent } from '../db/entities/payouts.js';
import { payoutRailEvents, payouts } from '../db/entities/payouts.js';
import { overflows } from '../accounts/rules.js';
import { endingRowKeys } from '../approvals/commands.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import {
  changeRow,
  type Decision,
  type LockedState,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import {
  insertRailEvent,
  type PayoutCommand,
  definePayoutCommand,
  payoutEvent,
  insertOutboxEntry,
} from './commands.js';
import {
  afterProgress,
  withFlag,
  releaseWrites,
  nextInstant,
  NOT_FLAGGED,
  payoutPosting,
  postedAccounts,
  releasedHold,
  returnPosting,
  schedulePoll,
} from './rules.js';
import {
  contradictsRecord,
  ownReference,
  railFact,
  type RailFact,
  type RailRecord,
  wasPaid,
} from './rail-fact.js';
import {
  isResolved,
  isKnownToRail,
  openLines,
  railRecord,
  type Report,
  reportRowKeys,
} from './reports.js';
import { failureOf } from './rails/rail.js';
import { type Effect, effectOf } from './state-machine.js';

/** Applies reports of rails. A repeated report is recognised by the payout's state. */

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

const reportPayout = definePayoutCommand<ReportPayout>('report outcome of payout', {
  // `unknown` posts nothing, so only the source account is locked.
  accounts: ({ snapshot, report }) =>
    report.status === 'unknown' ? [snapshot.sourceAccountId] : postedAccounts(snapshot),
  rowKeys: (snapshot) => [
    ...endingRowKeys({ table: payouts }, snapshot),
    ...reportRowKeys(snapshot),
  ],
  decide: decideReport,
});

function decideReport(command: ReportPayout, payout: Payout, state: LockedState): Decision<Payout> {
  const { report, kind, callbackId, outboxId } = command;
  const record = railRecord(payout, state);
  const effect = effectOfReport(command, payout, record, state);
  const word = { ...report, at: state.at };
  const fact = railFact(payout, [...record.words, word]);
  const intended =
    effect === 'settled' ? withoutWrites(payout) : applyReport(effect, payout, report, fact, state);
  const isTooLarge = overflows(intended.writes.postings ?? [], state);
  const { after, writes } = isTooLarge
    ? flagOverflow(payout, report, state)
    : flagListedReturn(intended, payout, state);
  const recorded = isTooLarge ? 'noted' : storedEffect(effect);
  const what = { kind, reported: report.status, effect: recorded, callbackId, at: state.at };
  const rows: RowWrite[] = [insertRailEvent(command.eventId, after, what, report)];
  if (after !== payout) rows.push(changeRow(payouts, after));
  if (after !== payout && outboxId !== null)
    rows.push(insertOutboxEntry(outboxId, after, state.at));
  // A callback's id is bound forever, so that a repeated callback is recognised.
  const bindsKey = callbackId !== null;
  return { outcome: { done: true, resource: after }, writes: { ...writes, rows }, bindsKey };
}

/** Returns the effect by the state machine, unless the report contradicts other reports. */
function effectOfReport(
  { report, isResolved: resolved, snapshot }: ReportPayout,
  payout: Payout,
  record: RailRecord,
  state: LockedState,
): Effect | 'settled' {
  const { status } = payout;
  const railReference = ownReference(payout, record.words);
  const known = { status, railReference, wasPaid: wasPaid(railFact(payout, record.words)) };
  const effect = effectOf(known, report, 'rail');
  const isContradiction =
    effect === 'conflict' ||
    (report.status === 'unknown' &&
      payout.status === 'in_progress' &&
      isKnownToRail(payout, state));
  // An earlier resolution does not count for a payout that is flagged again.
  const isUnflagged = payout.stuckSince === null && payout.status === snapshot.status;
  if (isContradiction) return resolved && isUnflagged ? 'settled' : 'conflict';
  // A duplicate changes nothing unless it is the first to name the payment.
  const changesNothing =
    report.status === 'unknown' ||
    (effect === 'duplicate' && (payout.railReference !== null || report.reference === null));
  return !changesNothing && contradictsRecord(payout, record, report) ? 'conflict' : effect;
}

function storedEffect(effect: Effect | 'settled'): PayoutRailEvent['effect'] {
  if (effect === 'duplicate' || effect === 'conflict' || effect === 'settled') return effect;
  return effect === 'record' ? 'noted' : 'applied';
}

/** Flags the payout, whose rail is polled until the amount fits into the balance. */
function flagOverflow(payout: Payout, { reference }: Report, state: LockedState): AppliedReport {
  const railReference = payout.railReference ?? reference;
  return withoutWrites(withFlag({ ...payout, railReference }, 'overflow', state));
}

/** Flags a payout that has just been completed, if a statement already lists it as returned. */
function flagListedReturn(end: AppliedReport, before: Payout, state: LockedState): AppliedReport {
  const { after, writes } = end;
  if (after.status === before.status) return end;
  const isReturnListed = openLines(after, state).some(
    (line) => effectOf(after, line, 'rail') === 'return',
  );
  return isReturnListed ? { after: withFlag(after, 'no_outcome', state), writes } : end;
}

interface AppliedReport {
  readonly after: Payout;
  readonly writes: Writes;
}

function withoutWrites(payout: Payout): AppliedReport {
  return { after: payout, writes: {} };
}

/** Returns the payout after the effect and what is posted. Returns `before` itself if unchanged. */
export function applyReport(
  effect: Effect,
  before: Payout,
  { reference, failureCode }: Pick<Report, 'reference' | 'failureCode'>,
  fact: RailFact,
  state: LockedState,
): AppliedReport {
  const railReference = before.railReference ?? reference;
  const payout = railReference === before.railReference ? before : { ...before, railReference };
  switch (effect) {
    case 'record':
    case 'duplicate':
      return withoutWrites(payout);
    case 'flag':
      return withoutWrites(withFlag(before, 'no_outcome', state));
    case 'conflict':
      return withoutWrites(withFlag(before, 'contradiction', state));
    case 'clear':
      return withoutWrites(schedulePoll({ ...before, ...NOT_FLAGGED }, fact, state));
    case 'complete':
      return complete(payout, fact, state);
    case 'complete_after_failure':
      return completeAfterFailure(payout, fact, state);
    case 'fail':
      return fail(payout, failureCode, fact, state);
    case 'return':
      return giveBack(payout, failureCode, fact, state);
    case 'complete_and_return': {
      const { after, writes } = complete(payout, fact, state);
      const end = giveBack(after, failureCode, fact, state);
      const postings = [...(writes.postings ?? []), ...(end.writes.postings ?? [])];
      const events = [...(writes.events ?? []), ...(end.writes.events ?? [])];
      return { after: end.after, writes: { ...writes, postings, events } };
    }
  }
}

function complete(payout: Payout, fact: RailFact, state: LockedState): AppliedReport {
  const ends = { status: 'completed', endedAt: nextInstant(payout, state.at) } as const;
  const after = schedulePoll({ ...afterProgress(payout), ...ends }, fact, state);
  const events = [payoutEvent('payout.completed', after)];
  const [holds, postings] = [[releasedHold(after)], [payoutPosting(after)]];
  return { after, writes: { holds, postings, events } };
}

/** Posts the amount that was given back, and counts it again in the month's total. */
function completeAfterFailure(payout: Payout, fact: RailFact, state: LockedState): AppliedReport {
  const { sourceAccountId: accountId, asset, raw, limitMonth: month, endedAt: failedAt } = payout;
  const ends = { status: 'completed', failedAt, endedAt: nextInstant(payout, state.at) } as const;
  const noFailure = { failureCode: null, failureMessage: null, ...NOT_FLAGGED };
  const after = schedulePoll({ ...payout, ...ends, ...noFailure }, fact, state);
  const months = [{ accountId, asset, month, raw }];
  const events = [payoutEvent('payout.completed', after)];
  return { after, writes: { postings: [payoutPosting(after)], months, events } };
}

function fail(
  payout: Payout,
  code: Report['failureCode'],
  fact: RailFact,
  state: LockedState,
): AppliedReport {
  const ends = { status: 'failed', endedAt: nextInstant(payout, state.at) } as const;
  const after = schedulePoll(
    { ...afterProgress(payout), ...failureOf(code, payout), ...ends },
    fact,
    state,
  );
  return {
    after,
    writes: { ...releaseWrites(after), events: [payoutEvent('payout.failed', after)] },
  };
}

/** Posts the amount back. If the source account is closed, also flags the payout. */
function giveBack(
  payout: Payout,
  code: Report['failureCode'],
  fact: RailFact,
  state: LockedState,
): AppliedReport {
  const ends = { status: 'returned', returnedAt: nextInstant(payout, state.at) } as const;
  const back = schedulePoll(
    { ...afterProgress(payout), ...failureOf(code, payout), ...ends },
    fact,
    state,
  );
  const isClosed = state.account(payout.sourceAccountId)?.account.status === 'closed';
  const after = isClosed ? withFlag(back, 'account_closed', state) : back;
  const events = [payoutEvent('payout.returned', after)];
  return { after, writes: { postings: [returnPosting(after)], events } };
}

export interface OutcomeObserver {
  /** Called for a report that conflicts with its payout and that no two people have resolved. */
  contradicted(rail: string): void;
  ended(payout: Payout): void;
}

/** Submits a report about a payout, and counts its outcome. Throws DatabaseUnavailable. */
export async function submitReport(
  { database, writer, observer }: ReportDeps,
  command: Omit<ReportPayout, 'isResolved'>,
): Promise<CommandResult<Payout> & { readonly effect: PayoutRailEvent['effect'] }> {
  const { snapshot, report, eventId } = command;
  const mayBeResolved =
    report.status === 'unknown' ||
    snapshot.status === 'returned' ||
    effectOf(snapshot, report, 'rail') === 'conflict';
  const resolved = mayBeResolved && (await isResolved(database.reader, snapshot, report));
  const result = await writer.submit(reportPayout, { ...command, isResolved: resolved });
  if (result.replayed || !result.outcome.done) return { ...result, effect: 'replayed' };
  const { resource } = result.outcome;
  if (snapshot.endedAt === null && resource.endedAt !== null) observer.ended(resource);
  const isConflict = resource.stuckReason === 'contradiction';
  if (!isConflict && command.callbackId === null) return { ...result, effect: 'noted' };
  const event = await database.reader.find(payoutRailEvents, { id: eventId });
  if (event?.effect === 'conflict') observer.contradicted(snapshot.rail);
  return { ...result, effect: event?.effect ?? 'noted' };
}

export interface ReportDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
  readonly observer: OutcomeObserver;
}
