import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { payoutRailEvents } from '../db/entities/payouts.js';
import { literals } from '../db/statements.js';
import { transact } from '../db/transact.js';

const EVENTS_AT_A_TIME = 1_000;

/**
 * Removes messages between us and the rails from before a moment: those of payouts that had ended by then and are not
 * raised to operators, and those of no known payout. Returns true if there is more. Throws DatabaseUnavailable.
 */
export async function removeOldRailEvents(database: Database, before: Instant): Promise<boolean> {
  const moment = time.literal(before);
  const rows = await database.reader.query(
    `SELECT e.id FROM payout_rail_events e FORCE INDEX (at) LEFT JOIN payouts p ON p.id=e.payout_id
     WHERE e.at<${moment} AND (e.payout_id IS NULL OR (COALESCE(p.returned_at, p.ended_at)<${moment} AND p.stuck_since IS NULL))
     ORDER BY e.at LIMIT ${EVENTS_AT_A_TIME}`,
  );
  const ids = rows.map((row) => uuid.parse(row.id));
  if (ids.length > 0)
    await transact(database, (transaction) =>
      transaction.execute(
        `DELETE FROM payout_rail_events WHERE id IN (${literals(payoutRailEvents, 'id', ids)})`,
      ),
    );
  return ids.length === EVENTS_AT_A_TIME;
}
