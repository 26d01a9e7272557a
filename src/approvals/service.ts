import { cleanText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, assertFound, type CommandResult, type Outcome } from '../core/errors.js';
import { commandFingerprint, type Fingerprint, type RequestKey } from '../core/fingerprint.js';
import { asUuid, newId, type Uuid } from '../core/ids.js';
import { instant, maxInstant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Deadline } from '../core/timers.js';
import { string, time } from '../db/columns.js';
import type { DatabaseDeps } from '../db/database.js';
import { columnList } from '../db/statements.js';
import { performDue } from '../temporal/sweeper.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { StaffSignals } from '../staff/verification.js';
import type { StaffActionResult, ApprovalState, StaffActionSignal } from '../temporal/contracts.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import type { Sweep } from '../temporal/sweeper.js';
import { type ApprovalCommands, approvalCommands } from './commands.js';
import { type Approvable, type ApprovalFeature, expiryOf } from './decide.js';
import {
  type ApprovalActor,
  type ApprovalAction,
  EXPIRING_STATUSES,
  approvalProgress,
} from './rules.js';

const CANNOT_END_RETRY_MS = 3_600_000;

interface ActionRequest {
  readonly tenantId: Uuid;
  readonly resourceId: Uuid;
  readonly action: ApprovalAction;
  readonly actor: ApprovalActor;
  readonly reason: string | null;
  readonly key: string;
  readonly fingerprint: Fingerprint;
  /** False if the workflow itself acts: its activity returns the result. */
  readonly notifiesWorkflow: boolean;
}

export interface ApprovalDeps extends DatabaseDeps {
  readonly writer: LedgerWriter;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
}

/** Performs actions of members and staff on resources that wait for approval, and expires them. */
export class Approvals<Row extends Approvable> {
  private readonly commands: ApprovalCommands<Row>;

  /** `queuedRails`: rails with a task queue of their own, which the workflow's state then names. */
  constructor(
    private readonly feature: ApprovalFeature<Row>,
    private readonly deps: ApprovalDeps,
    private readonly queuedRails: ReadonlySet<string> = new Set(),
  ) {
    this.commands = approvalCommands(feature);
  }

  /** Approves a resource. The key is bound to the approval by this member. */
  approve(
    { tenantId, memberId, deadline }: Caller,
    resourceId: Uuid,
    idempotency: RequestKey,
  ): Promise<CommandResult<Row>> {
    const actor: ApprovalActor = { by: 'member', memberId };
    const request = { tenantId, resourceId, action: 'approve', actor, reason: null } as const;
    return this.perform({ ...request, ...idempotency, notifiesWorkflow: true }, deadline);
  }

  /** Rejects or cancels a resource. A repeated request finds that it has already ended. */
  end(
    { tenantId, memberId, deadline }: Caller,
    resourceId: Uuid,
    action: 'reject' | 'cancel',
    reason: string | null,
  ): Promise<CommandResult<Row>> {
    const actor: ApprovalActor = { by: 'member', memberId };
    const request = { tenantId, resourceId, action, actor, reason };
    const keyed = this.actionKey(resourceId, newId());
    return this.perform({ ...request, ...keyed, notifiesWorkflow: true }, deadline);
  }

  /** Performs an action of staff. Repeating an `actionId` returns the first result. */
  performByStaff(
    { id: resourceId, tenantId }: Row,
    action: ApprovalAction,
    staff: StaffIdentity,
    reason: string,
    actionId: Uuid = newId(),
  ): Promise<CommandResult<Row>> {
    const actor: ApprovalActor = { by: 'staff', staff };
    const request = { tenantId, resourceId, action, actor, reason: cleanReason(reason) };
    return this.perform({
      ...request,
      ...this.actionKey(resourceId, actionId),
      notifiesWorkflow: true,
    });
  }

  /**
   * Performs a signal's action. A malformed or unproven signal changes nothing and is recorded as
   * refused. Throws ledger_unavailable; repeating the actionId then returns the result.
   */
  async performSignal(
    signal: StaffActionSignal,
    signals: Pick<StaffSignals, 'verify'>,
  ): Promise<StaffActionResult> {
    const { resourceId, action, actionId } = signal;
    const row = await this.findForWorkflow(asUuid(resourceId));
    const { tenantId, id: subjectId, status } = row;
    const { resourceType } = this.feature;
    const subject = { tenantId, subjectType: resourceType, subjectId, details: { status } };
    const signed = await signals.verify(`${resourceType}.${action}`, signal, subject);
    if ('refused' in signed)
      return { state: await this.state(resourceId), refused: signed.refused };
    const actor: ApprovalActor = { by: 'staff', staff: signed.by };
    const request = { tenantId, resourceId: subjectId, action, actor, reason: signed.reason };
    const keyed = this.actionKey(subjectId, actionId);
    const { outcome } = await this.perform({ ...request, ...keyed, notifiesWorkflow: false });
    if (outcome.done) return { state: this.stateOf(outcome.resource), refused: null };
    if (outcome.refusal.code === 'ledger_unavailable') throw new ApiError(outcome.refusal);
    return { state: await this.state(resourceId), refused: outcome.refusal.message };
  }

