import { type Connection, createConnection } from 'mysql2/promise';
import type { Ledger } from '../ledgers/ledger.js';
import { settle } from '../ledgers/settle.js';
import { evenLedger } from '../ledgers/shape.js';
import { atMost, type Row } from '../row.js';
import { runTransfers } from './transfers.js';

const CLIENTS = 64;
const ENTRIES = 10_000;
/** Few accounts, so that each has many entries and half-empty last pages are negligible. */
const ACCOUNTS = 20;
const MAX_BYTES = 1_900;
/** Tables that every transfer writes to. */
const TABLES = [
  'entries',
  'events',
  'transfers',
  'idempotency_keys',
  'ledger_transactions',
] as const;

/** Bytes on disk of a transfer, rows and indexes, in tables that grew by transfers rather than in key order. */
export const bytesRow: Row = {
  name: 'bytes',
  title: 'Bytes on disk for each transfer, tables and indexes',
  async run(bench) {
    const ledger = await bench.newLedger(evenLedger('bytes', ENTRIES));
    const before = await sizes(ledger);
    const accounts = ledger.accountIds.slice(0, ACCOUNTS);
    const run = await runTransfers(
      bench,
      ledger,
      { sources: accounts, destinations: accounts },
      CLIENTS,
    );
    await settle(ledger.adminUrl);
    const after = await sizes(ledger);
    const transfers = after.transfers - before.transfers;
    const each = Object.fromEntries(
      TABLES.map((name) => [
        name,
        ((after.bytes.get(name) ?? 0) - (before.bytes.get(name) ?? 0)) / transfers,
      ]),
    );
    const sum = Object.values(each).reduce((total, bytes) => total + bytes, 0);
    const loaded =
      [...before.bytes.values()].reduce((total, bytes) => total + bytes, 0) / before.transfers;
    const words = Object.entries(each).map(([name, bytes]) => `${name} ${bytes.toFixed(0)}`);
    return {
      figures: `${sum.toFixed(0)} bytes over ${transfers.toLocaleString('en')} transfers: ${words.join(', ')}`,
      baseline: `the same rows, loaded in the order of their keys: ${loaded.toFixed(0)} bytes`,
      ratio: loaded / sum,
      targets: [atMost('bytes', sum, MAX_BYTES)],
      details: { each, transfers, loaded, ...run.details },
    };
  },
};

interface Sizes {
  readonly bytes: ReadonlyMap<string, number>;
  /** Number of transfers. */
  readonly transfers: number;
}

async function sizes({ adminUrl }: Ledger): Promise<Sizes> {
  const admin = await createConnection({ uri: adminUrl });
  try {
    await admin.query(`ANALYZE TABLE ${TABLES.join(',')}`);
    const bytes = new Map<string, number>();
    for (const name of TABLES) bytes.set(name, await number(admin, SIZE, [name]));
    return {
      bytes,
      transfers: await number(admin, 'SELECT COUNT(*) AS number FROM transfers', []),
    };
  } finally {
    await admin.end();
  }
}

/** Counts only pages with rows. InnoDB also reserves megabytes for growth, which would dominate a short run. */
const SIZE = `SELECT SUM(stat_value)*@@innodb_page_size AS number FROM mysql.innodb_index_stats
  WHERE database_name=DATABASE() AND table_name=? AND stat_name='n_leaf_pages'`;

async function number(admin: Connection, sql: string, values: readonly string[]): Promise<number> {
  const [rows] = await admin.query(sql, [...values]);
  return Number((rows as { number: string | number }[])[0]?.number ?? 0);
}
