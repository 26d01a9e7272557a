import { type Actor, recordAct } from '../access/audit-log.js';
import type { Asset } from '../core/amount.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, Transaction } from '../db/database.js';
import { type AccountLimits, accountLimits } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { literal, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { limitsOf } from './limits.js';

/** Limits of single accounts, set by operators. The account's row is the lock: no posting decides by what they were before. */

/** Null: the limit of the account's type. Throws ApiError not_found, invalid_field (a minimum over the maximum). */
export async function setAccountLimits(
  database: Database,
  clock: Clock,
  limits: AccountLimits,
  actor: Actor,
): Promise<AccountLimits> {
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, limits.accountId);
    const { minimum, maximum } = limitsOf(account, limits.asset, limits);
    if (minimum > maximum) throw new ApiError(invalidField('minimum', 'over_the_maximum'));
    await transaction.execute(upsertSql(accountLimits, [limits], ['minimum', 'maximum', 'month']));
    const text = (raw: bigint | null): string | null => raw?.toString() ?? null;
    await recordAct(transaction, actor, clock(), {
      tenantId: account.tenantId,
      action: 'limits.set',
      subjectType: 'account',
      subjectId: account.id,
      details: {
        asset: limits.asset,
        minimum: text(limits.minimum),
        maximum: text(limits.maximum),
        month: text(limits.month),
      },
    });
    return limits;
  });
}

/** The account has its type's limits again. False when it had no others. Throws ApiError not_found. */
export async function clearAccountLimits(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  actor: Actor,
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const { tenantId } = await lockAccount(transaction, accountId);
    const removed = await transaction.execute(
      `DELETE FROM account_limits WHERE account_id=${literal(accountLimits, 'accountId', accountId)}
       AND asset=${literal(accountLimits, 'asset', asset)}`,
    );
    if (removed === 0) return false;
    const details = { asset };
    const act = { tenantId, action: 'limits.clear', subjectType: 'account', subjectId: accountId, details };
    await recordAct(transaction, actor, clock(), act);
    return true;
  });
}

async function lockAccount(transaction: Transaction, id: Uuid): Promise<Account> {
  const account = await transaction.find(accounts, { id }, { forUpdate: true });
  if (account === undefined || account.type === 'system') throw notFound();
  return account;
}
