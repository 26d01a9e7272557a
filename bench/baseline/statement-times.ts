import type { RowDataPacket } from 'mysql2/promise';
import type { Ledger } from '../ledgers/ledger.js';
import { openBare } from './driver.js';
import { type NextTransfer, recordGroups } from './groups.js';

const GROUPS = 200;
export const COMMANDS = 24;

interface Profiled extends RowDataPacket {
  readonly Duration: string;
  readonly Query: string;
}

/**
 * Returns the microseconds that MySQL needs for each statement of a group, divided by the transfers of the group: the
 * medians of groups of 24, sent one at a time, so that no group waits for another. Includes waits for the disk, which
 * are most of COMMIT, and what profiling adds to each statement.
 */
export async function statementTimes(
  ledger: Ledger,
  next: NextTransfer,
): Promise<Readonly<Record<string, number>>> {
  const groups = await recordGroups(ledger, new Array<number>(GROUPS).fill(COMMANDS), next);
  const connection = await openBare(ledger.url, 'transactions');
  const samples = new Map<string, number[]>();
  try {
    await connection.query('SET SESSION profiling_history_size=100');
    for (const { steps } of groups) {
      // Switching it off and on empties the list.
      await connection.query('SET SESSION profiling=1');
      for (const [place, sql] of steps.entries())
        await connection.query(place === steps.length - 1 ? `${sql};COMMIT` : sql);
      const [profiles] = await connection.query<Profiled[]>('SHOW PROFILES');
      await connection.query('SET SESSION profiling=0');
      for (const { Duration, Query } of profiles) {
        const name = nameOf(Query);
        samples.set(name, [...(samples.get(name) ?? []), (Number(Duration) * 1e6) / COMMANDS]);
      }
    }
  } finally {
    await connection.end();
  }
  return Object.fromEntries(Array.from(samples, ([name, own]) => [name, median(own)]));
}

/** Returns the verb and the table. SHOW PROFILES cuts long statements, of which only the lock on the counter ends with it. */
function nameOf(sql: string): string {
  const [verb = ''] = /^\w+/.exec(sql.trim()) ?? [];
  const [, table = verb === 'SELECT' ? 'event_counters' : ''] =
    /\b(?:FROM|INTO|UPDATE) (\w+)/.exec(sql) ?? [];
  return `${verb} ${table}`.trim();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
