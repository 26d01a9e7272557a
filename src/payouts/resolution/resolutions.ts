import type { AuditAction } from '../../access/audit-actions.js';
import { auditRow } from '../../access/audit-log.js';
import { checkedText, MAX_REASON } from '../../core/checked-text.js';
import { ApiError } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import { newId, type Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { auditLog } from '../../db/entities/identity.js';
import {
  type Payout,
  type PayoutResolution,
  payoutResolutions,
  payouts,
} from '../../db/entities/payouts.js';
import { endingRowKeys } from '../../approvals/commands.js';
import { overflows } from '../../accounts/rules.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import {
  accept,
  changeRow,
  type Decision,
  insertRow,
  type LockedState,
  rowKey,
  refuse,
  type RowWrite,
  type Writes,
} from '../../ledger/writer/types.js';
import { assertMayAct, secondPersonRefusal, type StaffIdentity } from '../../staff/rules.js';
import {
  insertLineEvent,
  insertRailEvent,
  type PayoutCommand,
  definePayoutCommand,
  payoutOrThrow,
  insertOutboxEntry,
} from '../commands.js';
import { NOT_FLAGGED, postedAccounts } from '../rules.js';
import { applyReport } from '../outcomes.js';
import { railFact, type RailFact } from '../rail-fact.js';
import type { RailReport } from '../rails/rail.js';
import { countReports, openLines, railRecord, readReportCount, reportRowKeys } from '../reports.js';
import {
  ANOTHER_OPEN,
  applyRefusal,
  NOTHING_OPEN,
  OPEN_ALREADY,
  openResolution,
  type ResolutionOutcome,
  outcomeRefusal,
  overtakenRefusal,
  type Release,
  type SeenState,
  TOO_LARGE,
  unseenRefusal,
} from './checks.js';
import { effectOf } from '../state-machine.js';

/** Outcomes that operators decide: one person proposes, and another approves. (docs/payouts.md) */

interface ResolutionCommand extends PayoutCommand {
  readonly resolutionId: Uuid;
  readonly auditId: Uuid;
  readonly by: StaffIdentity;
}

interface ProposeResolution extends ResolutionCommand {
  readonly outcome: ResolutionOutcome;
  readonly reason: string;
  readonly seen: SeenState;
}

interface DecideResolution extends ResolutionCommand {
  readonly verdict: 'apply' | 'reject';
  readonly release: Release | null;
  /** The deciding person's own remark. */
  readonly why: string | null;
  readonly outboxId: Uuid;
}

const resolutionRowKeys = (snapshot: Payout) => [
  ...endingRowKeys({ table: payouts }, snapshot),
  rowKey(payoutResolutions, { payoutId: snapshot.id }),
  ...reportRowKeys(snapshot),
];

const proposeCommand = definePayoutCommand<ProposeResolution>('propose resolution of payout', {
  rowKeys: resolutionRowKeys,
  decide: (command, payout, state) => {
    const { outcome, reason, resolutionId: id, by, seen } = command;
    if (openResolution(payout, state) !== undefined) return refuse(OPEN_ALREADY);
    const { tenantId, id: payoutId, status: payoutStatus } = payout;
    const contradictions = countReports(payout, state);
    const refusal =
      unseenRefusal({ status: payoutStatus, contradictions }, seen) ??
      outcomeRefusal(payout, outcome);
    if (refusal !== null) return refuse(refusal);
    const resolution: PayoutResolution = {
      id,
      tenantId,
      payoutId,
      outcome,
      reason,
      payoutStatus,
      contradictions,
      status: 'proposed',
      proposedBy: by.name,
      proposedById: by.id,
      createdAt: state.at,
      decidedBy: null,
      decidedById: null,
      decidedAt: null,
    };
    const details = { outcome, reason, status: payoutStatus };
    const rows = [
      insertRow(payoutResolutions, resolution),
      insertAuditEntry(command, 'payout.resolve_propose', details, state),
    ];
    return accept(payout, { rows });
  },
});

