import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mysql2/promise';
import { assertAccountAllowed } from '../../src/accounts/access.js';
import { readMovements } from '../../src/accounts/movements.js';
import { openBare } from '../baseline/driver.js';
import { recordingReader } from '../baseline/recording.js';
import type { Ledger } from '../ledgers/ledger.js';
import { Random } from '../ledgers/random.js';
import type { Latency } from '../load/job.js';
import { latencyOf } from '../load/latency.js';
import { PAGE, type Page } from './movements.js';
import { callerOf } from './reads.js';

export interface PageTimes {
  /** The sum of the server's own durations of a page's statements (SHOW PROFILES). */
  readonly server: Latency;
  /** The same statements, one after another, sent and answered by the bare driver. */
  readonly roundTrips: Latency;
}

/** Few enough to be no load beside the one that is measured. */
const PAUSE_MS = 50;

/**
 * How long MySQL itself takes for a page: as long as `work` lasts, the statements of random pages are also sent over a
 * connection of its own on which the server keeps the duration of each. They are those that the service's functions send.
 */
export async function withPageTimes<T>(
  ledger: Ledger,
  pages: readonly Page[],
  work: Promise<T>,
): Promise<{ readonly done: T; readonly times: PageTimes }> {
  let isOver = false;
  const working = work.finally(() => (isOver = true));
  const [done, times] = await Promise.all([working, sampleUntil(() => isOver, ledger, pages)]);
  return { done, times };
}

async function sampleUntil(isOver: () => boolean, ledger: Ledger, pages: readonly Page[]): Promise<PageTimes> {
  const random = new Random(7);
  const connection = await openBare(ledger.url, 'reads');
  const server: number[] = [];
  const roundTrips: number[] = [];
  try {
    await connection.query('SET SESSION profiling=1');
    while (!isOver()) {
      const statements = await statementsOf(connection, ledger, random.pick(pages));
      const before = await lastProfiled(connection);
      const sentAt = performance.now();
      for (const sql of statements) await connection.query(sql);
      roundTrips.push(performance.now() - sentAt);
      server.push(await profiledSince(connection, before));
      await sleep(PAUSE_MS);
    }
  } finally {
    await connection.end();
  }
  return { server: latencyOf(server), roundTrips: latencyOf(roundTrips) };
}

/** What the service sends for the page, its check of the caller's role included. */
async function statementsOf(connection: Connection, ledger: Ledger, page: Page): Promise<readonly string[]> {
  const [accountId = ledger.memberId] = ledger.accountIds;
  const statements: string[] = [];
  const reader = recordingReader(connection, statements);
  await assertAccountAllowed(reader, 'readAccount', callerOf(ledger), accountId);
  await readMovements(reader, accountId, page.filter, page.before, PAGE);
  return statements;
}

interface Profiled {
  readonly Query_ID: number;
  /** Seconds. */
  readonly Duration: string;
}

async function profiles(connection: Connection): Promise<readonly Profiled[]> {
  return (await connection.query('SHOW PROFILES'))[0] as Profiled[];
}

async function lastProfiled(connection: Connection): Promise<number> {
  return (await profiles(connection)).at(-1)?.Query_ID ?? 0;
}

async function profiledSince(connection: Connection, id: number): Promise<number> {
  const own = (await profiles(connection)).filter((one) => one.Query_ID > id);
  return own.reduce((sum, one) => sum + Number(one.Duration) * 1000, 0);
}
