import { ASSETS } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { balances } from '../db/entities/ledger.js';
import { columnList } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { assertAllowed, ownAccountSql } from './access.js';

/**
 * What an account has of each asset: total = available + held. One statement, so that the numbers belong together.
 * Throws not_found, authority_insufficient. (decisions.md, Balances)
 */
export async function readBalances(
  reader: Reader,
  caller: Caller,
  accountId: Uuid,
  asOf: Instant,
): Promise<Readonly<Record<string, unknown>>> {
  const own = ownAccountSql(caller, accountId);
  const stored = await reader.query(
    `SELECT ${own.role},${columnList(balances, 'b')} FROM ${own.from} JOIN balances b ON b.account_id=a.id WHERE ${own.where}`,
  );
  assertAllowed('readAccount', stored[0]);
  const rows = stored.map((row) => parseRow(balances, row));
  return {
    account_id: accountId,
    balances: ASSETS.flatMap((asset) => rows.filter((row) => row.asset === asset)).map(
      ({ asset, available, held }) => ({
        asset,
        available: available.toString(),
        held: held.toString(),
        total: (available + held).toString(),
      }),
    ),
    as_of: toRfc3339(asOf),
  };
}
