import { ASSETS } from '../core/amount.js';
import { accountAuditEntry, type Actor, recordAction } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { holds } from '../db/entities/ledger.js';
import { outbox } from '../db/entities/outbox.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { insertSql, literals, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { outboxEntry } from '../temporal/outbox-entry.js';
import { lockOpenAccount } from './access.js';

/** Operators' decisions under the account's row lock, so that no posting uses the old status. */

export interface StatusChange {
  readonly account: Account;
  readonly changed: boolean;
}

export interface Decided {
  readonly actor: Actor;
  /** 1 to 140 characters. */
  readonly reason: string | null;
}

export function checkedReason(reason: string | null): string | null {
  return reason === null ? null : checkedText('reason', reason, MAX_REASON);
}

/**
 * Freezes an account: it may receive but not send. Throws not_found, invalid_state, invalid_field.
 */
export function freezeAccount(
  database: Database,
  clock: Clock,
  id: Uuid,
  decided: Decided,
): Promise<StatusChange> {
  return change(database, clock, id, 'frozen', decided);
}

/** Lets a frozen account send again. Throws not_found, invalid_state (closed), invalid_field. */
export function unfreezeAccount(
  database: Database,
  clock: Clock,
  id: Uuid,
  decided: Decided,
): Promise<StatusChange> {
  return change(database, clock, id, 'active', decided);
}

async function change(
  database: Database,
  clock: Clock,
  id: Uuid,
  status: 'active' | 'frozen',
  decided: Decided,
): Promise<StatusChange> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = await lockOpenAccount(transaction, id);
    if (account.status === status) return { account, changed: false };
    // Updates only this column: seq and the last instant belong to the ledger.
    await transaction.execute(updateSql<Account>(accounts, { status }, { id }));
    if (status === 'active') await tellHeldPayouts(transaction, account, clock());
    const action = status === 'frozen' ? 'account.freeze' : 'account.unfreeze';
    await recordAction(
      transaction,
      decided.actor,
      clock(),
      accountAuditEntry(account, action, { reason }),
    );
    return { account: { ...account, status }, changed: true };
  });
}

async function tellHeldPayouts(
  transaction: Transaction,
  { id, tenantId }: Account,
  now: Instant,
): Promise<void> {
  const held = await heldPayouts(transaction, id);
  const entries = held.map((resourceId) =>
    outboxEntry({ outboxId: newId(), tenantId, resourceType: 'payout', resourceId }, now),
  );
  if (entries.length > 0) await transaction.execute(insertSql(outbox, entries));
}

/** The workflows of further payouts check by themselves. */
const TOLD_AT_ONCE = 1_000;

/** Payouts not handed to their rails because the account was frozen, found by its open holds. */
export async function heldPayouts(reader: Reader, accountId: Uuid): Promise<readonly Uuid[]> {
  const rows = await reader.query(
    `SELECT p.id FROM holds h FORCE INDEX (account) STRAIGHT_JOIN payouts p ON p.id=h.resource_id
     WHERE h.account_id=${uuid.literal(accountId)} AND h.asset IN (${literals(holds, 'asset', ASSETS)}) AND h.remaining>0
       AND h.resource_type='payout' AND (p.status='approved' OR (p.status='in_progress' AND p.rail_reference IS NULL))
     ORDER BY p.id LIMIT ${TOLD_AT_ONCE}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}
