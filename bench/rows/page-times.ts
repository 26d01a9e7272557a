import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mysql2/promise';
import type { Reader } from '../../src/db/database.js';
import { openBare } from '../baseline/driver.js';
import { recordingReader } from '../baseline/recording.js';
import type { Ledger } from '../ledgers/ledger.js';
import { Random } from '../ledgers/random.js';
import type { Latency } from '../load/job.js';
import { latencyOf } from '../load/latency.js';

interface PageTimes {
  /** The sum of the server's own durations of a page's statements (SHOW PROFILES). */
  readonly server: Latency;
  /** Runs these statements in sequence by the bare driver. */
  readonly roundTrips: Latency;
}

/** Few enough to add no noticeable load. */
const PAUSE_MS = 50;

/** Pages, and the function with which the service reads a page. */
interface Sampled<Page> {
  readonly pages: readonly Page[];
  readonly read: (reader: Reader, page: Page) => Promise<unknown>;
}

/**
 * Measures how long MySQL itself takes for a page. While `work` runs, sends the statements of random pages, as the
 * service does, over a separate connection on which the server records the duration of each statement.
 */
export async function withPageTimes<T, Page>(
  ledger: Ledger,
  sampled: Sampled<Page>,
  work: Promise<T>,
): Promise<{ readonly done: T; readonly times: PageTimes }> {
  let isOver = false;
  const working = work.finally(() => (isOver = true));
  const [done, times] = await Promise.all([working, sampleUntil(() => isOver, ledger, sampled)]);
  return { done, times };
}

async function sampleUntil<Page>(
  isOver: () => boolean,
  ledger: Ledger,
  { pages, read }: Sampled<Page>,
): Promise<PageTimes> {
  const random = new Random(7);
  const connection = await openBare(ledger.url, 'reads');
  const server: number[] = [];
  const roundTrips: number[] = [];
  try {
    await connection.query('SET SESSION profiling=1');
    while (!isOver()) {
      const statements: string[] = [];
      await read(recordingReader(connection, statements), random.pick(pages));
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
