import {
  listOperations,
  type OperationFilter,
  type OperationList,
  readOperation,
} from '../operations/operation-list.js';
import { ApiError, type CommandResult } from '../core/errors.js';
import { commandFingerprint, type RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Page, TimePosition } from '../core/page.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps } from '../db/database.js';
import {
  type BatchRowStatus,
  type BatchType,
  type Batch,
  batches,
  type BatchRow,
  batchStorage,
} from '../db/entities/batches.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { CommandKind } from '../ledger/writer/types.js';
import type { FileKind } from '../spreadsheets/open-sheet.js';
import { pieceReader, StoredFiles } from '../spreadsheets/generated-files.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import { executeCommand, withdrawCommand } from './commands.js';
import { EarlierPaymentsReader } from './earlier-payments.js';
import { batchList, readBatchRows, readReviews } from './read-batches.js';
import { readPayoutCounts } from './payout-counts.js';
import type { BatchKind } from './kind.js';
import { isKnownToRail } from './restored-rows.js';
import { type BatchFile, batchType, hasFile } from './rules.js';
import type { ReviewedBatch } from './schemas-fields.js';
import type { MemberCommand } from './withdrawal.js';
import { uploadBatch, type UploadRequest } from './upload.js';

interface BatchesDeps extends DatabaseDeps {
  readonly writer: LedgerWriter;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
}

/** Batches as members use them. Reading throws `not_found` and `authority_insufficient`. */
export class Batches {
  private readonly files = new StoredFiles();
  private readonly earlierPayments: EarlierPaymentsReader;

  private readonly commands: Readonly<
    Record<'execute' | 'withdraw', CommandKind<MemberCommand, Batch>>
  >;
  private readonly operations: OperationList<Batch>;

  constructor(
    private readonly deps: BatchesDeps,
    readonly kind: BatchKind,
  ) {
    this.earlierPayments = new EarlierPaymentsReader(deps);
    this.commands = { execute: executeCommand(kind), withdraw: withdrawCommand(kind) };
    this.operations = batchList(kind.name);
  }

  private get type(): BatchType {
    return batchType({ kind: this.kind.name });
  }

  /** Returns refusals and unknown results too. */
  upload(
    caller: Caller,
    request: UploadRequest,
    idempotency: RequestKey,
  ): Promise<CommandResult<Batch>> {
    return uploadBatch({ ...this.deps, kind: this.kind }, caller, request, idempotency);
  }

  /** The fingerprint includes the member. (docs/contract.md, Execution) */
  execute(caller: Caller, batchId: Uuid, idempotency: RequestKey): Promise<CommandResult<Batch>> {
    return this.submit(this.commands.execute, caller, batchId, idempotency);
  }

  withdraw(caller: Caller, batchId: Uuid): Promise<CommandResult<Batch>> {
    const actionId = newId();
    const key = `${this.type}/${batchId}/action/${actionId}`;
    const fingerprint = commandFingerprint(['action', batchId, actionId]);
    return this.submit(this.commands.withdraw, caller, batchId, { key, fingerprint });
  }

  private async submit(
    kind: CommandKind<MemberCommand, Batch>,
    caller: Caller,
    batchId: Uuid,
    keyed: RequestKey,
  ): Promise<CommandResult<Batch>> {
    const { tenantId, memberId, deadline } = caller;
    const reader = this.deps.database.readerFor(caller);
    const batch = await reader.find(batches, { id: batchId, tenantId, kind: this.kind.name });
    const outboxId = newId();
    const sourceAccountId = batch?.sourceAccountId ?? null;
    const isEnded = kind === this.commands.withdraw && batch !== undefined;
    const isAtRail = isEnded && (await isKnownToRail(reader, batch));
    const target = { tenantId, memberId, batchId, sourceAccountId, outboxId };
    const command = { ...keyed, ...target, isKnownToRail: isAtRail };
    const result = await this.deps.writer.submit(kind, command, deadline);
    if (result.outcome.done && !result.replayed)
      this.deps.notifier.notify({ id: outboxId, resourceType: this.type, resourceId: batchId });
    return result;
  }

