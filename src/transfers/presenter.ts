import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { Transfer } from '../db/entities/operations.js';
import { presentApproval } from '../approvals/presenter.js';
import type { z } from '../http/zod.js';
import type { TransferSchema } from './schemas.js';

/** Returns the Transfer as responses and events show it. (docs/contract.md, Transfers) */
export function presentTransfer(transfer: Transfer): z.output<typeof TransferSchema> {
  const { asset } = transfer;
  return {
    id: transfer.id,
    scope: 'internal',
    status: transfer.status,
    source_account: transfer.sourceAccountId,
    destination: { type: 'account', account_id: transfer.destinationAccountId },
    amount: amountJson({ raw: transfer.raw, asset }),
    fee: amountJson({ raw: transfer.feeRaw, asset }),
    description: transfer.description,
    created_at: toRfc3339(transfer.createdAt),
    approval: presentApproval(transfer),
    rejection:
      transfer.rejectionCode === null
        ? null
        : { code: transfer.rejectionCode, reason: transfer.rejectionReason },
  };
}
