import { accountAct, recordAct } from '../access/audit-log.js';
import { existing, ledgerUnavailable } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { toRfc3339 } from '../core/instant.js';
import type { DatabaseDeps } from '../db/database.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { CLOCK_RESET } from '../ledger/clock-resets.js';
import type { ClockGuard } from '../ledger/clock-guard.js';
import { type Changed, checkedReason, type Decided } from './status.js';

interface ClockResetDeps extends DatabaseDeps {
  readonly guard: ClockGuard;
}

/**
 * Permits postings again to an account (also a system account) that is dated ahead of the clock.
 * Existing entries keep their dates, so the account's movements run backwards in time at this one
 * place, which the auditor accepts because of the line in the audit log. Throws ApiError not_found,
 * invalid_field, ledger_unavailable (this process's clock differs from the database's).
 */
export async function resetClock(
  { database, clock, guard }: ClockResetDeps,
  id: Uuid,
  decided: Decided,
): Promise<Changed> {
  const reason = checkedReason(decided.reason);
  await guard.compare();
  return transact(database, async (transaction) => {
    const account = existing(await transaction.find(accounts, { id }, { forUpdate: true }));
    if (!guard.isWell()) throw ledgerUnavailable();
    const { lastPostedAt: was, seq } = account;
    if (!guard.isTooFarAhead(was)) return { account, changed: false };
    const lastPostedAt = clock();
    await transaction.execute(updateSql<Account>(accounts, { lastPostedAt }, { id }));
    const details = { reason, seq: seq.toString(), was: toRfc3339(was) };
    await recordAct(
      transaction,
      decided.actor,
      lastPostedAt,
      accountAct(account, CLOCK_RESET, details),
    );
    return { account: { ...account, lastPostedAt }, changed: true };
  });
}
