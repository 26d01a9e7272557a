import { accountAct, type Actor, recordAct } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Database, Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { insertSql, literal, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { outboxEntry } from '../temporal/outbox-entry.js';
import { lockOpenAccount } from './access.js';

/** What operators decide about an account. Each decision locks the account's row, so no posting uses the old status. */

export interface Changed {
  readonly account: Account;
  readonly changed: boolean;
}

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
    if (status === 'active') await tellHeldPayouts(transaction, id, clock());
    const action = status === 'frozen' ? 'account.freeze' : 'account.unfreeze';
    await recordAct(transaction, decided.actor, clock(), accountAct(account, action, { reason }));
    return { account: { ...account, status }, changed: true };
  });
}

/** Approved ones were not handed to their rails meanwhile. Those beyond so many look by themselves. */
const TOLD_AT_ONCE = 1_000;

async function tellHeldPayouts(transaction: Transaction, accountId: Uuid, now: Instant): Promise<void> {
  const held = await transaction.query(
    `SELECT id, tenant_id FROM payouts FORCE INDEX (expiring) WHERE source_account_id=${literal(payouts, 'sourceAccountId', accountId)}
     AND status=${literal(payouts, 'status', 'approved')} ORDER BY id LIMIT ${TOLD_AT_ONCE}`,
  );
  if (held.length === 0) return;
  const entries = held.map((row) => {
    const [resourceId, tenantId] = [uuid.parse(row.id), uuid.parse(row.tenant_id)];
    return outboxEntry({ outboxId: newId(), tenantId, resourceType: 'payout', resourceId }, now);
  });
  await transaction.execute(insertSql(outbox, entries));
}
