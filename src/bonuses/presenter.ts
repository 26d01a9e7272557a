import { amountJson } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { Bonus } from '../db/entities/bonuses.js';
import type { z } from '../http/zod.js';
import type { BonusSchema } from './schemas.js';

/** Returns the Bonus as responses show it, with its fee itemised. (docs/contract.md, Bonuses) */
export function presentBonus(bonus: Bonus): z.output<typeof BonusSchema> {
  const { asset, raw, feeRaw } = bonus;
  return {
    id: bonus.id,
    status: 'completed',
    source_account: bonus.sourceAccountId,
    recipient: { account_id: bonus.recipientAccountId },
    amount: amountJson({ raw, asset }),
    fee: amountJson({ raw: feeRaw, asset }),
    total_debited: amountJson({ raw: raw + feeRaw, asset }),
    description: bonus.description,
    reference: bonus.reference,
    created_at: toRfc3339(bonus.createdAt),
  };
}
