import { type Asset, LISTED_ASSETS } from '../core/amount.js';
import { monthOf } from '../core/calendar.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { type AccountLimits, accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import type { Account } from '../db/entities/parties.js';
import { need, type Need } from '../ledger/writer/types.js';

/** The limits of one operation and of one month, in the asset's smallest unit. */
export interface Limits {
  readonly minimum: bigint;
  readonly maximum: bigint;
  readonly month: bigint;
}

const BUSINESS_FACTOR = 100n;

/** Returns the account's own limits, else those of its type. (docs/contract.md, Limits and fees) */
export function limitsOf(
  account: Pick<Account, 'type'>,
  asset: Asset,
  own: AccountLimits | undefined,
): Limits {
  const { minimum, maximum, month } = LISTED_ASSETS[asset].limits;
  const factor = account.type === 'person' ? 1n : BUSINESS_FACTOR;
  return {
    minimum: own?.minimum ?? minimum,
    maximum: own?.maximum ?? maximum * factor,
    month: own?.month ?? month * factor,
  };
}

export function limitNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  return [need(accountLimits, { accountId, asset }), ...monthNeeds(accountId, asset, at)];
}

const WIDEST_OFFSET_MS = 15 * 3_600_000;

/** Every month that the instant may be in: the time zone is read at the same time. */
function monthNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  const names = [-WIDEST_OFFSET_MS, WIDEST_OFFSET_MS].map(
    (offset) => monthOf(instant(at + offset), 'UTC').name,
  );
  return [...new Set(names)].map((month) => need(monthTotals, { accountId, asset, month }));
}
