import { ApiError, NOT_FOUND } from '../core/errors.js';
import { commandFingerprint, type Fingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Clock, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import { cleanText } from '../core/checked-text.js';
import { time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import type { Acting, ApprovalAction } from '../approvals/rules.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { Answer, Outcome } from '../ledger/desk/types.js';
import type { ActResult, ApprovalState, StaffAct } from '../temporal/contracts.js';
import type { Nudge } from '../temporal/nudge.js';
import { actOnTransfer, expireTransfer } from './commands.js';
import { waitingOf } from './rules.js';
import type { TransferFacts } from './settle.js';

export const MAX_REASON = 140;
const MAX_ACTOR = 80;

/** Who acts on which transfer, and under which key a repetition is known. */
export interface WantedAct {
  readonly tenantId: Uuid;
  readonly transferId: Uuid;
  readonly action: ApprovalAction;
  readonly acting: Acting;
  readonly reason: string | null;
  readonly key: string;
  readonly fingerprint: Fingerprint;
  /** False where the workflow itself asks, and learns of the result by its activity. */
  readonly tellWorkflow: boolean;
}

/** What may be done with a transfer that waits for approval: by members, by the staff, by time. */
export class TransferApprovals {
  private readonly desk: PostingDesk;
  private readonly reader: Reader;
  private readonly clock: Clock;
  private readonly nudge: Pick<Nudge, 'tell'>;

  constructor(desk: PostingDesk, reader: Reader, clock: Clock, nudge: Pick<Nudge, 'tell'>) {
    this.desk = desk;
    this.reader = reader;
    this.clock = clock;
    this.nudge = nudge;
  }

  /** POST …/approve. The key binds the approval, for this member. */
  approve(
    { tenantId, memberId }: Caller,
    transferId: Uuid,
    idempotency: { readonly key: string; readonly fingerprint: Fingerprint },
  ): Promise<Answer<Transfer>> {
    const acting: Acting = { by: 'member', memberId };
    return this.act({
      tenantId,
      transferId,
      action: 'approve',
      acting,
      reason: null,
      ...idempotency,
      tellWorkflow: true,
    });
  }

  /** POST …/reject and …/cancel: asked again, they find it settled. */
  end(
    { tenantId, memberId }: Caller,
    transferId: Uuid,
    action: 'reject' | 'cancel',
    reason: string | null,
  ): Promise<Answer<Transfer>> {
    const acting: Acting = { by: 'member', memberId };
    return this.act({
      tenantId,
      transferId,
      action,
      acting,
      reason,
      ...actKey(transferId, newId()),
      tellWorkflow: true,
    });
  }

  /** An operator's command, which decides in MySQL and tells the workflow then. */
  actByOperator(
    { id: transferId, tenantId }: Transfer,
    action: ApprovalAction,
    actor: string,
    reason: string,
  ): Promise<Answer<Transfer>> {
    const acting: Acting = { by: 'staff', name: actor, channel: 'ops' };
    return this.act({
      tenantId,
      transferId,
      action,
      acting,
      reason,
      ...actKey(transferId, newId()),
      tellWorkflow: true,
    });
  }

  /**
   * A signal's act. What is malformed, or claimed by nobody who may, changes nothing and is recorded as refused. Throws
   * ApiError ledger_unavailable: the result is unknown, and asking again with the same actId tells it.
   */
  async actBySignal({ resourceId, action, actor, reason, actId }: StaffAct): Promise<ActResult> {
    const transfer = await this.find(resourceId as Uuid);
    const acting: Acting = { by: 'staff', name: cleaned(actor, MAX_ACTOR) ?? '', channel: 'temporal' };
    const { outcome } = await this.act({
      tenantId: transfer.tenantId,
      transferId: transfer.id,
      action,
      acting,
      reason: cleaned(reason, MAX_REASON),
      ...actKey(transfer.id, actId),
      tellWorkflow: false,
    });
    if (outcome.done) return { state: stateOf(outcome.resource), refused: null };
    if (outcome.refusal.code === 'ledger_unavailable') throw new ApiError(outcome.refusal);
    return { state: await this.state(resourceId), refused: outcome.refusal.message };
  }

  /** Where the transfer stands. Throws ApiError not_found. */
  async state(transferId: string): Promise<ApprovalState> {
    return stateOf(await this.find(transferId as Uuid));
  }

  /** Ends the transfer if its time is over; otherwise nothing happens. Throws ApiError not_found, ledger_unavailable. */
  async expire(transferId: string): Promise<ApprovalState> {
    const transfer = await this.find(transferId as Uuid);
    const outcome = await this.submitExpiry(transfer, null);
    if (!outcome.done) throw new ApiError(outcome.refusal);
    return stateOf(outcome.resource);
  }

  /** Ends those whose time is over, at most `limit`. Answers how many were found. */
  async expireDue(limit: number): Promise<number> {
    const due = await this.reader.query(
      `SELECT ${columnList(transfers)} FROM transfers FORCE INDEX (expiring)
       WHERE status=${literal(transfers, 'status', 'pending_approval')} AND approval_expires_at<=${time.literal(this.clock())}
       ORDER BY approval_expires_at LIMIT ${Math.trunc(limit)}`,
    );
    await Promise.all(due.map((row) => this.submitExpiry(parseRow(transfers, row), newId())));
    return due.length;
  }

  private async submitExpiry(transfer: Transfer, outboxId: Uuid | null): Promise<Outcome<Transfer>> {
    const { id, tenantId } = transfer;
    const answer = await this.desk.submit(expireTransfer, {
      tenantId,
      key: `transfer/${id}/expire`,
      fingerprint: commandFingerprint(['expire', id]),
      facts: transfer,
      outboxId,
    });
    this.tell(answer, outboxId, id);
    return answer.outcome;
  }

  private async act({ tellWorkflow, transferId, ...wanted }: WantedAct): Promise<Answer<Transfer>> {
    const facts: TransferFacts | null =
      (await this.reader.find(transfers, { id: transferId, tenantId: wanted.tenantId })) ?? null;
    const outboxId = tellWorkflow ? newId() : null;
    const ids = { auditId: newId(), approvalId: newId() };
    const answer = await this.desk.submit(actOnTransfer, { ...wanted, ...ids, facts, outboxId });
    this.tell(answer, outboxId, transferId);
    return answer;
  }

  private tell({ outcome, replayed }: Answer<Transfer>, outboxId: Uuid | null, resourceId: Uuid): void {
    const mayHaveWritten = outcome.done || outcome.refusal.code === 'invalid_state';
    if (outboxId !== null && !replayed && mayHaveWritten)
      this.nudge.tell({ id: outboxId, resourceType: 'transfer', resourceId });
  }

  private async find(id: Uuid): Promise<Transfer> {
    const transfer = await this.reader.find(transfers, { id });
    if (transfer === undefined) throw new ApiError(NOT_FOUND);
    return transfer;
  }
}

/** The key of an act that no client's key stands for. */
function actKey(transferId: Uuid, actId: string): { key: string; fingerprint: Fingerprint } {
  return { key: `transfer/${transferId}/act/${actId}`, fingerprint: commandFingerprint(['act', transferId, actId]) };
}

/** What a signal brought, as it may be stored; null when it is no text that may. */
function cleaned(text: string | null, max: number): string | null {
  const result = cleanText(text ?? '', max);
  return 'clean' in result ? result.clean : null;
}

function stateOf(transfer: Transfer): ApprovalState {
  const waiting = waitingOf(transfer);
  return {
    status: transfer.status,
    required: waiting?.required ?? 0,
    received: waiting?.received ?? 0,
    expiresAt: toRfc3339(waiting?.expiresAt ?? transfer.createdAt),
  };
}
