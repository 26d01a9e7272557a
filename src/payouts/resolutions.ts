import { operatorActor } from '../access/audit-log.js';
import { checkedText } from '../core/checked-text.js';
import { ApiError, NOT_FOUND, type Refusal } from '../core/errors.js';
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
import { MAX_REASON } from '../approvals/service.js';
import { endingNeeds } from '../approvals/commands.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import {
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  need,
  refuse,
  type View,
} from '../ledger/desk/types.js';
import { postedAccounts } from './commands.js';
import { type Applied, actOn, applied, type PayoutCommand, railEvent, told } from './outcome.js';
import { effectOf } from './rules.js';

/**
 * What became of a payout as operators found it out at the bank: proposed by one person, applied by another. It does to the
 * money what the rail's own word would have done. (decisions.md, Operators)
 */

interface ResolutionCommand extends PayoutCommand {
  readonly operator: string;
  readonly auditId: Uuid;
}

interface Propose extends ResolutionCommand {
  readonly resolutionId: Uuid;
  readonly outcome: PayoutResolution['outcome'];
  readonly reason: string;
}

interface Decide extends ResolutionCommand {
  readonly verdict: 'apply' | 'reject';
  readonly outboxId: Uuid;
}

const proposing: CommandKind<Propose, Payout> = {
  name: 'propose resolution of payout',
  resourceType: 'payout',
  table: payouts,
  accounts: (commands) => Promise.resolve(commands.map(({ facts }) => [facts.sourceAccountId])),
  needs: ({ facts }) => [need(payouts, { id: facts.id }), need(payoutResolutions, { payoutId: facts.id })],
  decide: decideProposal,
};

const deciding: CommandKind<Decide, Payout> = {
  name: 'decide resolution of payout',
  resourceType: 'payout',
  table: payouts,
  accounts: (commands) => Promise.resolve(commands.map(({ facts }) => postedAccounts(facts))),
  needs: ({ facts }) => [...endingNeeds({ table: payouts }, facts), need(payoutResolutions, { payoutId: facts.id })],
  decide: decideVerdict,
};

function decideProposal(command: Propose, view: View): Decision<Payout> {
  const payout = view.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { outcome, reason, resolutionId: id, operator } = command;
  if (openOf(payout, view) !== undefined) return refuse(OPEN_ALREADY, false);
  const refusal = outcomeRefusal(payout, outcome);
  if (refusal !== null) return refuse(refusal, false);
  const resolution: PayoutResolution = {
    id,
    tenantId: payout.tenantId,
    payoutId: payout.id,
    outcome,
    reason,
    status: 'proposed',
    proposedBy: operator,
    decidedBy: null,
    createdAt: view.at,
    decidedAt: null,
  };
  const act = { action: 'payout.resolve_propose', details: { outcome, reason, status: payout.status } };
  const rows = [insertRow(payoutResolutions, resolution), audited(command, payout, act, view)];
  return { outcome: { done: true, resource: payout }, writes: { rows }, bindsKey: false };
}

function decideVerdict(command: Decide, view: View): Decision<Payout> {
  const payout = view.row(payouts, { id: command.facts.id });
  const open = payout === undefined ? undefined : openOf(payout, view);
  if (payout === undefined || open === undefined) return refuse(NOTHING_OPEN, false);
  const { operator, verdict } = command;
  const { outcome, reason } = open;
  const isApplied = verdict === 'apply';
  if (isApplied && operator === open.proposedBy) return refuse(SAME_PERSON, false);
  const refusal = isApplied ? outcomeRefusal(payout, outcome) : null;
  if (refusal !== null) return refuse(refusal, false);
  const { settled, writes } = isApplied ? resolved(payout, outcome, view) : { settled: payout, writes: {} };
  const status = isApplied ? 'applied' : 'rejected';
  const decided: PayoutResolution = { ...open, status, decidedBy: operator, decidedAt: view.at };
  const act = {
    action: isApplied ? 'payout.resolve_approve' : 'payout.resolve_reject',
    details: { outcome, reason, status: settled.status, proposed_by: open.proposedBy },
  };
  const rows = [changeRow(payoutResolutions, decided), audited(command, settled, act, view)];
  if (isApplied) {
    const said = outcome === 'unchanged' ? null : outcome;
    const word = { kind: 'resolution', said, effect: said === null ? 'noted' : 'applied' } as const;
    rows.push(insertRow(payoutRailEvents, railEvent(command, settled, word, view.at)));
    rows.push(changeRow(payouts, settled), ...told(command, settled, view));
  }
  return { outcome: { done: true, resource: settled }, writes: { ...writes, rows }, bindsKey: false };
}

