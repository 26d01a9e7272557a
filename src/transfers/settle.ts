import { type Act, type Actor, auditRow } from '../access/audit-log.js';
import { NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Approval, approvals, staff } from '../db/entities/approvals.js';
import { auditLog } from '../db/entities/identity.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { memberRoles } from '../db/entities/parties.js';
import { capabilityRefusal } from '../accounts/rules.js';
import {
  type Acting,
  type ApprovalAction,
  approverOf,
  claimedName,
  isExpired,
  judge,
  malformedRefusal,
  PENDING_APPROVAL,
  stateRefusal,
  type Verdict,
} from '../approvals/rules.js';
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
import { completion, creditRefusal } from './decide.js';
import { presentTransfer } from './presenter.js';
import { waitingOf } from './rules.js';

/**
 * How a transfer that waits for approval ends. Pure. Whoever decides first ends it: its hold is released or spent once,
 * its month is given back where nothing left, and one event says how. (decisions.md, Transfers)
 */

/** What of a transfer never changes, read before the lock to know what to lock and load. */
export type TransferFacts = Pick<
  Transfer,
  'id' | 'sourceAccountId' | 'destinationAccountId' | 'feeAccountId' | 'asset' | 'limitMonth'
>;

interface SettlementCommand extends Command {
  /** Null where the tenant has no such transfer. */
  readonly facts: TransferFacts | null;
  /** Of the entry that tells the workflow; null where the workflow itself asks. */
  readonly outboxId: Uuid | null;
}

export type ExpireTransfer = SettlementCommand;

export interface ActOnTransfer extends SettlementCommand {
  readonly action: ApprovalAction;
  readonly acting: Acting;
  /** 1 to 140 characters; null for a member's approve and cancel, and where a signal brought none. */
  readonly reason: string | null;
  /** Of the rows that this makes. */
  readonly auditId: Uuid;
  readonly approvalId: Uuid;
}

const OPERATIONS = { approve: 'approveTransfer', cancel: 'cancelTransfer' } as const;

/** Approve, reject, cancel. */
export function decideAct(command: ActOnTransfer, view: View): Decision<Transfer> {
  const transfer = transferOf(command, view);
  if (transfer === undefined) return refuse(NOT_FOUND, false);
  const malformed = malformedRefusal(command.acting, command.reason);
  if (malformed !== null) return refusedAct(command, transfer, malformed, {}, view);
  const verdict = verdictOn(command, transfer, view);
  switch (verdict.comes) {
    case 'to_nothing':
      return refusedAct(command, transfer, verdict.refusal, {}, view);
    case 'too_late': {
      const { settled, writes } = ending(command, { ...transfer, status: 'expired' }, view);
      return refusedAct(command, settled, stateRefusal('expired'), writes, view);
    }
    case 'to_the_same':
      return done(transfer, {});
    case 'to_an_end':
      return decided(command, rejected(command, transfer, rejectionBy(command), view), view);
    case 'to_an_approval': {
      const approved = { ...transfer, approvalsReceived: verdict.received };
      return decided(
        command,
        verdict.isLast ? completed(command, approved, view) : counted(command, approved, view),
        view,
      );
    }
  }
}

/** The timer's, and the sweeper's. Before its time, or after another end, it does nothing and leaves no key. */
export function decideExpiry(command: ExpireTransfer, view: View): Decision<Transfer> {
  const transfer = transferOf(command, view);
  if (transfer === undefined) return refuse(NOT_FOUND, false);
  const waiting = waitingOf(transfer);
  if (waiting?.status !== PENDING_APPROVAL || !isExpired(waiting, view.at))
    return { outcome: { done: true, resource: transfer }, writes: {}, bindsKey: false };
  const { settled, writes } = ending(command, { ...transfer, status: 'expired' }, view);
  return done(settled, writes);
}

function transferOf({ tenantId, facts }: SettlementCommand, view: View): Transfer | undefined {
  const transfer = facts === null ? undefined : view.row(transfers, { id: facts.id });
  return transfer?.tenantId === tenantId ? transfer : undefined;
}

function verdictOn({ action, acting }: ActOnTransfer, transfer: Transfer, view: View): Verdict {
  const { id, sourceAccountId, status } = transfer;
  const isMember = acting.by === 'member';
  const accountId = sourceAccountId;
  const standing = {
    role: isMember ? view.row(memberRoles, { accountId, memberId: acting.memberId })?.role : undefined,
    staff: isMember ? undefined : view.row(staff, { name: acting.name }),
  };
  // One that needed none is as good as settled; who may not act on it is told that first.
  const waiting = waitingOf(transfer) ?? {
    status,
    createdBy: transfer.createdBy,
    required: 0,
    received: 0,
    expiresAt: transfer.createdAt,
  };
  const given = view.rows(approvals, { resourceId: id });
  return judge(action, acting, waiting, { standing, approvals: given, operations: OPERATIONS, at: view.at });
}

interface Ending {
  readonly settled: Transfer;
  readonly writes: Writes;
}

const END_EVENTS = { rejected: 'transfer.rejected', expired: 'transfer.expired' } as const;

