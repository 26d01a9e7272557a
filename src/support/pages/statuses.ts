import { isPaused, pendingRows } from '../../batches/rules.js';
import type { Batch } from '../../db/entities/batches.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import { type Content, html } from '../html.js';
import { inWords } from '../reading/payouts.js';
import { tag } from './layout.js';

/** States of resources as text and tags. */

export function paymentsText(batch: Batch): string {
  const done = batch.kind === 'bonus' ? 'paid' : 'made into payouts';
  return `${batch.rowsPaid} ${done}, ${batch.rowsFailed} failed, ${pendingRows(batch)} to be paid`;
}

export function progressText(batch: Batch): string | null {
  if (batch.status === 'executing') return paymentsText(batch);
  return rejectionText(batch);
}

/** Returns why the batch was rejected. Returns null for another batch. */
export function rejectionText({ status, rejectionCode }: Batch): string | null {
  return status === 'rejected' ? (inWords(rejectionCode) ?? 'the file has problems') : null;
}

export function batchTitle({ kind, status, rowCount }: Batch): string {
  if (status === 'validating') return 'Batch that is being validated';
  const plural = kind === 'bonus' ? 'bonuses' : 'payouts';
  return `Batch of ${rowCount} ${rowCount === 1 ? kind : plural}`;
}

export function batchStatus(batch: Batch): Content {
  return [tag(batch.status), isPaused(batch) ? html` ${tag('paused')}` : ''];
}

export const CANCELED = 'canceled';

export function operationStatus(operation: Transfer | Payout): Content {
  const { status, rejectionCode } = operation;
  const isStuck = 'stuckSince' in operation && operation.stuckSince !== null;
  // A canceled transfer is `rejected` with this code.
  const isCanceled = status === 'rejected' && rejectionCode === CANCELED;
  return [tag(status, isCanceled ? CANCELED : status), isStuck ? html` ${tag('stuck')}` : ''];
}

export function endpointStatus({ status, pausedAt, failingSince }: WebhookEndpoint): Content {
  return [
    tag(status, status === 'enabled' && failingSince !== null ? 'failing' : status),
    pausedAt === null ? '' : html` ${tag('paused')}`,
  ];
}
