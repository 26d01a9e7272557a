import { ASSETS } from '../core/amount.js';
import type { Transaction } from '../db/database.js';
import { balances, noBalance } from '../db/entities/ledger.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { insertSql } from '../db/statements.js';

/** Inserts accounts with zero in every asset. Throws 1062 for a taken alias or phone. */
export async function openLedgerAccounts(
  transaction: Transaction,
  opened: readonly Account[],
): Promise<void> {
  await transaction.execute(insertSql(accounts, opened));
  const zero = opened.flatMap((account) => ASSETS.map((asset) => noBalance(account, asset)));
  await transaction.execute(insertSql(balances, zero));
}
