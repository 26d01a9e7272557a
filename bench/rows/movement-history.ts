import type { Instant } from '../../src/core/instant.js';
import * as column from '../../src/db/columns.js';
import { withDatabase } from '../ledgers/database.js';
import type { Bench } from '../bench.js';
import type { Ledger } from '../ledgers/ledger.js';
import { busyLedger } from '../ledgers/shape.js';

/** Data of the busy account that requests for its pages need. */
export interface HistoryFacts {
  readonly entries: number;
  /** Time bounds within the history, and the entries dated at them. */
  readonly from: Instant;
  readonly fromSeq: number;
  readonly to: Instant;
  readonly toSeq: number;
}

const ENTRIES = 1_500_000;
const QUICK_ENTRIES = 200_000;
const FROM_SHARE = 0.3;
const TO_SHARE = 0.7;

/** Returns the ledger with one busy account, and the number of entries of that account. */
export async function busyLedgerOf(
  bench: Bench,
): Promise<{ readonly ledger: Ledger; readonly entries: number }> {
  const [name, entries] = bench.options.isQuick
    ? (['busy_quick', QUICK_ENTRIES] as const)
    : (['busy', ENTRIES] as const);
  return { ledger: await bench.ledger(busyLedger(name, entries)), entries };
}

export function readHistory(ledger: Ledger): Promise<HistoryFacts> {
  return withBusyAccount(ledger, async (entries, at) => {
    const fromSeq = Math.floor(entries * FROM_SHARE);
    const toSeq = Math.floor(entries * TO_SHARE);
    return { entries, fromSeq, from: await at(fromSeq), toSeq, to: await at(toSeq) };
  });
}

/** Runs `work` with the number of entries of the busy account, and a function that returns the date of an entry. */
export async function withBusyAccount<T>(
  { url, accountIds: [busy] }: Ledger,
  work: (entries: number, at: (seq: number) => Promise<Instant>) => Promise<T>,
): Promise<T> {
  if (busy === undefined) throw new Error('the ledger has no accounts');
  return withDatabase(url, async (database) => {
    const id = column.uuid.literal(busy);
    const [account] = await database.reader.query(
      `SELECT MAX(seq) AS seq FROM balances WHERE account_id=${id}`,
    );
    return work(Number(column.bigint.parse(account?.seq)), async (seq) => {
      const [row] = await database.reader.query(
        `SELECT created_at FROM entries WHERE account_id=${id} AND seq=${seq}`,
      );
      return column.time.parse(row?.created_at);
    });
  });
}
