import { accountAct, type Actor, recordAct } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockOpenAccount } from './access.js';

/** What operators decide about an account. Each decision locks the account's row, so no posting uses the old status. */

export interface Changed {
  readonly account: Account;
  /** False if it already was. */
  readonly changed: boolean;
}

/** Who decides it and, for the audit log, why. */
export interface Decided {
  readonly actor: Actor;
  /** 1 to 140 characters. */
  readonly reason: string | null;
}

/** The reason as it is recorded. Throws ApiError invalid_field. */
export function checkedReason(reason: string | null): string | null {
  return reason === null ? null : checkedText('reason', reason, MAX_REASON);
}

/** The account may receive but not send. Throws ApiError not_found, invalid_state (closed), invalid_field. */
export function freezeAccount(database: Database, clock: Clock, id: Uuid, decided: Decided): Promise<Changed> {
  return change(database, clock, id, 'frozen', decided);
}

/** A frozen account may send again. Throws ApiError not_found, invalid_state (closed), invalid_field. */
export function unfreezeAccount(database: Database, clock: Clock, id: Uuid, decided: Decided): Promise<Changed> {
  return change(database, clock, id, 'active', decided);
}

async function change(
  database: Database,
  clock: Clock,
  id: Uuid,
  status: 'active' | 'frozen',
  decided: Decided,
): Promise<Changed> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = await lockOpenAccount(transaction, id);
    if (account.status === status) return { account, changed: false };
    // Only this column: seq and the last instant belong to the desk.
    await transaction.execute(updateSql<Account>(accounts, { status }, { id }));
    const action = status === 'frozen' ? 'account.freeze' : 'account.unfreeze';
    await recordAct(transaction, decided.actor, clock(), accountAct(account, action, { reason }));
    return { account: { ...account, status }, changed: true };
  });
}