const decideCommand = definePayoutCommand<DecideResolution>('decide resolution of payout', {
  accounts: ({ snapshot }) => postedAccounts(snapshot),
  rowKeys: resolutionRowKeys,
  decide: (command, payout, state) => {
    const proposal = openResolution(payout, state);
    if (proposal === undefined) return refuse(NOTHING_OPEN);
    if (proposal.id !== command.resolutionId) return refuse(ANOTHER_OPEN);
    if (command.verdict === 'reject') return recordDecision(command, proposal, payout, {}, state);
    const seen = { status: payout.status, contradictions: countReports(payout, state) };
    const refusal =
      secondPersonRefusal(proposal.proposedById, command.by.id) ??
      overtakenRefusal(seen, proposal) ??
      applyRefusal(payout, proposal.outcome, command.release, state);
    if (refusal !== null) return refuse(refusal);
    const before: Payout = { ...payout, ...NOT_FLAGGED };
    const { reference, failureCode } = denialOf(command.release) ?? NO_DETAILS;
    const report = { status: proposal.outcome, reference, failureCode };
    const effect = effectOf(before, report, 'staff');
    const fact = factAfterRelease(command.release, payout, state);
    const { after, writes } = applyReport(effect, before, report, fact, state);
    if (overflows(writes.postings ?? [], state)) return refuse(TOO_LARGE);
    const rows = [
      ...insertRailEvents(command, proposal.outcome, after, state),
      changeRow(payouts, after),
      insertOutboxEntry(command.outboxId, after, state.at),
    ];
    return recordDecision(command, proposal, after, { ...writes, rows }, state);
  },
});

const NO_DETAILS = { reference: null, failureCode: null };

/** Returns the rail's answer to a void. Null if the rail was not asked, or cannot void. */
function denialOf(release: Release | null): RailReport | null {
  return release?.by === 'void' ? release.report : null;
}

function factAfterRelease(release: Release | null, payout: Payout, state: LockedState): RailFact {
  const { words } = railRecord(payout, state);
  const denial = denialOf(release);
  const added = denial === null ? [] : [{ ...denial, at: state.at }];
  return railFact(payout, [...words, ...added]);
}

function recordDecision(
  command: DecideResolution,
  proposal: PayoutResolution,
  resource: Payout,
  writes: Writes,
  state: LockedState,
): Decision<Payout> {
  const { by, why } = command;
  const { outcome, reason, proposedBy } = proposal;
  const [status, action] =
    command.verdict === 'apply'
      ? (['applied', 'payout.resolve_approve'] as const)
      : (['rejected', 'payout.resolve_reject'] as const);
  const decision = { status, decidedBy: by.name, decidedById: by.id, decidedAt: state.at };
  const details = { outcome, reason, status: resource.status, proposed_by: proposedBy };
  const rows = [
    changeRow(payoutResolutions, { ...proposal, ...decision }),
    insertAuditEntry(command, action, { ...details, ...(why === null ? {} : { why }) }, state),
    ...(writes.rows ?? []),
  ];
  return { outcome: { done: true, resource }, writes: { ...writes, rows }, bindsKey: false };
}

/** Records the rail's denial, or that it cannot void, the resolution, and the statement lines that it resolves. */
function insertRailEvents(
  { release, eventId, snapshot }: DecideResolution,
  outcome: ResolutionOutcome,
  after: Payout,
  state: LockedState,
): RowWrite[] {
  const { at } = state;
  const [reported, effect] =
    outcome === 'unchanged' ? ([null, 'noted'] as const) : ([outcome, 'applied'] as const);
  const rows = [insertRailEvent(eventId, after, { kind: 'resolution', reported, effect, at })];
  if (release !== null) {
    const denial = denialOf(release);
    const what = { kind: 'void', reported: denial?.status ?? null, at } as const;
    const recorded = denial === null ? 'noted' : 'applied';
    rows.push(insertRailEvent(release.eventId, after, { ...what, effect: recorded }, denial));
  }
  for (const line of openLines(snapshot, state))
    rows.push(insertLineEvent(newId(), after, line, 'settled', at));
  return rows;
}

