import { accountAuditEntry, recordAction } from '../access/audit-log.js';
import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { CLOCK_RESET } from '../ledger/clock-resets.js';
import type { DatabaseClock } from '../ledger/database-clock.js';
import { type StatusChange, checkedReason, type Decided } from './status.js';

interface ClockResetDeps {
  readonly database: Database;
  readonly databaseClock: DatabaseClock;
}

/**
 * Permits postings again to an account dated too far ahead of the database's clock, for example
 * after a failover. Its movements run backwards in time at this place, which the auditor accepts
 * because of the line in the audit log.
 */
export async function resetClock(
  { database, databaseClock }: ClockResetDeps,
  id: Uuid,
  decided: Decided,
): Promise<StatusChange> {
  const reason = checkedReason(decided.reason);
  return transact(database, async (transaction) => {
    const account = existing(await transaction.find(accounts, { id }, { forUpdate: true }));
    const { lastPostedAt: was, seq } = account;
    const lastPostedAt = await databaseClock.read(transaction);
    if (!databaseClock.isTooFarAhead(was, lastPostedAt)) return { account, changed: false };
    await transaction.execute(updateSql<Account>(accounts, { lastPostedAt }, { id }));
    const details = { reason, seq: seq.toString(), was: toRfc3339(was) };
    await recordAction(
      transaction,
      decided.actor,
      lastPostedAt,
      accountAuditEntry(account, CLOCK_RESET, details),
    );
    return { account: { ...account, lastPostedAt }, changed: true };
  });
}
