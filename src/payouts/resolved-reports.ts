import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import { literal } from '../db/statements.js';

/**
 * Whether operators have settled this very report by the rail: it arrived before they last decided the payout's
 * outcome, on a proposal that knew it. Repeating it does not raise the payout again. A new report does, and so does one
 * that was no contradiction when they decided (`noted`): an order that was accepted, then voided, and is accepted
 * again. The rail's own report is new even if they settled a line of a statement with the same content. May be read
 * before the account is locked, since what is settled stays settled.
 */
export async function isResolvedReport(
  reader: Reader,
  { id }: Payout,
  {
    status,
    reference,
  }: { readonly status: NonNullable<PayoutRailEvent['said']>; readonly reference: string | null },
): Promise<boolean> {
  const named = literal(payoutRailEvents, 'railReference', reference);
  const rows = await reader.query(
    `SELECT 1 FROM payout_rail_events e FORCE INDEX (payout) JOIN payout_resolutions r
      ON r.payout_id=e.payout_id AND r.status='applied' AND e.at<=r.decided_at
     WHERE e.payout_id=${uuid.literal(id)} AND e.said=${literal(payoutRailEvents, 'said', status)}
       AND e.rail_reference<=>${named} AND e.kind NOT IN ('resolution','statement')
       AND e.effect NOT IN ('replayed','noted') LIMIT 1`,
  );
  return rows.length > 0;
}