function resolved(payout: Payout, outcome: PayoutResolution['outcome'], view: View): Applied {
  if (outcome === 'unchanged') return { settled: { ...payout, stuckSince: null, stuckReason: null }, writes: {} };
  const failureCode = outcome === 'completed' ? null : 'rejected_by_bank';
  const said = { status: outcome, reference: null, failureCode } as const;
  return applied(effectOf(payout.status, outcome), payout, said, view);
}

function openOf(payout: Payout, view: View): PayoutResolution | undefined {
  return view.rows(payoutResolutions, { payoutId: payout.id }).find(({ status }) => status === 'proposed');
}

/** In which statuses a payout can be resolved so. */
const POSSIBLE_IN: Readonly<Record<PayoutResolution['outcome'], readonly Payout['status'][]>> = {
  completed: ['in_progress'],
  failed: ['in_progress'],
  returned: ['in_progress', 'completed'],
  unchanged: ['completed', 'failed', 'returned', 'canceled', 'rejected'],
};

function outcomeRefusal({ status, stuckSince }: Payout, outcome: PayoutResolution['outcome']): Refusal | null {
  const allowed = POSSIBLE_IN[outcome];
  if (!allowed.includes(status))
    return {
      code: 'invalid_state',
      message: `the payout is ${status}: it cannot be resolved as ${outcome}`,
      details: { current: status, allowed },
    };
  if (outcome !== 'unchanged' || stuckSince !== null) return null;
  return { code: 'invalid_state', message: 'nothing is raised', details: { current: status, allowed: ['stuck'] } };
}

const OPEN_ALREADY: Refusal = {
  code: 'invalid_state',
  message: 'a resolution is proposed already: it is approved or rejected first',
  details: { current: 'proposed', allowed: ['none_proposed'] },
};
const NOTHING_OPEN: Refusal = {
  code: 'invalid_state',
  message: 'no resolution is proposed',
  details: { current: 'none_proposed', allowed: ['proposed'] },
};
const SAME_PERSON: Refusal = {
  code: 'authority_insufficient',
  message: 'whoever proposed the resolution cannot approve it: a second person must',
};

function audited(
  { auditId, operator }: ResolutionCommand,
  payout: Payout,
  act: Parameters<typeof actOn>[3],
  view: View,
): ReturnType<typeof actOn> {
  return actOn(auditId, operatorActor(operator), payout, act, view);
}

/** Proposes what became of it; nothing moves. Throws ApiError invalid_field, invalid_state, ledger_unavailable. */
export function proposeResolution(
  desk: PostingDesk,
  facts: Payout,
  wanted: { readonly outcome: PayoutResolution['outcome']; readonly reason: string; readonly operator: string },
): Promise<Payout> {
  const { outcome, operator } = wanted;
  const reason = checkedText('reason', wanted.reason, MAX_REASON);
  const ids = { resolutionId: newId(), auditId: newId(), eventId: newId() };
  return submitted(desk, proposing, { ...base(facts), ...ids, facts, outcome, reason, operator });
}

/**
 * Applies or ends the open proposal. Throws ApiError authority_insufficient (the proposer), invalid_state (nothing is
 * proposed, or the rail spoke meanwhile), ledger_unavailable.
 */
export function decideResolution(
  desk: PostingDesk,
  facts: Payout,
  verdict: Decide['verdict'],
  operator: string,
): Promise<Payout> {
  const ids = { auditId: newId(), eventId: newId(), outboxId: newId() };
  return submitted(desk, deciding, { ...base(facts), ...ids, facts, verdict, operator });
}

/** All of a payout, oldest first. */
export function listResolutions(reader: Reader, payoutId: Uuid): Promise<readonly PayoutResolution[]> {
  return reader.select(payoutResolutions, { payoutId }, { orderBy: ['id'] });
}

function base({ id, tenantId }: Payout) {
  const act = newId();
  return { tenantId, key: `payout/${id}/resolve/${act}`, fingerprint: commandFingerprint(['resolve', act]) };
}

async function submitted<C extends ResolutionCommand>(
  desk: PostingDesk,
  kind: CommandKind<C, Payout>,
  command: C,
): Promise<Payout> {
  const { outcome } = await desk.submit(kind, command);
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}
