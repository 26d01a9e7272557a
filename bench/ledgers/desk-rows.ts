import { createHash } from 'node:crypto';
import { idFromDigest, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import type { Reader } from '../../src/db/database.js';
import { type Batch, batches, batchProblems, batchRows } from '../../src/db/entities/batches.js';
import { chainedAuditLog } from '../../src/db/entities/identity.js';
import { holds } from '../../src/db/entities/ledger.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import { type Payout, payouts } from '../../src/db/entities/payouts.js';
import { nullsOf } from '../../src/db/table.js';
import { type Loader, loadTable } from './load-table.js';

/** Rows that the support desk lists: what waits, a batch with its rows and problems, and decisions. */

const DAY_MS = 86_400_000;
/** Of the lines of the audit log, one in this many is a decision of the staff. */
const DECIDED_EVERY = 100;
/** Follows all lines that the ledger has. */
const FIRST_SEQUENCE = 1_000_000;
/** Of the rows of the batch, one in this many has failed. */
const FAILED_EVERY = 10;

/** Adds this many rows to each list. All are a day old, so that the index of words has them. */
export async function addDeskRows(
  loader: Loader,
  reader: Reader,
  count: number,
  now: Instant,
): Promise<void> {
  const [transfer] = await reader.list(transfers, 'ORDER BY id DESC LIMIT 1');
  if (transfer === undefined) throw new Error('the ledger has no transfers');
  const at = instant(now - DAY_MS);
  const numbers = Array.from({ length: count }, (_, number) => number);
  const waiting = numbers.map((number) => waitingTransfer(transfer, idOf('t', at, number), now));
  await loadTable(loader, transfers, waiting);
  await loadTable(
    loader,
    holds,
    waiting.map(({ id, sourceAccountId: accountId, asset, raw, createdAt, approvalExpiresAt }) => ({
      ...{ resourceId: id, resourceType: 'transfer' as const, accountId, asset, raw },
      ...{ remaining: raw, createdAt, expiresAt: approvalExpiresAt },
    })),
  );
  const states: readonly Partial<Payout>[] = [
    { status: 'pending_approval', approvalExpiresAt: waiting[0]?.approvalExpiresAt ?? null },
    { status: 'in_progress', approvedAt: at, submittedAt: at },
    { status: 'in_progress', approvedAt: at, submittedAt: at, stuckSince: at },
  ];
  for (const [index, state] of states.entries())
    await loadTable(
      loader,
      payouts,
      numbers.map((number) => payout(transfer, idOf(`p${index}`, at, number), number, state)),
    );
  const batch = batchOf(transfer, idOf('b', at, 0), count);
  await loadTable(loader, batches, [batch]);
  await loadTable(
    loader,
    batchRows,
    numbers.map((number) => batchRow(batch, number)),
  );
  await loadTable(
    loader,
    batchProblems,
    numbers.map((number) => ({
      ...{ batchId: batch.id, number: number + 2, ordinal: 0, field: 'amount' },
      ...{ code: 'malformed', message: 'is not a number', value: `${number},x` },
    })),
  );
  await loadTable(
    loader,
    chainedAuditLog,
    numbers.map((number) => ({
      ...{ id: idOf('a', at, number), tenantId: transfer.tenantId, at, chainId: transfer.tenantId },
      channel: number % DECIDED_EVERY === 0 ? ('support' as const) : ('api' as const),
      ...{ actorClaimed: 'bench', action: 'transfer.reject', subjectType: 'transfer' },
      ...{ subjectId: waiting[number]?.id ?? '', details: '{"reason":"Asked for in ticket 118"}' },
      ...{
        sequence: BigInt(FIRST_SEQUENCE + number),
        previousHash: Buffer.alloc(32),
        hash: Buffer.alloc(32),
      },
    })),
  );
}

function idOf(kind: string, at: Instant, number: number): Uuid {
  return idFromDigest(at + number, createHash('sha256').update(`${kind}${number}`).digest());
}

function waitingTransfer(transfer: Transfer, id: Uuid, now: Instant): Transfer {
  return {
    ...transfer,
    ...{ id, status: 'pending_approval', approvalsRequired: 1, approvalsReceived: 0 },
    approvalExpiresAt: instant(now + 365 * DAY_MS),
  };
}

function payout(transfer: Transfer, id: Uuid, number: number, state: Partial<Payout>): Payout {
  const { tenantId, sourceAccountId, asset, raw, createdBy, limitMonth, createdAt } = transfer;
  return {
    ...nullsOf(payouts),
    ...{ id, tenantId, sourceAccountId, asset, raw, feeRaw: 0n, createdBy, limitMonth, createdAt },
    ...{ systemAccountId: sourceAccountId, country: 'CO', bankCode: '0007', accountEnd: '6789' },
    ...{ accountType: 'savings', holderName: `Proveedor ${number}`, rail: 'simulated' },
    ...{ description: 'Factura', status: 'approved', approvalsRequired: 1, approvalsReceived: 0 },
    attempts: 1,
    ...state,
    stuckReason: state.stuckSince === undefined ? null : 'no_outcome',
  };
}

function batchOf(transfer: Transfer, id: Uuid, count: number): Batch {
  const { tenantId, sourceAccountId, asset, raw, createdBy, createdAt } = transfer;
  return {
    ...nullsOf(batches),
    ...{ id, kind: 'bonus', tenantId, sourceAccountId, asset, createdBy, createdAt },
    ...{ status: 'executing', fileSha256: Buffer.alloc(32), fileBytes: 1, tokenKeyId: 'bench' },
    ...{ rowCount: count, rowsRejected: 0, totalRaw: raw * BigInt(count), feesRaw: 0n },
    ...{ duplicateCount: 0, duplicateRows: [], hiddenRows: 0, hiddenColumns: [] },
    ...{ skippedSheets: 0, unreadSheets: [], validationRun: 1, isHeld: false, settledRaw: 0n },
    ...{ validatedAt: createdAt, executedBy: createdBy, executedAt: createdAt },
    ...{ rowsPaid: 0, rowsFailed: Math.ceil(count / FAILED_EVERY) },
  };
}

function batchRow({ id: batchId, createdAt, totalRaw, rowCount }: Batch, number: number) {
  const isFailed = number % FAILED_EVERY === 0;
  return {
    ...nullsOf(batchRows),
    ...{ id: idOf('r', createdAt, number), batchId, number: number + 2, recipient: `$p${number}` },
    ...{ recipientKey: batchId, raw: totalRaw / BigInt(rowCount), feeRaw: 0n },
    ...{ description: 'Bono de noviembre', reference: `NOV-${number}`, metadata: null },
    status: isFailed ? ('failed' as const) : ('pending' as const),
    ...(isFailed && { code: 'account_frozen', message: 'is frozen', settledAt: createdAt }),
  };
}
