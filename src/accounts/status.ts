import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { ACCOUNT_CLOSED } from './rules.js';

/** What operators decide about an account. Each locks the account's row, so no posting decides by what it was before. */

export interface Changed {
  readonly account: Account;
  /** False when it was so already. */
  readonly changed: boolean;
}

/** The account may receive and not send. Throws ApiError not_found, invalid_state (closed). */
export function freezeAccount(database: Database, id: Uuid): Promise<Changed> {
  return change(database, id, ({ status }) => (status === 'frozen' ? null : { status: 'frozen' }));
}

/** A frozen account may send again. Throws ApiError not_found, invalid_state (closed). */
export function unfreezeAccount(database: Database, id: Uuid): Promise<Changed> {
  return change(database, id, ({ status }) => (status === 'active' ? null : { status: 'active' }));
}

/** The account is verified and may send; the instant of the first time stays. Throws ApiError not_found, invalid_state (closed). */
export function verifyAccount(database: Database, clock: Clock, id: Uuid): Promise<Changed> {
  return change(database, id, ({ verifiedAt }) => (verifiedAt === null ? { verifiedAt: clock() } : null));
}

async function change(
  database: Database,
  id: Uuid,
  decide: (account: Account) => Partial<Pick<Account, 'status' | 'verifiedAt'>> | null,
): Promise<Changed> {
  return transact(database, async (transaction) => {
    const account = await transaction.find(accounts, { id }, { forUpdate: true });
    if (account === undefined || account.type === 'system') throw notFound();
    if (account.status === 'closed') throw new ApiError(ACCOUNT_CLOSED);
    const set = decide(account);
    if (set === null) return { account, changed: false };
    // These columns alone: seq and the last instant are the desk's.
    await transaction.execute(updateSql<Account>(accounts, set, { id }));
    return { account: { ...account, ...set }, changed: true };
  });
}
