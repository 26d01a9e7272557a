import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import { type Asset, LISTED_ASSETS } from '../core/amount.js';
import { monthOf } from '../core/calendar.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
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

export function limitNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  return [need(accountLimits, { accountId, asset }), ...monthNeeds(accountId, asset, at)];
}

const WIDEST_OFFSET_MS = 15 * 3_600_000;

/** Names every month that the instant may be in, because the time zone is not read yet. */
function monthNeeds(accountId: Uuid, asset: Asset, at: Instant): Need[] {
  const names = [-WIDEST_OFFSET_MS, WIDEST_OFFSET_MS].map(
    (offset) => monthOf(instant(at + offset), 'UTC').name,
  );
  return [...new Set(names)].map((month) => need(monthTotals, { accountId, asset, month }));
}

export interface LimitChange {
  readonly accountId: Uuid;
  readonly asset: Asset;
  /** Null: the limit of the account's type. Undefined: unchanged. */
  readonly minimum?: bigint | null | undefined;
  readonly maximum?: bigint | null | undefined;
  /** May be zero: nothing leaves the account. */
  readonly month?: bigint | null | undefined;
}

/** Throws not_found, invalid_field (a minimum of zero, or over the maximum). */
export async function setAccountLimits(
  database: Database,
  clock: Clock,
  change: LimitChange,
  actor: Actor,
): Promise<void> {
  const { accountId, asset } = change;
  await transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    const before = await transaction.find(accountLimits, { accountId, asset });
    const own: AccountLimits = {
      accountId,
      asset,
      minimum: newLimit(change.minimum, before?.minimum),
      maximum: newLimit(change.maximum, before?.maximum),
      month: newLimit(change.month, before?.month),
    };
    const { minimum, maximum } = limitsOf(account, asset, own);
    // Amounts of zero are refused only by the minimum.
    if (minimum < 1n) throw new ApiError(invalidField('minimum', 'must_be_positive'));
    if (minimum > maximum) throw new ApiError(invalidField('minimum', 'over_the_maximum'));
    await transaction.execute(upsertSql(accountLimits, [own], ['minimum', 'maximum', 'month']));
    const details = {
      asset,
      minimum: textOf(own.minimum),
      maximum: textOf(own.maximum),
      month: textOf(own.month),
    };
    await recordAction(transaction, actor, clock(), accountAudit(account, 'limits.set', details));
  });
}

function newLimit(
  change: bigint | null | undefined,
  before: bigint | null | undefined,
): bigint | null {
  return change === undefined ? (before ?? null) : change;
}

function textOf(raw: bigint | null): string | null {
  return raw?.toString() ?? null;
}

/** Restores the limits of the account's type. Returns false if the account had none of its own. */
export async function clearAccountLimits(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  actor: Actor,
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    if ((await transaction.execute(deleteSql(accountLimits, { accountId, asset }))) === 0)
      return false;
    const entry = accountAudit(account, 'limits.clear', { asset });
    await recordAction(transaction, actor, clock(), entry);
    return true;
  });
}
