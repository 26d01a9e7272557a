import { accountAuditEntry, type Actor, recordAction } from '../access/audit-log.js';
import type { Asset } from '../core/amount.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { type AccountLimits, accountLimits } from '../db/entities/identity.js';
import { deleteSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from './access.js';
import { limitsOf } from './limits.js';

/** Limits of single accounts, set under the account's row lock. */

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
      minimum: changed(change.minimum, before?.minimum),
      maximum: changed(change.maximum, before?.maximum),
      month: changed(change.month, before?.month),
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
    await recordAction(
      transaction,
      actor,
      clock(),
      accountAuditEntry(account, 'limits.set', details),
    );
  });
}

function changed(
  wanted: bigint | null | undefined,
  before: bigint | null | undefined,
): bigint | null {
  return wanted === undefined ? (before ?? null) : wanted;
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
    await recordAction(
      transaction,
      actor,
      clock(),
      accountAuditEntry(account, 'limits.clear', { asset }),
    );
    return true;
  });
}