/** Nothing leaves: the hold is released and the month given back. */
function ending(
  { outboxId }: SettlementCommand,
  settled: Transfer & { readonly status: keyof typeof END_EVENTS },
  view: View,
): Ending {
  const { id, tenantId, sourceAccountId, asset, raw, feeRaw, limitMonth } = settled;
  const type = END_EVENTS[settled.status];
  return {
    settled,
    writes: {
      holds: [{ change: 'release', resourceId: id, raw: raw + feeRaw }],
      months: [{ accountId: sourceAccountId, asset, month: limitMonth, raw: -raw }],
      rows: [changeRow(transfers, settled), ...told(outboxId, settled, view)],
      events: [{ tenantId, type, resourceId: id, object: presentTransfer(settled) }],
    },
  };
}

interface Rejection {
  readonly code: string;
  readonly reason: string | null;
}

function rejectionBy({ action, reason }: ActOnTransfer): Rejection {
  return { code: action === 'reject' ? 'rejected' : 'canceled', reason };
}

function rejected(command: ActOnTransfer, transfer: Transfer, { code, reason }: Rejection, view: View): Ending {
  return ending(command, { ...transfer, status: 'rejected', rejectionCode: code, rejectionReason: reason }, view);
}

/** One of several approvals: it waits on. */
function counted({ outboxId }: ActOnTransfer, approved: Transfer, view: View): Ending {
  return { settled: approved, writes: { rows: [changeRow(transfers, approved), ...told(outboxId, approved, view)] } };
}

/** The last approval: verification and status are checked once more, and then the money moves. */
function completed(command: ActOnTransfer, approved: Transfer, view: View): Ending {
  const refusal = obstacle(approved, view);
  if (refusal !== null) return rejected(command, approved, { code: refusal.code, reason: refusal.message }, view);
  const settled: Transfer = { ...approved, status: 'completed' };
  return {
    settled,
    writes: {
      ...completion(settled),
      holds: [{ change: 'release', resourceId: settled.id, raw: settled.raw + settled.feeRaw }],
      rows: [changeRow(transfers, settled), ...told(command.outboxId, settled, view)],
    },
  };
}

function obstacle(transfer: Transfer, view: View): Refusal | null {
  const { sourceAccountId, destinationAccountId, feeRaw, feeAccountId, raw, asset } = transfer;
  const source = view.account(sourceAccountId);
  const destination = view.account(destinationAccountId);
  if (source === undefined || destination === undefined) throw new Error('an account of a transfer does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return refusal;
  if (destination.account.status === 'closed') return NOT_FOUND;
  return creditRefusal(view, destination, { raw: feeRaw, accountId: feeAccountId }, { raw, asset });
}

function told(outboxId: Uuid | null, { id, tenantId }: Transfer, { at }: View): RowWrite[] {
  return outboxId === null ? [] : [outboxWrite({ outboxId, tenantId, resourceType: 'transfer', resourceId: id }, at)];
}

function done(resource: Transfer, writes: Writes): Decision<Transfer> {
  return { outcome: { done: true, resource }, writes, bindsKey: true };
}

/** The act did what it was asked: it is recorded, and an approval is kept. */
function decided(command: ActOnTransfer, { settled, writes }: Ending, view: View): Decision<Transfer> {
  const { action, acting, approvalId, reason } = command;
  const details = { status: settled.status, received: settled.approvalsReceived, reason };
  const rows = [...(writes.rows ?? []), audited(command, settled, `transfer.${action}`, details, view)];
  if (action === 'approve') rows.push(insertRow(approvals, approvalRow(approvalId, acting, settled, view)));
  return done(settled, { ...writes, rows });
}

/**
 * The act changed nothing, but may have found the transfer past its expiry. What the staff tried is recorded, and its key
 * bound: asked twice, it is recorded once.
 */
function refusedAct(
  command: ActOnTransfer,
  transfer: Transfer,
  refusal: Refusal,
  writes: Writes,
  view: View,
): Decision<Transfer> {
  const { action, acting, reason } = command;
  if (acting.by === 'member') return { ...refuse(refusal, false), writes };
  const details = { status: transfer.status, refused: refusal.message, reason };
  const row = audited(command, transfer, `transfer.${action}_refused`, details, view);
  return { ...refuse(refusal, true), writes: { ...writes, rows: [...(writes.rows ?? []), row] } };
}

function audited(
  { auditId, acting }: ActOnTransfer,
  { id, tenantId }: Transfer,
  action: string,
  details: NonNullable<Act['details']>,
  { at }: View,
): RowWrite {
  const act: Act = { tenantId, action, subjectType: 'transfer', subjectId: id, details };
  return insertRow(auditLog, auditRow(auditId, actorOf(acting), at, act));
}

function actorOf(acting: Acting): Actor {
  return { channel: acting.by === 'member' ? 'api' : acting.channel, name: claimedName(acting) };
}

function approvalRow(id: Uuid, acting: Acting, transfer: Transfer, { at }: View): Approval {
  return {
    id,
    resourceType: 'transfer',
    resourceId: transfer.id,
    approver: approverOf(acting),
    memberId: acting.by === 'member' ? acting.memberId : null,
    actorClaimed: claimedName(acting),
    channel: actorOf(acting).channel,
    createdAt: at,
  };
}
