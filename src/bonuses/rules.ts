import type { Amount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Bonus } from '../db/entities/bonuses.js';
import { feeEntries } from '../accounts/rules.js';
import type { Command, EntryDraft } from '../ledger/writer/types.js';

export interface CreateBonus extends Command {
  readonly bonusId: Uuid;
  readonly memberId: Uuid;
  readonly sourceAccountId: Uuid;
  /** Null if the request's name was unknown at that time. */
  readonly recipientAccountId: Uuid | null;
  readonly amount: Amount;
  readonly description: string | null;
  readonly reference: string | null;
}

/** The fee is a separate movement. */
export function bonusEntries(bonus: Bonus): EntryDraft[] {
  const {
    sourceAccountId: source,
    recipientAccountId: recipient,
    feeAccountId,
    asset,
    raw,
    feeRaw,
  } = bonus;
  const legs: EntryDraft[] = [
    { accountId: source, asset, raw: -raw, kind: 'bonus_out', counterpartyAccountId: recipient },
    { accountId: recipient, asset, raw, kind: 'bonus_in', counterpartyAccountId: source },
  ];
  if (feeAccountId !== null) legs.push(...feeEntries(source, feeAccountId, asset, feeRaw));
  return legs;
}

/** In code points. */
export const MAX_REFERENCE = 64;
