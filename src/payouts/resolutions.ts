import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, NOT_FOUND } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import {
  type Payout,
  type PayoutResolution,
  payoutRailEvents,
  payoutResolutions,
  payouts,
} from '../db/entities/payouts.js';
import { endingNeeds } from '../approvals/commands.js';
import { overflows } from '../accounts/rules.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import {
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  naming,
  need,
  refuse,
  type RowWrite,
} from '../ledger/writer/types.js';
import { assertMayAct, secondPersonRefusal, type StaffIdentity } from '../staff/rules.js';
import { attemptNeeds, openResolution } from './attempts.js';
import { postedAccounts } from './commands.js';
import { payoutEvent } from './decide.js';
import {
  type Applied,
  actOn,
  applied,
  type PayoutCommand,
  railEvent,
  scheduled,
  told,
} from './outcome.js';
import { readUnexpected, standingLines, unexpected } from './rail-words.js';
import {
  ANOTHER_OPEN,
  applyRefusal,
  countDifferent,
  NOTHING_OPEN,
  OPEN_ALREADY,
  outcomeRefusal,
  overtakenRefusal,
  type Release,
  type Seen,
  TOO_LARGE,
  unseenRefusal,
} from './resolution-rules.js';
import { CALM, effectOf, nextInstant, payoutPosting } from './rules.js';

/** What operators establish at the bank: proposed by one person, applied by another, it counts like the rail's word. */

interface ResolutionCommand extends PayoutCommand {
  readonly by: StaffIdentity;
  readonly auditId: Uuid;
}

interface Propose extends ResolutionCommand {
  readonly resolutionId: Uuid;
  readonly outcome: PayoutResolution['outcome'];
  readonly reason: string;
  readonly seen: Seen;
}

interface Decide extends ResolutionCommand {
  /** What the person who decides has seen. */
  readonly resolutionId: Uuid;
  readonly verdict: 'apply' | 'reject';
  /** Why the money may be given back; null if the outcome gives none back, or the proposal is rejected. */
  readonly release: Release | null;
  /** The reason for the audit log; null if none was asked for. */
  readonly why: string | null;
  readonly outboxId: Uuid;
}

const proposing: CommandKind<Propose, Payout> = {
  name: 'propose resolution of payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => [facts.sourceAccountId]),
  needs: ({ facts }) => [need(payouts, { id: facts.id }), ...attemptNeeds(facts)],
  decide: decideProposal,
};

const deciding: CommandKind<Decide, Payout> = {
  name: 'decide resolution of payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => postedAccounts(facts)),
  needs: ({ facts }) => [...endingNeeds({ table: payouts }, facts), ...attemptNeeds(facts)],
  decide: decideVerdict,
};

function decideProposal(command: Propose, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { outcome, reason, resolutionId: id, by } = command;
  if (openResolution(payout, state) !== undefined) return refuse(OPEN_ALREADY, false);
  const heard = unexpected(payout, state);
  const refusal = unseenRefusal(payout, command.seen, heard) ?? outcomeRefusal(payout, outcome);
  if (refusal !== null) return refuse(refusal, false);
  const resolution: PayoutResolution = {
    id,
    tenantId: payout.tenantId,
    payoutId: payout.id,
    outcome,
    reason,
    status: 'proposed',
    payoutStatus: payout.status,
    contradictions: countDifferent(heard),
    proposedBy: by.name,
    proposedById: by.id,
    decidedBy: null,
    decidedById: null,
    createdAt: state.at,
    decidedAt: null,
  };
  const details = { outcome, reason, status: payout.status };
  const act = { action: 'payout.resolve_propose', details };
  const rows = [
    insertRow(payoutResolutions, resolution),
    actOn(command.auditId, command.by, payout, act, state),
  ];
  return { outcome: { done: true, resource: payout }, writes: { rows }, bindsKey: true };
}

