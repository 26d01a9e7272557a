import type { Instant } from '../../src/core/instant.js';
import * as column from '../../src/db/columns.js';
import { withDatabase } from '../ledgers/database.js';
import type { Ledger } from '../ledgers/ledger.js';

/** What must be known of the busy account to ask for pages of it. */
export interface HistoryFacts {
  readonly entries: number;
  /** Time bounds within the history, and the entries that they are the times of. */
  readonly from: Instant;
  readonly fromSeq: number;
  readonly to: Instant;
  readonly toSeq: number;
}

const FROM_SHARE = 0.3;
const TO_SHARE = 0.7;

export async function readHistory({ url, accountIds: [busy] }: Ledger): Promise<HistoryFacts> {
  if (busy === undefined) throw new Error('the ledger has no accounts');
  return withDatabase(url, async (database) => {
    const id = column.uuid.literal(busy);
    const [account] = await database.reader.query(`SELECT seq FROM accounts WHERE id=${id}`);
    const entries = Number(column.bigint.parse(account?.seq));
    const at = async (seq: number): Promise<Instant> => {
      const [row] = await database.reader.query(`SELECT created_at FROM entries WHERE account_id=${id} AND seq=${seq}`);
      return column.time.parse(row?.created_at);
    };
    const fromSeq = Math.floor(entries * FROM_SHARE);
    const toSeq = Math.floor(entries * TO_SHARE);
    return { entries, fromSeq, from: await at(fromSeq), toSeq, to: await at(toSeq) };
  });
}
