import { ASSETS } from '../core/amount.js';
import type { Transaction } from '../db/database.js';
import { balances, noBalance } from '../db/entities/ledger.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { insertSql } from '../db/statements.js';

/**
 * Inserts new accounts, each with a balance of zero in every asset: the desk takes no account without them. Only system
 * accounts may go below zero. Throws what a statement fails with (1062 for an alias or phone that is taken).
 */
export async function openLedgerAccounts(transaction: Transaction, opened: readonly Account[]): Promise<void> {
  await transaction.execute(insertSql(accounts, opened));
  const zero = opened.flatMap((account) => ASSETS.map((asset) => noBalance(account, asset)));
  await transaction.execute(insertSql(balances, zero));
}
