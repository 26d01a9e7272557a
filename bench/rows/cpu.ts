import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Connection, createConnection } from 'mysql2/promise';
import { SMALL_LEDGER, type Load } from '../bench.js';
import { COMMANDS, statementTimes } from '../baseline/statement-times.js';
import type { Ledger } from '../ledgers/ledger.js';
import { runLoad } from '../load/run-load.js';
import type { Row } from '../row.js';
import { RowFailed } from '../row-failed.js';
import { cpuMsOf, growthOf, perRequestUs } from '../service/process-figures.js';
import {
  anyOf,
  CLIENTS,
  hotParties,
  loadOf,
  type Parties,
  randomParties,
  replaySame,
  runTransfers,
} from './transfers.js';

/** Costs of one transfer: processor time, rows, index entries, statements and bytes of SQL. */
export const cpuRows: readonly Row[] = [
  rowOf('cpu-hot', 'CPU time and writes for each transfer, one hot source', hotParties),
  rowOf('cpu-random', 'CPU time and writes for each transfer, random accounts', randomParties),
];

function rowOf(name: string, title: string, choose: (ledger: Ledger) => Parties): Row {
  return {
    name,
    title,
    async run(bench) {
      const ledger = await bench.ledger(SMALL_LEDGER);
      const parties = choose(ledger);
      const before = await readCounts(ledger);
      const run = await runTransfers(bench, ledger, parties, CLIENTS);
      const after = await readCounts(ledger);
      const each = (of: (counts: Counts) => number): number =>
        (of(after) - of(before)) / run.load.answered;
      const writes = {
        rows: each(({ rows }) => rows),
        indexEntries: each(({ indexEntries }) => indexEntries),
        updates: each(({ status }) => status('Handler_update')),
        statements: each(({ status }) => status('Questions')),
        sqlBytes: each(({ status }) => status('Bytes_received')),
      };
      const bare = await replaySame(ledger, run, anyOf(parties));
      const statementUs = await statementTimes(ledger, anyOf(parties));
      const koaUs = await bareKoaUs(bench.options, ledger, loadOf(parties, CLIENTS));
      const { api, database, generator } = run.cpuUsPerRequest;
      const idle = run.idleShare === null ? '?' : (run.idleShare * 100).toFixed(0);
      return {
        figures: `API ${us(api)}, MySQL ${us(database)}, client ${us(generator)}, idle ${idle} %; ${writes.rows.toFixed(1)} rows with ${writes.indexEntries.toFixed(1)} index entries inserted, ${writes.updates.toFixed(1)} rows updated, ${writes.statements.toFixed(1)} statements, ${Math.round(writes.sqlBytes)} bytes of SQL; in a group of ${COMMANDS}, MySQL needs ${Object.entries(
          statementUs,
        )
          .map(([name, own]) => `${own.toFixed(1)} µs for ${name}`)
          .join(', ')}`,
        baseline: `the same SQL by the bare driver: driver ${us(bare.cpuUs.driver)}, MySQL ${us(bare.cpuUs.database)}; the same JSON by a bare Koa server: ${us(koaUs)}`,
        ratio: ((bare.cpuUs.database ?? NaN) + (koaUs ?? NaN)) / ((api ?? NaN) + (database ?? NaN)),
        targets: [],
        details: { ...run.details, writes, bare, koaUs, statementUs },
      };
    },
  };
}

function us(value: number | null): string {
  return value === null ? 'unknown' : `${value.toFixed(0)} µs`;
}

interface Counts {
  readonly rows: number;
  /** Entries of all indexes, the primary keys included. */
  readonly indexEntries: number;
  readonly status: (name: string) => number;
}

async function readCounts({ adminUrl }: Ledger): Promise<Counts> {
  const admin = await createConnection({ uri: adminUrl });
  try {
    const tables = await rowsOf<{ name: string; indexes: number }>(
      admin,
      `SELECT table_name AS name, COUNT(DISTINCT index_name) AS indexes FROM information_schema.statistics
       WHERE table_schema=DATABASE() GROUP BY table_name`,
    );
    let [rows, indexEntries] = [0, 0];
    for (const { name, indexes } of tables) {
      const [count] = await rowsOf<{ rows: number }>(
        admin,
        `SELECT COUNT(*) AS \`rows\` FROM ${name}`,
      );
      rows += Number(count?.rows);
      indexEntries += Number(count?.rows) * Number(indexes);
    }
    const status = await rowsOf<{ Variable_name: string; Value: string }>(
      admin,
      'SHOW GLOBAL STATUS',
    );
    const byName = new Map(status.map(({ Variable_name, Value }) => [Variable_name, Value]));
    return { rows, indexEntries, status: (name) => Number(byName.get(name)) };
  } finally {
    await admin.end();
  }
}

async function rowsOf<R>(admin: Connection, sql: string): Promise<readonly R[]> {
  const [rows] = await admin.query(sql);
  return rows as R[];
}

const BARE_KOA = fileURLToPath(new URL('../baseline/bare-koa.js', import.meta.url));

/** CPU time of a bare Koa server for each of the same requests. */
async function bareKoaUs(
  { seconds, warmUpS }: { readonly seconds: number; readonly warmUpS: number },
  { token }: Ledger,
  load: Load,
): Promise<number | null> {
  const child = fork(BARE_KOA, { execArgv: [] });
  try {
    // The message is from our own program (bare-koa.ts).
    const [{ port }] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [
      { readonly port?: number },
    ];
    if (port === undefined) throw new RowFailed('the bare Koa server did not start');
    const spentMs = growthOf(() => cpuMsOf(child.pid));
    const job = { perSecond: null, ...load, ports: [port] as const, token, seconds, warmUpS };
    const { answered } = await runLoad(job);
    return perRequestUs(spentMs(), answered);
  } finally {
    child.kill();
  }
}