function decideVerdict(command: Decide, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  const open = payout === undefined ? undefined : openResolution(payout, state);
  if (payout === undefined || open === undefined) return refuse(NOTHING_OPEN, false);
  if (open.id !== command.resolutionId) return refuse(ANOTHER_OPEN, false);
  const { by, verdict } = command;
  const { outcome: proposed, reason } = open;
  const isApplied = verdict === 'apply';
  const refusal = isApplied
    ? (secondPersonRefusal(open.proposedById, by.id) ??
      overtakenRefusal(payout, open, unexpected(payout, state)) ??
      applyRefusal(payout, proposed, command.release, state))
    : null;
  if (refusal !== null) return refuse(refusal, false);
  const { settled, writes } = isApplied
    ? resolved(payout, proposed, state)
    : { settled: payout, writes: {} };
  if (overflows(writes.postings ?? [], state)) return refuse(TOO_LARGE, false);
  const status = isApplied ? 'applied' : 'rejected';
  const decided: PayoutResolution = {
    ...open,
    status,
    decidedBy: by.name,
    decidedById: by.id,
    decidedAt: state.at,
  };
  const act = {
    action: isApplied ? 'payout.resolve_approve' : 'payout.resolve_reject',
    details: {
      outcome: proposed,
      reason,
      status: settled.status,
      proposed_by: open.proposedBy,
      ...(command.why === null ? {} : { why: command.why }),
    },
  };
  const rows = [
    changeRow(payoutResolutions, decided),
    actOn(command.auditId, command.by, settled, act, state),
  ];
  if (isApplied) {
    if (command.release?.by === 'void') rows.push(voidedEvent(command.release, settled, state));
    const said = proposed === 'unchanged' ? null : proposed;
    const word = { kind: 'resolution', said, effect: said === null ? 'noted' : 'applied' } as const;
    rows.push(
      insertRow(payoutRailEvents, railEvent(command, settled, word, state.at)),
      ...settledLines(payout, state),
      changeRow(payouts, settled),
      ...told(command, settled, state),
    );
  }
  const outcome = { done: true, resource: settled } as const;
  return { outcome, writes: { ...writes, rows }, bindsKey: false };
}

function resolved(
  payout: Payout,
  outcome: PayoutResolution['outcome'],
  state: LockedState,
): Applied {
  const calm: Payout = { ...payout, ...CALM };
  if (outcome === 'unchanged') return { settled: scheduled(calm, state), writes: {} };
  if (payout.status === 'failed') return paidAfterAll(calm, state);
  const failureCode = outcome === 'completed' ? null : 'rejected_by_bank';
  const said = { status: outcome, reference: null, failureCode } as const;
  return applied(effectOf(calm, said), calm, said, state);
}

/** It failed but was paid nonetheless: what was given back is taken again, and counts in its month again. */
function paidAfterAll(payout: Payout, state: LockedState): Applied {
  const { sourceAccountId: accountId, asset, raw, limitMonth: month, endedAt: failedAt } = payout;
  const ends = { status: 'completed', failedAt, endedAt: nextInstant(payout, state.at) } as const;
  const settled = scheduled({ ...payout, ...ends, failureCode: null, failureMessage: null }, state);
  const months = [{ accountId, asset, month, raw }];
  const events = [payoutEvent('payout.completed', settled)];
  return { settled, writes: { postings: [payoutPosting(settled)], months, events } };
}

/** Records which lines of statements the two people have settled. */
function settledLines(payout: Payout, state: LockedState): readonly RowWrite[] {
  return standingLines(payout, state).map(({ status, reference }) => {
    const line = { status, reference, failureCode: null };
    const word = { kind: 'statement', said: status, effect: 'settled' } as const;
    return insertRow(
      payoutRailEvents,
      railEvent({ eventId: newId() }, payout, word, state.at, line),
    );
  });
}

function voidedEvent(
  { eventId, said }: Extract<Release, { by: 'void' }>,
  payout: Payout,
  state: LockedState,
): RowWrite {
  const word = { kind: 'void', said: said.status, effect: 'applied' } as const;
  return insertRow(payoutRailEvents, railEvent({ eventId }, payout, word, state.at, said));
}

