import { type Actor, type Act, auditRow } from '../access/audit-log.js';
import { NOT_FOUND } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { auditLog } from '../db/entities/identity.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents, payouts } from '../db/entities/payouts.js';
import {
  changeRow,
  type Command,
  type Decision,
  insertRow,
  refuse,
  type RowWrite,
  type View,
  type Writes,
} from '../ledger/desk/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { payoutEvent } from './decide.js';
import {
  type Effect,
  effectOf,
  failureOf,
  nextInstant,
  payoutPosting,
  type RailStatement,
  returnPosting,
} from './rules.js';
import { released, givenBack } from './settle.js';

/**
 * What becomes of a payout from when the rail may have it. Pure. Each is a compare-and-set on the payout's status: it may be
 * asked twice, late and by several at once. (decisions.md, Payouts)
 */

export interface PayoutCommand extends Command {
  /** As it was read before the lock, for what never changes of it. */
  readonly facts: Payout;
  /** Of the row in payout_rail_events. */
  readonly eventId: Uuid;
}

/** Approved → in progress. Committed before the rail is called: from then on it cannot be canceled. */
export function decideBegin(command: PayoutCommand, view: View): Decision<Payout> {
  const payout = view.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  if (payout.status !== 'approved') return unchanged(payout);
  const begun: Payout = { ...payout, status: 'in_progress', submittedAt: nextInstant(payout, view.at) };
  const sent = insertRow(payoutRailEvents, railEvent(command, begun, { kind: 'submission', effect: 'sent' }, view.at));
  return {
    outcome: { done: true, resource: begun },
    writes: { rows: [changeRow(payouts, begun), sent] },
    bindsKey: true,
  };
}

export interface ReportOutcome extends PayoutCommand {
  readonly kind: PayoutRailEvent['kind'];
  readonly said: RailStatement;
  /** The callback's own id; null for every other way of hearing. */
  readonly callbackId: string | null;
  /** Of the entry that tells the workflow; null where the workflow itself asked. */
  readonly outboxId: Uuid | null;
}

/** What the rail says, by whichever way. Of two that say the same one acts. */
export function decideReport(command: ReportOutcome, view: View): Decision<Payout> {
  const payout = view.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { said, kind } = command;
  const effect = effectOf(payout.status, said.status);
  const { settled, writes } = applied(effect, payout, said, view);
  const word = { kind, said: said.status, effect: EFFECT_WORDS[effect] } as const;
  const rows: RowWrite[] = [insertRow(payoutRailEvents, railEvent(command, settled, word, view.at, said))];
  if (settled !== payout) rows.push(changeRow(payouts, settled), ...told(command, settled, view));
  return {
    outcome: { done: true, resource: settled },
    writes: { ...writes, rows },
    // A callback's id is bound for ever: a replay is seen as one. What we asked ourselves may be asked again.
    bindsKey: command.callbackId !== null,
  };
}

const EFFECT_WORDS: Readonly<Record<Effect, PayoutRailEvent['effect']>> = {
  note: 'noted',
  complete: 'applied',
  fail: 'applied',
  return: 'applied',
  complete_and_return: 'applied',
  duplicate: 'duplicate',
  conflict: 'conflict',
};

export interface Applied {
  readonly settled: Payout;
  readonly writes: Writes;
}

/** The payout after the effect, and what it does to the money. The same row where nothing changes. */
export function applied(effect: Effect, payout: Payout, said: RailStatement, view: View): Applied {
  const railReference = payout.railReference ?? said.reference;
  switch (effect) {
    case 'duplicate':
      return { settled: payout, writes: {} };
    case 'note':
      return { settled: payout.railReference === null ? { ...payout, railReference } : payout, writes: {} };
    case 'conflict':
      return { settled: raised(payout, 'contradiction', view.at), writes: {} };
    case 'complete':
      return completed({ ...payout, railReference }, view);
    case 'fail':
      return failed({ ...payout, railReference }, said, view);
    case 'return':
      return returned(payout, said, view);
    case 'complete_and_return': {
      const first = completed({ ...payout, railReference }, view);
      const second = returned(first.settled, said, view);
      const { postings = [], events = [], ...rest } = first.writes;
      return {
        settled: second.settled,
        writes: {
          ...rest,
          postings: [...postings, ...(second.writes.postings ?? [])],
          events: [...events, ...(second.writes.events ?? [])],
        },
      };
    }
  }
}

