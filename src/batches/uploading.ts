import { createHash } from 'node:crypto';
import type { Fingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, Transaction } from '../db/database.js';
import { type BonusBatch, bonusBatches, uploadChunks } from '../db/entities/bonuses.js';
import { insertSql } from '../db/statements.js';
import { assertAccountAllowed, lockAccount } from '../accounts/access.js';
import type { Answer } from '../ledger/desk/types.js';
import { makeOnce } from '../ledger/once.js';
import { chunksOf } from './uploaded-file.js';

export interface UploadRequest {
  readonly sourceAccountId: Uuid;
  readonly description: string | null;
  /** 1 byte to MOST_FILE_BYTES, recognised as one of the kinds that are read. */
  readonly file: Buffer;
}

export interface UploadParts {
  readonly database: Database;
  readonly clock: Clock;
  /** What a request may wait for the ledger in all. */
  readonly timeoutMs: number;
}

/**
 * Takes a file in: the batch, its key and the bytes in one transaction. Refusals are answers: not_found,
 * authority_insufficient, idempotency_key_reused, ledger_unavailable. (interface.md, POST /v1/bonus_batches)
 */
export function uploadBatch(
  { database, clock, timeoutMs }: UploadParts,
  caller: Caller,
  upload: UploadRequest,
  idempotency: { readonly key: string; readonly fingerprint: Fingerprint },
): Promise<Answer<BonusBatch>> {
  const request = {
    ...idempotency,
    tenantId: caller.tenantId,
    resourceType: 'bonus_batch',
    table: bonusBatches,
  } as const;
  const fileSha256 = createHash('sha256').update(upload.file).digest();
  return makeOnce(database, request, timeoutMs, async (transaction) => {
    const id = newId();
    await assertAccountAllowed(transaction, 'createBonus', caller, upload.sourceAccountId);
    await storeBytes(transaction, id, upload.file);
    // Rows that nobody else can know of hold up nobody; the account is locked behind them, and only for the rest.
    await lockAccount(transaction, upload.sourceAccountId);
    await assertAccountAllowed(transaction, 'createBonus', caller, upload.sourceAccountId);
    return newBatch(id, caller, upload, fileSha256, clock());
  });
}

async function storeBytes(transaction: Transaction, batchId: Uuid, file: Buffer): Promise<void> {
  for (const chunk of chunksOf(batchId, file)) await transaction.execute(insertSql(uploadChunks, [chunk]));
}

function newBatch(
  id: Uuid,
  { tenantId, memberId }: Caller,
  { sourceAccountId, description, file }: UploadRequest,
  fileSha256: Buffer,
  createdAt: BonusBatch['createdAt'],
): BonusBatch {
  return {
    id,
    tenantId,
    sourceAccountId,
    description,
    status: 'validating',
    fileSha256,
    fileBytes: file.length,
    createdBy: memberId,
    createdAt,
    asset: null,
    rowCount: 0,
    rowsRejected: 0,
    totalRaw: 0n,
    feesRaw: 0n,
    feeAccountId: null,
    duplicateCount: 0,
    duplicateRows: [],
    sameFileBatchId: null,
    validationRun: 0,
    validatedAt: null,
    executedBy: null,
    executedAt: null,
    isHeld: false,
    rowsPaid: 0,
    rowsFailed: 0,
    settledRaw: 0n,
    pausedAt: null,
    pausedBy: null,
    canceledAt: null,
    finishedAt: null,
  };
}