  async state(resourceId: string): Promise<ApprovalState> {
    return this.stateOf(await this.findForWorkflow(asUuid(resourceId)));
  }

  stateOf(row: Row): ApprovalState {
    const progress = approvalProgress(row);
    const expiresAt = expiryOf(this.feature, row) ?? progress?.expiresAt ?? row.createdAt;
    // A resource that cannot expire is checked again later, rather than in a tight loop.
    const earliest =
      this.feature.endRefusal(row) === null
        ? expiresAt
        : instant(this.deps.clock() + CANNOT_END_RETRY_MS);
    const rail = this.feature.railOf?.(row);
    return {
      status: row.status,
      required: progress?.required ?? 0,
      received: progress?.received ?? 0,
      expiresAt: toRfc3339(maxInstant(expiresAt, earliest)),
      ...(rail !== undefined && this.queuedRails.has(rail) ? { rail } : {}),
    };
  }

  /** Expires a resource that is due. Throws not_found, ledger_unavailable. */
  async expire(resourceId: string): Promise<ApprovalState> {
    const outcome = await this.submitExpiry(await this.findForWorkflow(asUuid(resourceId)), null);
    if (!outcome.done) throw new ApiError(outcome.refusal);
    return this.stateOf(outcome.resource);
  }

  /** Expires what is due. Returns how many the last search found. Throws ledger_unavailable. */
  async expireDue(limit: number): Promise<number> {
    const { table, expiring } = this.feature;
    const canEndSql =
      expiring.cannotEndSql === undefined ? '' : ` AND NOT (${expiring.cannotEndSql})`;
    const find = (exclusionSql: string, most: number) =>
      this.deps.database.reader.query(
        `SELECT ${columnList(table, 't')} FROM ${expiring.from} AND t.status IN (${EXPIRING_STATUSES.map(string.literal).join()})${canEndSql}
         AND ${expiring.expiresAt}<=${time.literal(this.deps.clock())} ${exclusionSql} ORDER BY ${expiring.expiresAt} LIMIT ${most}`,
      );
    return performDue(table, limit, find, async (row) => {
      const outcome = await this.submitExpiry(row, newId());
      if (!outcome.done) throw new ApiError(outcome.refusal);
    });
  }

  private async submitExpiry(row: Row, outboxId: Uuid | null): Promise<Outcome<Row>> {
    const { id, tenantId } = row;
    const result = await this.deps.writer.submit(this.commands.expire, {
      tenantId,
      key: `${this.feature.resourceType}/${id}/expire`,
      fingerprint: commandFingerprint(['expire', id]),
      snapshot: row,
      outboxId,
    });
    this.notify(result, row, outboxId);
    return result.outcome;
  }

  private async perform(request: ActionRequest, deadline?: Deadline): Promise<CommandResult<Row>> {
    const { notifiesWorkflow, resourceId, ...fields } = request;
    // Another tenant's resource is not found, and its accounts are not locked.
    const where = { id: resourceId, tenantId: fields.tenantId } as Partial<Row>;
    const reader = this.deps.database.readerFor({ tenantId: fields.tenantId, deadline });
    const row = (await reader.find(this.feature.table, where)) ?? null;
    const outboxId = notifiesWorkflow ? newId() : null;
    const ids = { auditId: newId(), approvalId: newId(), outboxId };
    const command = { ...fields, ...ids, snapshot: row };
    const result = await this.deps.writer.submit(this.commands.perform, command, deadline);
    if (row !== null) this.notify(result, row, outboxId);
    return result;
  }

  private notify(
    { outcome, replayed }: CommandResult<Row>,
    before: Row,
    outboxId: Uuid | null,
  ): void {
    const isChanged = outcome.done
      ? outcome.resource.status !== before.status ||
        outcome.resource.approvalsReceived !== before.approvalsReceived
      : outcome.refusal.code === 'invalid_state' &&
        outcome.refusal.details?.current !== before.status;
    if (outboxId === null || replayed || !isChanged) return;
    const { resourceType } = this.feature;
    this.deps.notifier.notify({ id: outboxId, resourceType, resourceId: before.id });
  }

  /** Finds a resource by its id alone, because workflows have no tenant id. */
  private async findForWorkflow(id: Uuid): Promise<Row> {
    return assertFound(
      await this.deps.database.reader.find(this.feature.table, { id } as Partial<Row>),
    );
  }

  private actionKey(id: Uuid, actionId: string): RequestKey {
    const key = `${this.feature.resourceType}/${id}/action/${actionId}`;
    return { key, fingerprint: commandFingerprint(['action', id, actionId]) };
  }
}

function cleanReason(text: string | null): string | null {
  const result = cleanText(text ?? '', MAX_REASON);
  return 'clean' in result ? result.clean : null;
}

const EXPIRY_EVERY_MS = 500;
const EXPIRIES_PER_RUN = 100;

/** Returns a sweep that expires resources even while Temporal is unavailable. */
export function expirySweep(
  nouns: string,
  approvals: { expireDue(limit: number): Promise<number> },
): Sweep {
  return {
    name: `expired ${nouns}`,
    everyMs: EXPIRY_EVERY_MS,
    run: async () => (await approvals.expireDue(EXPIRIES_PER_RUN)) === EXPIRIES_PER_RUN,
  };
}