/**
 * Nothing moves. Repeated with the same `actId`, it proposes nothing more, also after the proposal was decided. Throws
 * ApiError authority_insufficient, invalid_field, invalid_state (it is not as it was seen, or has no such outcome),
 * ledger_unavailable.
 */
export async function proposeResolution(
  desk: LedgerWriter,
  { payout: facts, contradictions }: Pick<SeenPayout, 'payout' | 'contradictions'>,
  wanted: {
    readonly outcome: PayoutResolution['outcome'];
    readonly reason: string;
    readonly by: StaffIdentity;
  },
  actId: Uuid = newId(),
): Promise<Payout> {
  const { outcome, by } = wanted;
  assertMayAct('payout.resolve_propose', by);
  const reason = checkedText('reason', wanted.reason, MAX_REASON);
  const ids = { resolutionId: newId(), auditId: newId(), eventId: newId() };
  const seen = { status: facts.status, contradictions };
  return submitted(desk, proposing, {
    ...base(facts, actId, outcome, reason),
    ...ids,
    facts,
    seen,
    outcome,
    reason,
    by,
  });
}

/** A payout as people see it: they propose for no other state, and decide on no other proposal. */
export interface SeenPayout {
  readonly payout: Payout;
  readonly contradictions: Seen['contradictions'];
  readonly open: PayoutResolution | undefined;
}

/** `payout`: read before. */
export async function readSeen(reader: Reader, payout: Payout): Promise<SeenPayout> {
  const [heard, all] = await Promise.all([
    readUnexpected(reader, payout),
    listResolutions(reader, payout.id),
  ]);
  return {
    payout,
    contradictions: countDifferent(heard),
    open: all.find(({ status }) => status === 'proposed'),
  };
}

/**
 * Ends the proposal; nothing else changes. Throws ApiError authority_insufficient, invalid_state (it is not open),
 * ledger_unavailable.
 */
export async function rejectResolution(
  desk: LedgerWriter,
  seen: SeenPayout,
  by: StaffIdentity,
  why: string | null = null,
): Promise<Payout> {
  assertMayAct('payout.resolve_reject', by);
  return decided(desk, seen, { verdict: 'reject', release: null, by, why });
}

/**
 * Applies the proposal; release.ts asks the rail first. Throws ApiError authority_insufficient (the proposer),
 * invalid_state (it is not open, or the rail has reported meanwhile, or nothing can be given back yet),
 * insufficient_funds, ledger_unavailable.
 */
export async function applyResolution(
  desk: LedgerWriter,
  seen: SeenPayout,
  by: StaffIdentity,
  release: Release | null,
  why: string | null,
): Promise<Payout> {
  assertMayAct('payout.resolve_approve', by);
  return decided(desk, seen, { verdict: 'apply', release, by, why });
}

async function decided(
  desk: LedgerWriter,
  { payout: facts, open }: SeenPayout,
  wanted: Pick<Decide, 'verdict' | 'release' | 'by' | 'why'>,
): Promise<Payout> {
  if (open === undefined) throw new ApiError(NOTHING_OPEN);
  const ids = { resolutionId: open.id, auditId: newId(), eventId: newId(), outboxId: newId() };
  return submitted(desk, deciding, { ...base(facts, newId()), ...ids, ...wanted, facts });
}

export function listResolutions(
  reader: Reader,
  payoutId: Uuid,
): Promise<readonly PayoutResolution[]> {
  return reader.select(payoutResolutions, { payoutId }, { orderBy: ['id'] });
}

function base({ id, tenantId }: Payout, act: Uuid, ...content: readonly string[]) {
  const fingerprint = commandFingerprint(['resolve', act, ...content]);
  return { tenantId, key: `payout/${id}/resolve/${act}`, fingerprint };
}

async function submitted<C extends ResolutionCommand>(
  desk: LedgerWriter,
  kind: CommandKind<C, Payout>,
  command: C,
): Promise<Payout> {
  const { outcome } = await desk.submit(kind, command);
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}
