import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError, notFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, Transaction } from '../db/database.js';
import { balances } from '../db/entities/ledger.js';
import { type Account, accounts, tenants } from '../db/entities/parties.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { dropAlias } from './alias.js';
import type { Changed } from './status.js';

/**
 * Closes an account for good and releases its alias and its phone. It must be empty, with nothing held, and not be the
 * fee account of its tenant. Throws ApiError not_found, invalid_state. (decisions.md, Accounts)
 */
export function closeAccount(database: Database, clock: Clock, id: Uuid, actor: Actor): Promise<Changed> {
  return transact(database, async (transaction) => {
    const account = await transaction.find(accounts, { id }, { forUpdate: true });
    if (account === undefined || account.type === 'system') throw notFound();
    if (account.status === 'closed') return { account, changed: false };
    const obstacle = await obstacleTo(transaction, account);
    if (obstacle !== null) throw new ApiError(obstacle);
    const now = clock();
    await dropAlias(transaction, account, actor, now);
    const set = { status: 'closed', alias: null, phone: null } as const;
    await transaction.execute(updateSql<Account>(accounts, set, { id }));
    const act = { tenantId: account.tenantId, action: 'account.close', subjectType: 'account', subjectId: id };
    await recordAct(transaction, actor, now, act);
    return { account: { ...account, ...set }, changed: true };
  });
}

/** What stands in the way. Whatever is pending holds funds, so an account with nothing held has nothing pending. */
async function obstacleTo(transaction: Transaction, account: Account): Promise<Refusal | null> {
  const own = await transaction.select(balances, { accountId: account.id });
  if (own.some((balance) => balance.held !== 0n)) return inTheWay('funds_held', 'funds are held for what is pending');
  if (own.some((balance) => balance.available !== 0n)) return inTheWay('not_empty', 'its balances are not zero');
  const users = await transaction.select(tenants, { feeAccountId: account.id });
  return users.length > 0 ? inTheWay('fee_account', 'fees of its tenant go into it') : null;
}

function inTheWay(current: string, why: string): Refusal {
  return {
    code: 'invalid_state',
    message: `the account cannot be closed: ${why}`,
    details: { current, allowed: ['empty'] },
  };
}
