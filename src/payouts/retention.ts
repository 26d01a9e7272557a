import { instant, type Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { payoutRailEvents } from '../db/entities/payouts.js';
import { literals } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';

const EVENTS_AT_A_TIME = 1_000;
const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

export function railEventsSweep({ database, clock }: DatabaseDeps, keptDays: number): Sweep {
  const run = () => removeOldRailEvents(database, instant(clock() - keptDays * DAY_MS));
  return { name: 'old rail events', everyMs: EVERY_MS, run };
}

/**
 * Removes events from before this time, except those of payouts that are flagged or ended later.
 * Returns true if more may be left.
 */
export async function removeOldRailEvents(database: Database, before: Instant): Promise<boolean> {
  const moment = time.literal(before);
  const rows = await database.reader.query(
    `SELECT e.id FROM payout_rail_events e FORCE INDEX (at) LEFT JOIN payouts p ON p.id=e.payout_id
     WHERE e.at<${moment} AND (e.payout_id IS NULL OR (COALESCE(p.returned_at, p.ended_at)<${moment} AND p.stuck_since IS NULL))
     ORDER BY e.at LIMIT ${EVENTS_AT_A_TIME}`,
  );
  const ids = literals(
    payoutRailEvents,
    'id',
    rows.map((row) => uuid.parse(row.id)),
  );
  if (rows.length > 0)
    await transact(database, (transaction) =>
      transaction.execute(`DELETE FROM payout_rail_events WHERE id IN (${ids})`),
    );
  return rows.length === EVENTS_AT_A_TIME;
}
