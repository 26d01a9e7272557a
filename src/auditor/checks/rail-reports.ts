import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { integer, nullable, oneOf, string, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  payouts,
  type PayoutStatus,
  RAIL_EFFECTS,
  RAIL_WORDS,
} from '../../db/entities/payouts.js';
import { literals } from '../../db/statements.js';
import { rowParser } from '../../db/table.js';
import type { AuditRun, Check } from '../run.js';
import { idList, ROWS_A_SLICE, walkTable } from '../walk.js';

type Word = (typeof RAIL_WORDS)[number];

/** What a rail may have said about a payout in each state. */
const AGREEING: Readonly<Record<PayoutStatus, readonly Word[]>> = {
  pending_approval: ['unknown'],
  approved: ['unknown'],
  rejected: ['unknown'],
  canceled: ['unknown'],
  in_progress: ['unknown', 'accepted'],
  completed: ['unknown', 'accepted', 'completed'],
  returned: ['unknown', 'accepted', 'completed', 'returned'],
  failed: ['unknown', 'accepted', 'failed', 'voided'],
};
/** The effects of new reports that were accepted as the rail's. */
const GENUINE: readonly PayoutRailEvent['effect'][] = ['noted', 'applied', 'duplicate', 'conflict', 'settled'];

/** The states before an order is given to the rail, and those that only the rail's word, or two people, lead to. */
const WITHOUT_ORDER: readonly PayoutStatus[] = ['pending_approval', 'approved', 'rejected', 'canceled'];
const TOLD: readonly PayoutStatus[] = ['completed', 'returned', 'failed'];

/**
 * Each report of a rail that contradicts a payout has been raised to operators, or since settled by them; no outcome
 * was guessed; and no order was given to a rail for what could be canceled since.
 */
export const railReportChecks: Check = {
  tables: ['payout_rail_events'],
  run: (audit) =>
    walkTable(audit, payouts, ROWS_A_SLICE, async (reader, slice) => {
      const calm = slice.filter(({ stuckSince }) => stuckSince === null);
      const [reports, resolved] = [await readReports(reader, calm), await readResolved(reader, calm)];
      for (const payout of calm) checkReports(audit, payout, reports.get(payout.id) ?? [], resolved.get(payout.id));
      const traces = await readTraces(reader, slice);
      for (const payout of slice) checkTraces(audit, payout, traces.get(payout.id));
    }),
};

/** Orders given to its rail, in all and before its end; words of the rail, and resolutions, that had an effect. */
const parseTraces = rowParser({ payoutId: uuid, given: integer, givenBefore: integer, told: integer });
type Traces = ReturnType<typeof parseTraces>;

/** Of those that have any: retention removes them, the oldest first, once the payout has ended. */
async function readTraces(reader: Reader, slice: readonly Payout[]): Promise<ReadonlyMap<Uuid, Traces>> {
  const rows = await reader.query(
    `SELECT e.payout_id, COUNT(IF(e.effect='sent', 1, NULL)) AS given, COUNT(IF(e.effect='applied', 1, NULL)) AS told,
       COUNT(IF(e.effect='sent' AND e.at<=COALESCE(p.failed_at, p.ended_at, e.at), 1, NULL)) AS given_before
     FROM payouts p JOIN payout_rail_events e FORCE INDEX (payout) ON e.payout_id=p.id
     WHERE p.id IN (${idList(slice.map(({ id }) => id))}) AND e.effect IN ('sent','applied') GROUP BY e.payout_id`,
  );
  return new Map(rows.map(parseTraces).map((traces) => [traces.payoutId, traces]));
}

function checkTraces(audit: AuditRun, { id, status }: Payout, traces: Traces | undefined): void {
  if (traces === undefined) return;
  const subject = `payout ${id}`;
  if (traces.given > 0 && WITHOUT_ORDER.includes(status))
    audit.report('payout_order', subject, `it is ${status}, but its rail was given it and may pay it`);
  // The order is older than the outcome: where it is kept, so is the outcome.
  if (traces.givenBefore > 0 && traces.told === 0 && TOLD.includes(status))
    audit.report('payout_outcome', subject, `it is ${status}, which neither its rail nor two people have said`);
}

const parseReport = rowParser({
  payoutId: uuid,
  said: oneOf(RAIL_WORDS),
  railReference: nullable(string),
  effect: oneOf(RAIL_EFFECTS),
  firstAt: time,
});
type RailReport = ReturnType<typeof parseReport>;

async function readReports(
  reader: Reader,
  slice: readonly Payout[],
): Promise<ReadonlyMap<Uuid, readonly RailReport[]>> {
  const rows = await reader.query(
    `SELECT payout_id, said, rail_reference, effect, MIN(at) AS first_at FROM payout_rail_events FORCE INDEX (payout)
     WHERE payout_id IN (${idList(slice.map(({ id }) => id))}) AND said IS NOT NULL AND kind<>'resolution'
       AND effect IN (${literals(payoutRailEvents, 'effect', GENUINE)})
     GROUP BY payout_id, said, rail_reference, effect`,
  );
  return groupBy(rows.map(parseReport), ({ payoutId }) => payoutId);
}

/** When operators last decided the outcome of each. */
async function readResolved(reader: Reader, slice: readonly Payout[]): Promise<ReadonlyMap<Uuid, Instant>> {
  const rows = await reader.query(
    `SELECT payout_id, MAX(decided_at) AS settled_at FROM payout_resolutions FORCE INDEX (payout)
     WHERE payout_id IN (${idList(slice.map(({ id }) => id))}) AND status='applied'
       AND decided_at IS NOT NULL GROUP BY payout_id`,
  );
  return new Map(rows.map((row) => [uuid.parse(row.payout_id), time.parse(row.settled_at)]));
}

function checkReports(
  audit: AuditRun,
  payout: Payout,
  reports: readonly RailReport[],
  resolvedAt: Instant | undefined,
): void {
  audit.counted('rail_words', reports.length);
  for (const report of reports.filter((one) => contradicts(payout, one))) {
    // A repeated report is still covered by the operators' decision.
    const same = reports.filter(
      ({ said, railReference }) => said === report.said && railReference === report.railReference,
    );
    if (resolvedAt !== undefined && same.some(({ firstAt }) => firstAt <= resolvedAt)) continue;
    const named = report.railReference === null ? '' : ` as ${report.railReference}`;
    const known = payout.railReference === null ? '' : ` as ${payout.railReference}`;
    audit.report(
      'payout_rail_word',
      `payout ${payout.id}`,
      `it is ${payout.status}${known}, its rail said ${report.said}${named}, and nobody is told`,
    );
  }
}

function contradicts({ status, railReference }: Payout, report: RailReport): boolean {
  const { said, railReference: reference, effect } = report;
  if (effect === 'conflict' || !AGREEING[status].includes(said)) return true;
  // An acceptance before the failure agrees; one after it does not.
  if (status === 'failed' && said === 'accepted' && effect !== 'noted') return true;
  return reference !== null && railReference !== null && reference !== railReference;
}
