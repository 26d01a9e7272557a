import { integer, string } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type RailBreaker, railBreakers } from '../../db/entities/rails.js';

export interface RailStatus {
  readonly rail: string;
  /** Null if the rail has always responded or was never called. */
  readonly breaker: RailBreaker | null;
  readonly approved: number;
  readonly inProgress: number;
}

/** Returns rails that are configured, have pending payouts or have not responded, by name. */
export async function listRails(
  reader: Reader,
  configured: readonly string[],
): Promise<readonly RailStatus[]> {
  const [breakers, rows] = await Promise.all([
    reader.select(railBreakers, {}),
    reader.query(
      `SELECT rail, COUNT(IF(status='approved',1,NULL)) AS approved,
         COUNT(IF(status='in_progress',1,NULL)) AS in_progress
       FROM payouts FORCE INDEX (expiring) WHERE status IN ('approved','in_progress') GROUP BY rail`,
    ),
  ]);
  const known = new Map(breakers.map((breaker) => [breaker.rail, breaker]));
  const open = new Map(
    rows.map((row) => [
      string.parse(row.rail),
      { approved: integer.parse(row.approved), inProgress: integer.parse(row.in_progress) },
    ]),
  );
  return [...new Set([...configured, ...known.keys(), ...open.keys()])].toSorted().map((rail) => ({
    rail,
    breaker: known.get(rail) ?? null,
    ...(open.get(rail) ?? { approved: 0, inProgress: 0 }),
  }));
}