const CALM = { stuckSince: null, stuckReason: null } as const;

/** What was held is spent. */
function completed(payout: Payout, view: View): Applied {
  const settled: Payout = { ...payout, ...CALM, status: 'completed', endedAt: nextInstant(payout, view.at) };
  const events = [payoutEvent('payout.completed', settled)];
  return { settled, writes: { holds: [released(settled)], postings: [payoutPosting(settled)], events } };
}

function failed(payout: Payout, { failureCode }: RailStatement, view: View): Applied {
  const failure = failureOf(failureCode ?? 'rejected_by_bank');
  const endedAt = nextInstant(payout, view.at);
  const settled: Payout = { ...payout, ...CALM, ...failure, status: 'failed', endedAt };
  return { settled, writes: { ...givenBack(settled), events: [payoutEvent('payout.failed', settled)] } };
}

/** The amount comes back, to a closed account too; what it used of its month stays used. */
function returned(payout: Payout, { failureCode }: RailStatement, view: View): Applied {
  const failure = failureOf(failureCode ?? 'rejected_by_bank');
  const returnedAt = nextInstant(payout, view.at);
  const settled: Payout = { ...payout, ...CALM, ...failure, status: 'returned', returnedAt };
  return { settled, writes: { postings: [returnPosting(settled)], events: [payoutEvent('payout.returned', settled)] } };
}

/** For operators to look at. What was raised before keeps its time; a contradiction outweighs silence. */
export function raised(payout: Payout, stuckReason: NonNullable<Payout['stuckReason']>, at: Instant): Payout {
  if (payout.stuckReason === stuckReason) return payout;
  return { ...payout, stuckSince: payout.stuckSince ?? at, stuckReason };
}

export interface RaisePayout extends PayoutCommand {
  /** Null: the rail denies what it had taken. Else raised only where it was submitted before. */
  readonly submittedBefore: Instant | null;
}

/** Raises a payout that nobody says anything of for too long, or that the rail denies. */
export function decideRaise(command: RaisePayout, view: View): Decision<Payout> {
  const payout = view.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { submittedBefore: before } = command;
  const { status, submittedAt, stuckSince } = payout;
  const isSilent = before !== null && submittedAt !== null && submittedAt < before && stuckSince === null;
  if (status !== 'in_progress' || !(isSilent || before === null)) return unchanged(payout);
  const settled = raised(payout, before === null ? 'contradiction' : 'no_outcome', view.at);
  const writes = settled === payout ? {} : { rows: [changeRow(payouts, settled)] };
  return { outcome: { done: true, resource: settled }, writes, bindsKey: false };
}

function unchanged(payout: Payout): Decision<Payout> {
  return { outcome: { done: true, resource: payout }, writes: {}, bindsKey: false };
}

/** The entry by which the workflow learns of it. */
export function told(
  { outboxId }: { readonly outboxId: Uuid | null },
  { id, tenantId }: Payout,
  { at }: View,
): RowWrite[] {
  return outboxId === null ? [] : [outboxWrite({ outboxId, tenantId, resourceType: 'payout', resourceId: id }, at)];
}

/** A row of what was said. */
export function railEvent(
  { eventId, callbackId = null }: { readonly eventId: Uuid; readonly callbackId?: string | null },
  { id: payoutId, rail }: Pick<Payout, 'id' | 'rail'>,
  word: Pick<PayoutRailEvent, 'kind' | 'effect'> & { readonly said?: PayoutRailEvent['said'] },
  at: Instant,
  said: RailStatement | null = null,
): PayoutRailEvent {
  return {
    id: eventId,
    payoutId,
    rail,
    kind: word.kind,
    said: word.said ?? null,
    effect: word.effect,
    callbackId,
    railReference: said?.reference ?? null,
    failureCode: said?.failureCode ?? null,
    at,
  };
}

/** An operator's act on a payout, in the audit log. */
export function actOn(
  auditId: Uuid,
  actor: Actor,
  { id, tenantId }: Pick<Payout, 'id' | 'tenantId'>,
  act: Pick<Act, 'action' | 'details'>,
  { at }: View,
): RowWrite {
  return insertRow(auditLog, auditRow(auditId, actor, at, { tenantId, subjectType: 'payout', subjectId: id, ...act }));
}
