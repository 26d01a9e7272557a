import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { nullable, string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { sweepLeases } from '../db/entities/sweeps.js';
import { literal } from '../db/statements.js';

export interface SweepState {
  readonly name: string;
  /** Null: nobody at the moment. */
  readonly worker: { readonly id: Uuid; readonly label: string; readonly since: Instant } | null;
}

/** Every sweep that any worker process has known, by name, by MySQL's clock. */
export async function readSweeps(reader: Reader): Promise<readonly SweepState[]> {
  const rows = await reader.query(
    `SELECT l.name, l.taken_at, w.id, w.label FROM sweep_leases l
     LEFT JOIN sweep_workers w ON w.id=l.holder AND l.lease_until>UTC_TIMESTAMP(3) ORDER BY l.name`,
  );
  return rows.map((row) => {
    const [id, label] = [nullable(uuid).parse(row.id), nullable(string).parse(row.label)];
    const worker =
      id === null || label === null ? null : { id, label, since: time.parse(row.taken_at) };
    return { name: string.parse(row.name), worker };
  });
}

/** Whether a worker has the sweep, or had it less than so long ago, by MySQL's clock: a lease outlives its holder. */
export async function wasLeased(
  reader: Reader,
  sweep: string,
  withinHours: number,
): Promise<boolean> {
  const name = literal(sweepLeases, 'name', sweep);
  const since = `UTC_TIMESTAMP(3)-INTERVAL ${Math.trunc(withinHours)} HOUR`;
  const rows = await reader.query(
    `SELECT 1 FROM sweep_leases WHERE name=${name} AND lease_until>${since}`,
  );
  return rows.length > 0;
}
