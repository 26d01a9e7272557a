import type { Asset } from '../core/amount.js';
import { monthOf } from '../core/calendar.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { monthTotals } from '../db/entities/ledger.js';
import type { Account } from '../db/entities/parties.js';
import { need, type Need } from '../ledger/desk/types.js';

/** What one operation and one month may take out of an account. In the asset's smallest unit. */
export interface Limits {
  readonly minimum: bigint;
  readonly maximum: bigint;
  readonly month: bigint;
}

const PERSON: Readonly<Record<Asset, Limits>> = {
  COPM: { minimum: 100_000n, maximum: 1_200_000_000n, month: 5_000_000_000n },
  DUSD: { minimum: 100_000n, maximum: 3_000_000_000n, month: 12_000_000_000n },
};
const BUSINESS_FACTOR = 100n;

/** The limits of an account. (decisions.md, Limits and fees) */
export function limitsOf(account: Pick<Account, 'type'>, asset: Asset): Limits {
  const { minimum, maximum, month } = PERSON[asset];
  if (account.type === 'person') return PERSON[asset];
  return { minimum, maximum: maximum * BUSINESS_FACTOR, month: month * BUSINESS_FACTOR };
}

const WIDEST_OFFSET_MS = 15 * 3_600_000;

/** The totals of every month that an instant may fall in: which one it is depends on a time zone that is read beside them. */
export function monthNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  const names = [-WIDEST_OFFSET_MS, WIDEST_OFFSET_MS].map((offset) => monthOf(instant(at + offset), 'UTC').name);
  return [...new Set(names)].map((month) => need(monthTotals, { accountId, asset, month }));
}
