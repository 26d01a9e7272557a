import { auditRow } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, NOT_FOUND } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { auditLog } from '../db/entities/identity.js';
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
  type CommandResult,
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
import { type PayoutCommand, railEvent, workflowEntry } from './commands.js';
import { NOT_FLAGGED } from './flag.js';
import { applyReport } from './outcomes.js';
import { countContradictions, openLines, readContradictions, reportNeeds } from './reports.js';
import {
  ANOTHER_OPEN,
  applyRefusal,
  NOTHING_OPEN,
  OPEN_ALREADY,
  openResolution,
  type Outcome,
  outcomeRefusal,
  overtakenRefusal,
  type Release,
  type Seen,
  TOO_LARGE,
  unseenRefusal,
} from './resolution-checks.js';
import { postedAccounts } from './rules.js';
import { effectOf } from './state-machine.js';

/**
 * Outcomes that operators establish at the bank: one person proposes, another approves.
 * (docs/payouts.md)
 */

interface ResolutionCommand extends PayoutCommand {
  readonly resolutionId: Uuid;
  readonly auditId: Uuid;
  readonly by: StaffIdentity;
}

interface Propose extends ResolutionCommand {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly seen: Seen;
}

interface Decide extends ResolutionCommand {
  readonly verdict: 'apply' | 'reject';
  /** Null if the outcome gives no money back, or the proposal is rejected. */
  readonly release: Release | null;
  /** The reason for the audit log; null if none was requested. */
  readonly why: string | null;
  readonly outboxId: Uuid;
}

const base = {
  resourceType: 'payout',
  table: payouts,
  needs: ({ facts }: ResolutionCommand) => [
    ...endingNeeds({ table: payouts }, facts),
    need(payoutResolutions, { payoutId: facts.id }),
    ...reportNeeds(facts),
  ],
} as const;

const proposal: CommandKind<Propose, Payout> = {
  ...base,
  name: 'propose resolution of payout',
  accounts: naming(({ facts }) => [facts.sourceAccountId]),
  decide: decideProposal,
};

const verdict: CommandKind<Decide, Payout> = {
  ...base,
  name: 'decide resolution of payout',
  accounts: naming(({ facts }) => postedAccounts(facts)),
  decide: decideVerdict,
};

function decideProposal(command: Propose, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { outcome, reason, resolutionId: id, by, seen } = command;
  if (openResolution(payout, state) !== undefined) return refuse(OPEN_ALREADY, false);
  const { tenantId, id: payoutId, status: payoutStatus } = payout;
  const contradictions = countContradictions(payout, state);
  const refusal =
    unseenRefusal({ status: payoutStatus, contradictions }, seen) ??
    outcomeRefusal(payout, outcome);
  if (refusal !== null) return refuse(refusal, false);
  const resolution: PayoutResolution = {
    ...{ id, tenantId, payoutId, outcome, reason, payoutStatus, contradictions },
    ...{ status: 'proposed', proposedBy: by.name, proposedById: by.id, createdAt: state.at },
    ...{ decidedBy: null, decidedById: null, decidedAt: null },
  };
  const details = { outcome, reason, status: payoutStatus };
  const audit = audited(command, 'payout.resolve_propose', details, state);
  const rows = [insertRow(payoutResolutions, resolution), audit];
  return { outcome: { done: true, resource: payout }, writes: { rows }, bindsKey: true };
}

function decideVerdict(command: Decide, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  const open = payout === undefined ? undefined : openResolution(payout, state);
  if (payout === undefined || open === undefined) return refuse(NOTHING_OPEN, false);
  if (open.id !== command.resolutionId) return refuse(ANOTHER_OPEN, false);
  if (command.verdict === 'reject')
    return decided(command, open, payout, { rows: [] }, 'reject', state);
  const seen = { status: payout.status, contradictions: countContradictions(payout, state) };
  const refusal =
    secondPersonRefusal(open.proposedById, command.by.id) ??
    overtakenRefusal(seen, open) ??
    applyRefusal(payout, open.outcome, command.release, state);
  if (refusal !== null) return refuse(refusal, false);
  const before: Payout = { ...payout, ...NOT_FLAGGED };
  const report = { status: open.outcome, reference: null, failureCode: null };
  const { settled, writes } = applyReport(effectOf(before, report, 'staff'), before, report, state);
  if (overflows(writes.postings ?? [], state)) return refuse(TOO_LARGE, false);
  const rows = [...resolvedReports(command, open.outcome, settled, state)];
  rows.push(changeRow(payouts, settled), workflowEntry(command.outboxId, settled, state.at));
  return decided(command, open, settled, { ...writes, rows }, 'approve', state);
}

function decided(
  command: Decide,
  open: PayoutResolution,
  resource: Payout,
  writes: Decision<Payout>['writes'] & { readonly rows: readonly RowWrite[] },
  action: 'approve' | 'reject',
  state: LockedState,
): Decision<Payout> {
  const { by, why } = command;
  const { outcome, reason, proposedBy } = open;
  const status = action === 'approve' ? 'applied' : 'rejected';
  const decision = { status, decidedBy: by.name, decidedById: by.id, decidedAt: state.at } as const;
  const details = { outcome, reason, status: resource.status, proposed_by: proposedBy };
  const audit = audited(
    command,
    `payout.resolve_${action}`,
    { ...details, ...(why === null ? {} : { why }) },
    state,
  );
  const resolution = changeRow(payoutResolutions, { ...open, ...decision });
  const rows = [resolution, audit, ...writes.rows];
  return { outcome: { done: true, resource }, writes: { ...writes, rows }, bindsKey: false };
}

