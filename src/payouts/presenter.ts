import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { Payout } from '../db/entities/payouts.js';
import { presentApproval } from '../approvals/schemas-approvable.js';
import type { z } from '../http/zod.js';
import { transitionsOf } from './rules.js';
import type { PayoutSchema } from './schemas.js';

/**
 * Presents a payout in responses and events, with only the end of the account number.
 * (docs/contract.md, Payouts)
 */
export function presentPayout(payout: Payout): z.output<typeof PayoutSchema> {
  const { asset } = payout;
  return {
    id: payout.id,
    scope: 'external',
    status: payout.status,
    source_account: payout.sourceAccountId,
    destination: {
      type: 'bank_account',
      country: payout.country,
      bank_code: payout.bankCode,
      account_type: payout.accountType,
      account_number: `****${payout.accountEnd}`,
      holder_name: payout.holderName,
    },
    amount: amountJson({ raw: payout.raw, asset }),
    fee: amountJson({ raw: payout.feeRaw, asset }),
    description: payout.description,
    created_at: toRfc3339(payout.createdAt),
    approval: presentApproval(payout),
    rejection:
      payout.rejectionCode === null
        ? null
        : { code: payout.rejectionCode, reason: payout.rejectionReason },
    failure:
      payout.failureCode === null
        ? null
        : { code: payout.failureCode, message: payout.failureMessage ?? '' },
    rail_reference: payout.railReference,
    status_transitions: transitionsOf(payout).map(({ status, at }) => ({
      status,
      at: toRfc3339(at),
    })),
  };
}