function insertAuditEntry(
  { snapshot: { id: subjectId, tenantId }, auditId, by }: ResolutionCommand,
  action: AuditAction,
  details: Readonly<Record<string, string>>,
  { at }: LockedState,
): RowWrite {
  const entry = { tenantId, subjectType: 'payout', subjectId, action, details };
  return insertRow(auditLog, auditRow(auditId, by, at, entry));
}

/**
 * A payout as shown to a member of staff. A decision is refused if its state or its open proposal
 * has changed since.
 */
export interface SeenPayout {
  readonly payout: Payout;
  readonly contradictions: SeenState['contradictions'];
  readonly proposal: PayoutResolution | undefined;
}

export async function readSeen(reader: Reader, payout: Payout): Promise<SeenPayout> {
  const [contradictions, all] = await Promise.all([
    readReportCount(reader, payout),
    listResolutions(reader, payout.id),
  ]);
  return { payout, contradictions, proposal: all.find(({ status }) => status === 'proposed') };
}

export function listResolutions(
  reader: Reader,
  payoutId: Uuid,
): Promise<readonly PayoutResolution[]> {
  return reader.select(payoutResolutions, { payoutId }, { orderBy: ['id'] });
}

/**
 * Proposes an outcome; no money moves. Repeating an `actionId` has no effect. Throws ApiError
 * authority_insufficient, invalid_field, invalid_state, ledger_unavailable.
 */
export async function proposeResolution(
  writer: LedgerWriter,
  { payout: snapshot, contradictions }: Pick<SeenPayout, 'payout' | 'contradictions'>,
  input: {
    readonly outcome: ResolutionOutcome;
    readonly reason: string;
    readonly by: StaffIdentity;
  },
  actionId: Uuid = newId(),
): Promise<Payout> {
  const { outcome, by } = input;
  assertMayAct('payout.resolve_propose', by);
  const reason = checkedText('reason', input.reason, MAX_REASON);
  const command = {
    ...resolutionCommand(snapshot, newId(), actionId, outcome, reason),
    outcome,
    reason,
    by,
  };
  const seen = { status: snapshot.status, contradictions };
  return payoutOrThrow(await writer.submit(proposeCommand, { ...command, seen }));
}

/** Rejects the proposal. Throws as `decideResolution` does. */
export function rejectResolution(
  writer: LedgerWriter,
  seen: SeenPayout,
  by: StaffIdentity,
  why: string | null = null,
): Promise<Payout> {
  return decideResolution(writer, seen, { verdict: 'reject', release: null, by, why });
}

/**
 * Applies or rejects the proposal; `approveResolution` calls the rail first. Throws ApiError
 * authority_insufficient (for example, for the proposer), invalid_state (the payout has changed, or
 * the rail may still pay it), insufficient_funds, ledger_unavailable.
 */
export async function decideResolution(
  writer: LedgerWriter,
  { payout: snapshot, proposal }: SeenPayout,
  decision: Pick<DecideResolution, 'verdict' | 'release' | 'by' | 'why'>,
): Promise<Payout> {
  const action = decision.verdict === 'apply' ? 'approve' : 'reject';
  assertMayAct(`payout.resolve_${action}`, decision.by);
  if (proposal === undefined) throw new ApiError(NOTHING_OPEN);
  const command = {
    ...resolutionCommand(snapshot, proposal.id, newId()),
    outboxId: newId(),
    ...decision,
  };
  return payoutOrThrow(await writer.submit(decideCommand, command));
}

function resolutionCommand(
  snapshot: Payout,
  resolutionId: Uuid,
  actionId: Uuid,
  ...content: readonly string[]
) {
  const fingerprint = commandFingerprint(['resolve', actionId, ...content]);
  const key = { key: `payout/${snapshot.id}/resolve/${actionId}`, fingerprint };
  const ids = { resolutionId, auditId: newId(), eventId: newId() };
  return { tenantId: snapshot.tenantId, ...key, ...ids, snapshot };
}