/** Records the rail's void, the resolution, and the statement lines that it resolves. */
function* resolvedReports(
  { release, eventId, facts }: Decide,
  outcome: Outcome,
  settled: Payout,
  state: LockedState,
): Generator<RowWrite> {
  const { at } = state;
  const row = (...event: Parameters<typeof railEvent>): RowWrite =>
    insertRow(payoutRailEvents, railEvent(...event));
  if (release?.by === 'void') {
    const { report } = release;
    const what = { kind: 'void', said: report.status, effect: 'applied', at } as const;
    yield row(release.eventId, settled, what, report);
  }
  const said = outcome === 'unchanged' ? null : outcome;
  const effect = said === null ? 'noted' : 'applied';
  yield row(eventId, settled, { kind: 'resolution', said, effect, at });
  for (const { status, reference } of openLines(facts, state)) {
    const line = { kind: 'statement', said: status, effect: 'settled', at } as const;
    yield row(newId(), settled, line, { reference, failureCode: null });
  }
}

function audited(
  { facts: { id: subjectId, tenantId }, auditId, by }: ResolutionCommand,
  action: string,
  details: Readonly<Record<string, string>>,
  { at }: LockedState,
): RowWrite {
  const act = { tenantId, subjectType: 'payout', subjectId, action, details };
  return insertRow(auditLog, auditRow(auditId, by, at, act));
}

/**
 * A payout as people see it: a proposal or decision counts only for this state and this open
 * proposal.
 */
export interface SeenPayout {
  readonly payout: Payout;
  readonly contradictions: Seen['contradictions'];
  readonly open: PayoutResolution | undefined;
}

export async function readSeen(reader: Reader, payout: Payout): Promise<SeenPayout> {
  const [contradictions, all] = await Promise.all([
    readContradictions(reader, payout),
    listResolutions(reader, payout.id),
  ]);
  return { payout, contradictions, open: all.find(({ status }) => status === 'proposed') };
}

export function listResolutions(
  reader: Reader,
  payoutId: Uuid,
): Promise<readonly PayoutResolution[]> {
  return reader.select(payoutResolutions, { payoutId }, { orderBy: ['id'] });
}

/**
 * Proposes an outcome; no money moves. A repeated `actionId` proposes nothing more. Throws ApiError
 * authority_insufficient, invalid_field, invalid_state (the payout is not as seen, or cannot have
 * this outcome), ledger_unavailable.
 */
export async function proposeResolution(
  desk: LedgerWriter,
  { payout: facts, contradictions }: Pick<SeenPayout, 'payout' | 'contradictions'>,
  input: { readonly outcome: Outcome; readonly reason: string; readonly by: StaffIdentity },
  actionId: Uuid = newId(),
): Promise<Payout> {
  const { outcome, by } = input;
  assertMayAct('payout.resolve_propose', by);
  const reason = checkedText('reason', input.reason, MAX_REASON);
  const command = { ...commandOf(facts, newId(), actionId, outcome, reason), outcome, reason, by };
  const seen = { status: facts.status, contradictions };
  return submit(desk.submit(proposal, { ...command, seen }));
}

/** Ends the proposal. Throws as `decideResolution` does. */
export function rejectResolution(
  desk: LedgerWriter,
  seen: SeenPayout,
  by: StaffIdentity,
  why: string | null = null,
): Promise<Payout> {
  return decideResolution(desk, seen, { verdict: 'reject', release: null, by, why });
}

/**
 * Applies or rejects the proposal; `approveResolution` calls the rail first. Throws ApiError
 * authority_insufficient (the proposer), invalid_state (no proposal, the rail has reported since,
 * or nothing can be given back yet), insufficient_funds, ledger_unavailable.
 */
export async function decideResolution(
  desk: LedgerWriter,
  { payout: facts, open }: SeenPayout,
  decision: Pick<Decide, 'verdict' | 'release' | 'by' | 'why'>,
): Promise<Payout> {
  const action = decision.verdict === 'apply' ? 'approve' : 'reject';
  assertMayAct(`payout.resolve_${action}`, decision.by);
  if (open === undefined) throw new ApiError(NOTHING_OPEN);
  const command = { ...commandOf(facts, open.id, newId()), outboxId: newId(), ...decision };
  return submit(desk.submit(verdict, command));
}

function commandOf(
  facts: Payout,
  resolutionId: Uuid,
  actionId: Uuid,
  ...content: readonly string[]
) {
  const fingerprint = commandFingerprint(['resolve', actionId, ...content]);
  const key = { key: `payout/${facts.id}/resolve/${actionId}`, fingerprint };
  const ids = { resolutionId, auditId: newId(), eventId: newId() };
  return { tenantId: facts.tenantId, ...key, ...ids, facts };
}

async function submit(answer: Promise<CommandResult<Payout>>): Promise<Payout> {
  const { outcome } = await answer;
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}
