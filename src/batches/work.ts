import { type Actor, auditRow } from '../access/audit-log.js';
import { findStaff } from '../access/staff.js';
import { cleanText } from '../core/checked-text.js';
import { ApiError, notFound } from '../core/errors.js';
import { asUuid, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Shares } from '../core/shares.js';
import type { Database } from '../db/database.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { auditLog } from '../db/entities/identity.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import type { BatchAct, BatchPayment, BatchState } from '../temporal/contracts.js';
import { BatchExecution } from './execution.js';
import type { SheetReaders } from './files/apart/sheet-readers.js';
import { cancelBatch, pauseBatch, resumeBatch } from './steering.js';
import { validateBatch, type Watch } from './validation/run.js';

export interface BatchServiceParts {
  readonly database: Database;
  readonly desk: PostingDesk;
  readonly clock: Clock;
  /** Where tenants reach the API: events name files there. */
  readonly baseUrl: string;
  readonly sheets: Pick<SheetReaders, 'rows'>;
  /** How many batches this process validates, and how many it pays, at a time: of a tenant and in all. */
  readonly shares: { readonly validating: Shares; readonly paying: Shares };
}

const MAX_ACTOR = 80;
const MAX_REASON = 140;

/** What the workflow of a batch has done in MySQL. Every method may be called twice, and late. */
export class BatchService {
  private readonly parts: BatchServiceParts;
  private readonly execution: BatchExecution;

  constructor(parts: BatchServiceParts) {
    this.parts = parts;
    this.execution = new BatchExecution(parts);
  }

  /** Throws not_found. */
  async state(batchId: Uuid): Promise<BatchState> {
    return stateOf(await this.parts.database.reader.find(bonusBatches, { id: batchId }));
  }

  /** Throws not_found, ShareTaken, DatabaseUnavailable, and the signal's reason: it begins again then. */
  validate(batchId: Uuid, watch: Watch): Promise<BatchState> {
    const { sheets, shares } = this.parts;
    const parts = { ...this.parts, openSheet: sheets.rows.bind(sheets) };
    return this.within(shares.validating, batchId, async () => stateOf(await validateBatch(parts, batchId, watch)));
  }

  /** Pays until the signal, or an end. Throws not_found, ShareTaken, DatabaseUnavailable. */
  pay(batchId: Uuid, watch: Watch): Promise<BatchPayment> {
    return this.within(this.parts.shares.paying, batchId, async () => {
      const end = await this.execution.pay(batchId, watch);
      return { end, state: await this.state(batchId) };
    });
  }

  private async within<T>(shares: Shares, batchId: Uuid, work: () => Promise<T>): Promise<T> {
    const batch = await this.parts.database.reader.find(bonusBatches, { id: batchId });
    if (batch === undefined) throw notFound();
    const leave = shares.take(batch.tenantId);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * What a signal asks: by active staff who may cancel, with a reason. Anything else changes nothing and is recorded.
   * Answers why it was refused, or null. Throws not_found, ledger_unavailable.
   */
  async actBySignal(act: BatchAct): Promise<string | null> {
    const id = asUuid(act.batchId);
    const name = cleaned(act.actor, MAX_ACTOR);
    const reason = cleaned(act.reason, MAX_REASON);
    const actor: Actor = { channel: 'temporal', name: name ?? '' };
    const refused = (await this.refusal(name, reason)) ?? (await this.steer(act, id, actor, reason ?? ''));
    if (refused !== null) await this.recordRefusal(act, id, actor, refused);
    return refused;
  }

  private async refusal(name: string | null, reason: string | null): Promise<string | null> {
    if (name === null) return 'no actor was named';
    if (reason === null) return `no reason of 1 to ${MAX_REASON} characters was given`;
    const person = await findStaff(this.parts.database.reader, name);
    if (person?.active !== true) return `${name} is not active staff`;
    return person.rights.includes('cancel') ? null : `${name} lacks the right to cancel`;
  }

  private async steer({ action }: BatchAct, id: Uuid, actor: Actor, reason: string): Promise<string | null> {
    try {
      if (action === 'pause') await pauseBatch(this.parts, id, actor);
      else if (action === 'resume') await resumeBatch(this.parts, id, actor);
      else await cancelBatch(this.parts, id, actor, reason);
      return null;
    } catch (failure) {
      if (failure instanceof ApiError && failure.refusal.code === 'invalid_state') return failure.message;
      throw failure;
    }
  }

  /** Under the act's own id: recorded once, however often the activity runs. */
  private async recordRefusal(
    { action, actId }: BatchAct,
    batchId: Uuid,
    actor: Actor,
    refused: string,
  ): Promise<void> {
    const id = asUuid(actId);
    await transact(this.parts.database, async (transaction) => {
      const batch = await transaction.find(bonusBatches, { id: batchId });
      if (batch === undefined) throw notFound();
      if ((await transaction.find(auditLog, { id })) !== undefined) return;
      const subject = { tenantId: batch.tenantId, subjectType: 'bonus_batch', subjectId: batchId };
      const done = { ...subject, action: `bonus_batch.${action}_refused`, details: { refused } };
      await transaction.execute(insertSql(auditLog, [auditRow(id, actor, this.parts.clock(), done)]));
    });
  }
}

function stateOf(batch: BonusBatch | undefined): BatchState {
  if (batch === undefined) throw notFound();
  const { status, rowCount, rowsRejected, rowsPaid, rowsFailed, pausedAt, canceledAt } = batch;
  return {
    status,
    rows: rowCount,
    rejected: rowsRejected,
    paid: rowsPaid,
    failed: rowsFailed,
    isPaused: status === 'executing' && pausedAt !== null && canceledAt === null,
  };
}

function cleaned(text: string | null, max: number): string | null {
  const result = cleanText(text ?? '', max);
  return 'clean' in result ? result.clean : null;
}
