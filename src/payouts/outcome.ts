import { type Actor, type Act, auditRow } from '../access/audit-log.js';
import { NOT_FOUND } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { overflows } from '../accounts/rules.js';
import { auditLog } from '../db/entities/identity.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  payouts,
} from '../db/entities/payouts.js';
import {
  changeRow,
  type Command,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { payoutEvent } from './decide.js';
import {
  calmed,
  type Effect,
  effectOf,
  failureOf,
  nextAsk,
  nextInstant,
  payoutPosting,
  type RailStatement,
  returnPosting,
} from './rules.js';
import { released, givenBack } from './approval-outcomes.js';
import { isContrary, standingLines } from './rail-words.js';

/**
 * What happens to a payout once the rail may have it. Pure. Each decision is a compare-and-set on the payout's status:
 * it may be requested twice, late and concurrently. (docs/contract.md, Rails)
 */

export interface PayoutCommand extends Command {
  /** As read before the lock, for what never changes in it. */
  readonly facts: Payout;
  readonly eventId: Uuid;
}

export interface ReportOutcome extends PayoutCommand {
  readonly kind: PayoutRailEvent['kind'];
  readonly said: RailStatement;
  /** Whether operators have settled this report, if it contradicts what we know. */
  readonly isSettled: boolean;
  /** The callback's own id; null for other routes. */
  readonly callbackId: string | null;
  /** The entry that tells the workflow; null if the workflow itself asked. */
  readonly outboxId: Uuid | null;
}

/** A report by the rail, by whichever route. Of two identical ones, one takes effect. */
export function decideReport(command: ReportOutcome, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { said, kind } = command;
  const effect = effectIn(command, payout, state);
  const intended = applied(effect, payout, said, state);
  const isTooLarge = overflows(intended.writes.postings ?? [], state);
  const { settled, writes } = isTooLarge
    ? unposted(payout, said, state)
    : stillRaised(intended, payout, state);
  const word = {
    kind,
    said: said.status,
    effect: isTooLarge ? 'noted' : EFFECT_WORDS[effect],
  } as const;
  const rows: RowWrite[] = [
    insertRow(payoutRailEvents, railEvent(command, settled, word, state.at, said)),
  ];
  if (settled !== payout) rows.push(changeRow(payouts, settled), ...told(command, settled, state));
  return {
    outcome: { done: true, resource: settled },
    writes: { ...writes, rows },
    // A callback's id is bound forever, so a replay is recognised. Our own questions may be repeated.
    bindsKey: command.callbackId !== null,
  };
}

function effectIn({ said, isSettled }: ReportOutcome, payout: Payout, state: LockedState): Effect {
  const means = effectOf(payout, said);
  // A payout that is raised now is not settled yet, whatever was decided before.
  if (means === 'conflict') return isSettled && payout.stuckSince === null ? 'settled' : 'conflict';
  // A duplicate changes nothing unless it names the payment.
  const isKnown =
    means === 'duplicate' && (payout.railReference !== null || said.reference === null);
  return !isKnown && isContrary(payout, said, state) ? 'conflict' : means;
}

/** Raises the payout instead of posting what a balance cannot hold. The rail is asked again, until there is room. */
function unposted(payout: Payout, { reference }: RailStatement, state: LockedState): Applied {
  const named = { ...payout, railReference: payout.railReference ?? reference };
  return { settled: raised(named, 'overflow', state), writes: {} };
}

/** Keeps a payout raised that has been completed while a statement lists it as returned. */
function stillRaised(end: Applied, before: Payout, state: LockedState): Applied {
  const { settled, writes } = end;
  if (settled.status === before.status) return end;
  const isAwaited = standingLines(settled, state).some(
    (line) => effectOf(settled, line) === 'return',
  );
  return isAwaited ? { settled: raised(settled, 'no_outcome', state), writes } : end;
}

const EFFECT_WORDS: Readonly<Record<Effect, PayoutRailEvent['effect']>> = {
  note: 'noted',
  complete: 'applied',
  fail: 'applied',
  return: 'applied',
  complete_and_return: 'applied',
  duplicate: 'duplicate',
  conflict: 'conflict',
  settled: 'settled',
};

export interface Applied {
  readonly settled: Payout;
  readonly writes: Writes;
}

/** The payout after the effect, and what that does to the money. The same row if nothing changes. */
export function applied(
  effect: Effect,
  payout: Payout,
  said: RailStatement,
  state: LockedState,
): Applied {
  const railReference = payout.railReference ?? said.reference;
  switch (effect) {
    case 'settled':
      return { settled: payout, writes: {} };
    case 'duplicate':
    case 'note':
      return {
        settled: railReference === payout.railReference ? payout : { ...payout, railReference },
        writes: {},
      };
    case 'conflict':
      return { settled: raised(payout, 'contradiction', state), writes: {} };
    case 'complete':
      return completed({ ...payout, railReference }, state);
    case 'fail':
      return failed({ ...payout, railReference }, said, state);
    case 'return':
      return returned({ ...payout, railReference }, said, state);
    case 'complete_and_return': {
      const first = completed({ ...payout, railReference }, state);
      const second = returned(first.settled, said, state);
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

export function scheduled(payout: Payout, { at }: LockedState): Payout {
  return { ...payout, askAt: nextAsk(payout, at, Number.POSITIVE_INFINITY) };
}

function completed(payout: Payout, state: LockedState): Applied {
  const endedAt = nextInstant(payout, state.at);
  const settled = scheduled({ ...payout, ...calmed(payout), status: 'completed', endedAt }, state);
  const events = [payoutEvent('payout.completed', settled)];
  return {
    settled,
    writes: { holds: [released(settled)], postings: [payoutPosting(settled)], events },
  };
}

function failed(payout: Payout, { failureCode }: RailStatement, state: LockedState): Applied {
  const failure = failureOf(failureCode ?? 'rejected_by_bank');
  const endedAt = nextInstant(payout, state.at);
  const settled = scheduled(
    { ...payout, ...calmed(payout), ...failure, status: 'failed', endedAt },
    state,
  );
  return {
    settled,
    writes: { ...givenBack(settled), events: [payoutEvent('payout.failed', settled)] },
  };
}

/** Posts the amount back to the account. A closed account gets it too, and the payout is raised. The month keeps its use. */
function returned(payout: Payout, { failureCode }: RailStatement, state: LockedState): Applied {
  const failure = failureOf(failureCode ?? 'rejected_by_bank');
  const returnedAt = nextInstant(payout, state.at);
  const back = scheduled(
    { ...payout, ...calmed(payout), ...failure, status: 'returned', returnedAt },
    state,
  );
  const isClosed = state.account(payout.sourceAccountId)?.account.status === 'closed';
  const settled = isClosed ? raised(back, 'account_closed', state) : back;
  return {
    settled,
    writes: {
      postings: [returnPosting(settled)],
      events: [payoutEvent('payout.returned', settled)],
    },
  };
}

/** Raises a payout to operators. One that is already raised keeps its time, and never gets a lesser reason. */
export function raised(
  payout: Payout,
  stuckReason: NonNullable<Payout['stuckReason']>,
  state: LockedState,
): Payout {
  const { stuckReason: before } = payout;
  if (
    before === 'contradiction' ||
    before === stuckReason ||
    (before !== null && stuckReason === 'no_outcome')
  )
    return payout;
  return scheduled({ ...payout, stuckSince: payout.stuckSince ?? state.at, stuckReason }, state);
}

export interface RaisePayout extends PayoutCommand {
  /** Raised if it has been in its state since before that moment. */
  readonly standsSince: Instant;
}

/** Raises a payout that nothing has been heard of for too long, or that is not being handed to its rail. */
export function decideRaise(command: RaisePayout, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { status, approvedAt, submittedAt, stuckSince } = payout;
  const since = status === 'approved' ? approvedAt : status === 'in_progress' ? submittedAt : null;
  if (since === null || since >= command.standsSince || stuckSince !== null)
    return unchanged(payout);
  const settled = raised(payout, 'no_outcome', state);
  return {
    outcome: { done: true, resource: settled },
    writes: { rows: [changeRow(payouts, settled)] },
    bindsKey: false,
  };
}

export function unchanged(payout: Payout): Decision<Payout> {
  return { outcome: { done: true, resource: payout }, writes: {}, bindsKey: false };
}

/** The entry that tells the workflow. */
export function told(
  { outboxId }: { readonly outboxId: Uuid | null },
  { id, tenantId }: Payout,
  { at }: LockedState,
): RowWrite[] {
  return outboxId === null
    ? []
    : [outboxWrite({ outboxId, tenantId, resourceType: 'payout', resourceId: id }, at)];
}

export function railEvent(
  { eventId, callbackId = null }: { readonly eventId: Uuid; readonly callbackId?: string | null },
  { id: payoutId, rail }: Pick<Payout, 'id' | 'rail'>,
  word: Pick<PayoutRailEvent, 'kind' | 'effect'> &
    Partial<Pick<PayoutRailEvent, 'said' | 'attempt'>>,
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
    attempt: word.attempt ?? null,
    at,
  };
}

export function actOn(
  auditId: Uuid,
  actor: Actor,
  { id, tenantId }: Pick<Payout, 'id' | 'tenantId'>,
  act: Pick<Act, 'action' | 'details'>,
  { at }: LockedState,
): RowWrite {
  return insertRow(
    auditLog,
    auditRow(auditId, actor, at, { tenantId, subjectType: 'payout', subjectId: id, ...act }),
  );
}