  async read(caller: Caller, id: Uuid): Promise<ReviewedBatch> {
    const reader = this.deps.database.readerFor(caller);
    const batch = await readOperation(this.operations, reader, caller, id);
    const review = (await readReviews(reader, [batch])).get(batch.id);
    if (review === undefined) return this.withPayouts(caller, batch);
    const earlier = await this.earlierPayments.read(reader, batch);
    return { batch, review: { ...review, earlier }, payouts: null };
  }

  /** Returns the result of an action with the batch as it is shown then. */
  async after(
    caller: Caller,
    { outcome, replayed }: CommandResult<Batch>,
  ): Promise<CommandResult<ReviewedBatch>> {
    if (!outcome.done) return { outcome, replayed };
    const resource = await this.withPayouts(caller, outcome.resource);
    return { outcome: { done: true, resource }, replayed };
  }

  /**
   * Returns the result of an upload, of which a replay finds the batch as it is now. Without a review
   * for a member who may not read the batch.
   */
  async afterUpload(
    caller: Caller,
    result: CommandResult<Batch>,
  ): Promise<CommandResult<ReviewedBatch>> {
    const { outcome } = result;
    try {
      if (!outcome.done || !result.replayed) return await this.after(caller, result);
      const resource = await this.read(caller, outcome.resource.id);
      return { ...result, outcome: { done: true, resource } };
    } catch (refused) {
      if (refused instanceof ApiError) return this.after(caller, result);
      throw refused;
    }
  }

  private async withPayouts(caller: Caller, batch: Batch): Promise<ReviewedBatch> {
    const counts = await readPayoutCounts(this.deps.database.readerFor(caller), [batch]);
    return { batch, review: null, payouts: counts.get(batch.id) ?? null };
  }

  async list(
    caller: Caller,
    filter: OperationFilter,
    before: TimePosition | null,
    limit: number,
  ): Promise<{
    readonly items: readonly ReviewedBatch[];
    readonly next: Page<Batch>['next'];
  }> {
    const reader = this.deps.database.readerFor(caller);
    const page = await listOperations(this.operations, reader, caller, filter, before, limit);
    const [reviews, counts] = await Promise.all([
      readReviews(reader, page.items),
      readPayoutCounts(reader, page.items),
    ]);
    return {
      items: page.items.map((batch) => {
        const { id } = batch;
        return { batch, review: reviews.get(id) ?? null, payouts: counts.get(id) ?? null };
      }),
      next: page.next,
    };
  }

  async file(
    caller: Caller,
    id: Uuid,
    file: BatchFile,
    format: FileKind,
  ): Promise<AsyncIterable<Buffer>> {
    const reader = this.deps.database.readerFor(caller);
    const batch = await readOperation(this.operations, reader, caller, id);
    const storage = hasFile(batch, file)
      ? await reader.find(batchStorage, { batchId: id })
      : undefined;
    const size = format === 'csv' ? storage?.csvBytes : storage?.xlsxBytes;
    const stored = { tenantId: caller.tenantId, id, format, size };
    // The download itself may take longer than the request's deadline.
    return this.files.open(stored, pieceReader(this.deps.database.reader, id, format));
  }

  async rows(
    caller: Caller,
    id: Uuid,
    status: BatchRowStatus | undefined,
    after: number,
    limit: number,
  ): Promise<{
    readonly batch: Batch;
    readonly items: readonly BatchRow[];
    readonly next: number | null;
  }> {
    const reader = this.deps.database.readerFor(caller);
    const batch = await readOperation(this.operations, reader, caller, id);
    const read = await readBatchRows(reader, batch, { status }, after, limit + 1);
    const items = read.slice(0, limit);
    return { batch, items, next: read.length > limit ? (items.at(-1)?.number ?? null) : null };
  }
}
