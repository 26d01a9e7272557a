import type { CommandResult } from '../core/errors.js';
import { assertWithinQuotas } from '../access/quotas.js';
import type { RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import {
  type Batch,
  type BatchKindName,
  batches,
  batchStorage,
  storageOf,
  uploadChunks,
} from '../db/entities/batches.js';
import { outbox } from '../db/entities/outbox.js';
import { tenants } from '../db/entities/parties.js';
import { insertSql } from '../db/statements.js';
import { nullsOf } from '../db/table.js';
import { readAccount, lockOwnAccount } from '../accounts/access.js';
import { writeKeyed } from '../ledger/keyed-writes.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import { outboxEntry } from '../temporal/outbox.js';
import type { BatchKind } from './kind.js';
import { batchType } from './rules.js';
import type { FileToRead } from '../spreadsheets/worker-thread/sheet-readers.js';

export interface UploadFile {
  readonly size: number;
  readonly sha256: Buffer;
  /** Each of `CHUNK_BYTES` except the last. */
  readonly pieces: readonly Buffer[];
}

export interface UploadRequest {
  readonly sourceAccountId: Uuid;
  readonly description: string | null;
  readonly file: UploadFile;
}

interface UploadDeps extends DatabaseDeps {
  readonly kind: BatchKind;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
}

/** Stores the batch, its key and the bytes in one transaction. (docs/contract.md, Upload) */
export async function uploadBatch(
  { database, clock, notifier, kind }: UploadDeps,
  caller: Caller,
  upload: UploadRequest,
  idempotency: RequestKey,
): Promise<CommandResult<Batch>> {
  const { tenantId, deadline } = caller;
  const { upload: permission } = kind.permissions;
  const resourceType = batchType({ kind: kind.name });
  const request = {
    kind: { resourceType, table: batches },
    command: { ...idempotency, tenantId },
  } as const;
  const [id, outboxId] = [newId(), newId()];
  const result = await writeKeyed(database, request, deadline, async (transaction) => {
    await readAccount(transaction, caller, upload.sourceAccountId, permission, 'source_account');
    // Refuses early, before megabytes are written. The check under the lock decides.
    await assertWithinQuotas(transaction, tenantId, upload.file.size);
    await storeBytes(transaction, id, tenantId, upload.file);
    // The tenant's row is the lock on its stored files.
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    await assertWithinQuotas(transaction, tenantId, 0);
    // Locks the account last, so that its lock is short. No other transaction can wait for the new
    // rows, because only this one knows them.
    await lockOwnAccount(transaction, caller, upload.sourceAccountId);
    await readAccount(transaction, caller, upload.sourceAccountId, permission, 'source_account');
    const batch = newBatch(id, kind.name, caller, upload, clock());
    const entry = outboxEntry(
      { outboxId, tenantId, resourceType, resourceId: id },
      batch.createdAt,
    );
    await transaction.execute(insertSql(outbox, [entry]));
    return { row: batch };
  });
  if (result.outcome.done && !result.replayed)
    notifier.notify({ id: outboxId, resourceType, resourceId: id });
  return result;
}

async function storeBytes(
  transaction: Transaction,
  batchId: Uuid,
  tenantId: Uuid,
  { pieces, size: fileBytes }: UploadFile,
): Promise<void> {
  await transaction.execute(
    insertSql(batchStorage, [storageOf({ id: batchId, tenantId, fileBytes })]),
  );
  for (const [number, content] of pieces.entries())
    await transaction.execute(insertSql(uploadChunks, [{ batchId, number, content }]));
}

function newBatch(
  id: Uuid,
  kind: BatchKindName,
  { tenantId, memberId, tokenKeyId }: Caller,
  { sourceAccountId, description, file }: UploadRequest,
  createdAt: Batch['createdAt'],
): Batch {
  const creation = { createdBy: memberId, tokenKeyId, createdAt };
  return {
    ...nullsOf(batches),
    id,
    kind,
    tenantId,
    sourceAccountId,
    description,
    ...creation,
    status: 'validating',
    fileSha256: file.sha256,
    fileBytes: file.size,
    validationRun: 0,
    isHeld: false,
    rowCount: 0,
    rowsRejected: 0,
    rowsPaid: 0,
    rowsFailed: 0,
    hiddenRows: 0,
    totalRaw: 0n,
    feesRaw: 0n,
    settledRaw: 0n,
    duplicateCount: 0,
    duplicateRows: [],
    skippedSheets: 0,
    hiddenColumns: [],
    unreadSheets: [],
  };
}

/** A statement with a chunk as text is far smaller than any server's `max_allowed_packet`. */
export const CHUNK_BYTES = 1024 * 1024;

export function storedFile(reader: Reader, { id: batchId, fileBytes: size }: Batch): FileToRead {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let number = 0; number * CHUNK_BYTES < size; number += 1) {
      const chunk = await reader.find(uploadChunks, { batchId, number });
      if (chunk === undefined) throw new Error('the bytes of an uploaded file are missing');
      yield chunk.content;
    }
  }
  return { size, pieces };
}
