import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import { type Asset, LISTED_ASSETS } from '../core/amount.js';
import { monthOf } from '../core/calendar.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import type { DatabaseDeps } from '../db/database.js';
import { type AccountLimits, accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import type { Account } from '../db/entities/parties.js';
import { deleteSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { need, type Need } from '../ledger/writer/types.js';
import { lockAccount } from './access.js';
import type { Limits } from './rules.js';

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

const WIDEST_OFFSET_MS = 15 * 3_600_000;

/** Includes every month that the instant may be in: the time zone is read at the same time. */
export function limitNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  const months = [-WIDEST_OFFSET_MS, WIDEST_OFFSET_MS].map(
    (offset) => monthOf(instant(at + offset), 'UTC').name,
  );
  const totals = [...new Set(months)].map((month) =>
    need(monthTotals, { accountId, asset, month }),
  );
  return [need(accountLimits, { accountId, asset }), ...totals];
}

type LimitName = 'minimum' | 'maximum' | 'month';

/** Null: the limit of the account's type. Undefined: unchanged. A month of 0: nothing leaves. */
export interface LimitChange extends Partial<Record<LimitName, bigint | null | undefined>> {
  readonly accountId: Uuid;
  readonly asset: Asset;
}

/** Throws not_found, invalid_field (a minimum of zero, or over the maximum). */
export async function setAccountLimits(
  { database, clock }: DatabaseDeps,
  change: LimitChange,
  actor: Actor,
): Promise<void> {
  const { accountId, asset } = change;
  await transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    const before = await transaction.find(accountLimits, { accountId, asset });
    const limit = (name: LimitName): bigint | null => {
      const changed = change[name];
      return changed === undefined ? (before?.[name] ?? null) : changed;
    };
    const own = { minimum: limit('minimum'), maximum: limit('maximum'), month: limit('month') };
    const row: AccountLimits = { accountId, asset, ...own };
    const { minimum, maximum } = limitsOf(account, asset, row);
    // Amounts of zero are refused only by the minimum.
    if (minimum < 1n) throw new ApiError(invalidField('minimum', 'must_be_positive'));
    if (minimum > maximum) throw new ApiError(invalidField('minimum', 'over_the_maximum'));
    await transaction.execute(upsertSql(accountLimits, [row], ['minimum', 'maximum', 'month']));
    const texts = Object.entries(own).map(([name, raw]) => [name, raw?.toString() ?? null]);
    const details = { asset, ...Object.fromEntries(texts) };
    await recordAction(transaction, actor, clock(), accountAudit(account, 'limits.set', details));
  });
}

/** Restores the limits of the account's type. Returns false if the account had none of its own. */
export async function clearAccountLimits(
  { database, clock }: DatabaseDeps,
  accountId: Uuid,
  asset: Asset,
  actor: Actor,
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    const deleted = await transaction.execute(deleteSql(accountLimits, { accountId, asset }));
    if (deleted === 0) return false;
    const entry = accountAudit(account, 'limits.clear', { asset });
    await recordAction(transaction, actor, clock(), entry);
    return true;
  });
}
