import { type Asset, formatAmount } from '../../core/amount.js';
import type { Reader } from '../../db/database.js';
import { type Hold, holds } from '../../db/entities/ledger.js';
import type { Account } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { Described } from '../fields.js';
import { linesById, lineText } from '../lines.js';

/** Holds shown in each asset. */
const MOST_HOLDS = 20;

/** Describes the largest holds of an account, each with the operation that holds it. */
export async function describeHolds(
  reader: Reader,
  { id: accountId }: Pick<Account, 'id'>,
  balances: readonly { readonly asset: Asset; readonly held: bigint }[],
): Promise<Described> {
  const own = `account_id=${literal(holds, 'accountId', accountId)}`;
  const held = balances.filter((one) => one.held > 0n);
  const found = await Promise.all(
    held.map(({ asset }) => {
      const of = `${own} AND asset=${literal(holds, 'asset', asset)} AND remaining>0`;
      const largest = `ORDER BY remaining DESC LIMIT ${MOST_HOLDS}`;
      return reader.list(holds, `FORCE INDEX (account) WHERE ${of} ${largest}`);
    }),
  );
  const all = found.flat();
  const ids = all.map(({ resourceId }) => resourceId);
  const lines = await linesById(reader, ids);
  const heldOf = ({ remaining: raw, asset }: Hold) => ({ raw, asset });
  const lineOf = ({ resourceType: kind, resourceId: id }: Hold) => lines.get(id) ?? { kind, id };
  return Described.each(
    all,
    (hold) => `${formatAmount(heldOf(hold))} by ${lineText(lineOf(hold))}`,
    (hold) => {
      const { kind = null, id = null, amount = null, status = null } = lineOf(hold);
      return { held: heldOf(hold), kind, id, amount, status };
    },
  );
}
