import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import { asset, bigint, integer, nullable, oneOf, string, time, uuid } from '../../db/columns.js';
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
import { LINE_STATUSES } from '../../db/entities/rail-statements.js';
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
const GENUINE: readonly PayoutRailEvent['effect'][] = [
  'noted',
  'applied',
  'duplicate',
  'conflict',
  'settled',
];

/** The states before an order is given to the rail, and those that only the rail's word, or two people, lead to. */
const WITHOUT_ORDER: readonly PayoutStatus[] = [
  'pending_approval',
  'approved',
  'rejected',
  'canceled',
];
const TOLD: readonly PayoutStatus[] = ['completed', 'returned', 'failed'];

/**
 * Each report of a rail that contradicts a payout, and each line of its statements, has been raised to operators, or
 * since settled by them; no outcome was guessed; no order was given to a rail for what could be canceled since; and no
 * money was given back that a statement had listed as paid.
 */
export const railReportChecks: Check = {
  tables: ['payout_rail_events', 'payout_statement_lines'],
  run: (audit) =>
    walkTable(audit, payouts, ROWS_A_SLICE, async (reader, slice) => {
      const calm = slice.filter(({ stuckSince }) => stuckSince === null);
      const [reports, resolved] = [
        await readReports(reader, calm),
        await readResolved(reader, calm),
      ];
      const lines = await readLines(reader, calm, instant(audit.beganAt - NOTED_WITHIN_MS));
      for (const payout of calm) {
        const own = reports.get(payout.id) ?? [];
        checkReports(audit, payout, own, resolved.get(payout.id));
        checkLines(audit, payout, lines.get(payout.id) ?? [], own, resolved.get(payout.id));
      }
      for (const id of await readReleased(reader, slice))
        audit.report(
          'payout_rail_word',
          `payout ${id}`,
          'its money was given back after a statement had listed it as paid',
        );
      const traces = await readTraces(reader, slice);
      for (const payout of slice) checkTraces(audit, payout, traces.get(payout.id));
    }),
};

/** Orders given to its rail, in all and before its end; words of the rail, and resolutions, that had an effect. */
const parseTraces = rowParser({
  payoutId: uuid,
  given: integer,
  givenBefore: integer,
  told: integer,
});
type Traces = ReturnType<typeof parseTraces>;

/** Of those that have any: retention removes them, the oldest first, once the payout has ended. */
async function readTraces(
  reader: Reader,
  slice: readonly Payout[],
): Promise<ReadonlyMap<Uuid, Traces>> {
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
    audit.report(
      'payout_order',
      subject,
      `it is ${status}, but its rail was given it and may pay it`,
    );
  // The order is older than the outcome: where it is kept, so is the outcome.
  if (traces.givenBefore > 0 && traces.told === 0 && TOLD.includes(status))
    audit.report(
      'payout_outcome',
      subject,
      `it is ${status}, which neither its rail nor two people have said`,
    );
}

const parseReport = rowParser({
  payoutId: uuid,
  said: oneOf(RAIL_WORDS),
  railReference: nullable(string),
  effect: oneOf(RAIL_EFFECTS),
  firstAt: time,
});
type RailReport = ReturnType<typeof parseReport>;

/** Leaves out lines of statements that contradicted nothing when they were loaded: readLines reads the current ones. */
async function readReports(
  reader: Reader,
  slice: readonly Payout[],
): Promise<ReadonlyMap<Uuid, readonly RailReport[]>> {
  const rows = await reader.query(
    `SELECT payout_id, said, rail_reference, effect, MIN(at) AS first_at FROM payout_rail_events FORCE INDEX (payout)
     WHERE payout_id IN (${idList(slice.map(({ id }) => id))}) AND said IS NOT NULL AND kind<>'resolution'
       AND NOT (kind='statement' AND effect='noted')
       AND effect IN (${literals(payoutRailEvents, 'effect', GENUINE)})
     GROUP BY payout_id, said, rail_reference, effect`,
  );
  return groupBy(rows.map(parseReport), ({ payoutId }) => payoutId);
}

/** When operators last decided the outcome of each. */
async function readResolved(
  reader: Reader,
  slice: readonly Payout[],
): Promise<ReadonlyMap<Uuid, Instant>> {
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

/** A statement that was loaded has been compared by then. */
const NOTED_WITHIN_MS = 600_000;

const parseLine = rowParser({
  payoutId: uuid,
  said: oneOf(LINE_STATUSES),
  railReference: nullable(string),
  raw: bigint,
  asset,
  takenAt: time,
});
type Line = ReturnType<typeof parseLine>;

/** Reads the lines of the newest versions of statements that were loaded before that moment. */
async function readLines(
  reader: Reader,
  slice: readonly Payout[],
  before: Instant,
): Promise<ReadonlyMap<Uuid, readonly Line[]>> {
  const rows = await reader.query(
    `SELECT p.id AS payout_id, l.status AS said, l.reference AS rail_reference, l.raw, l.asset, s.taken_at
     FROM payouts p JOIN payout_statement_lines l ON l.rail=p.rail AND l.payout_key=p.id
     JOIN payout_statements s ON s.id=l.statement_id AND s.taken_at<${time.literal(before)}
     WHERE p.id IN (${idList(slice.map(({ id }) => id))}) AND ${IS_NEWEST}`,
  );
  return groupBy(rows.map(parseLine), ({ payoutId }) => payoutId);
}

const IS_NEWEST = `NOT EXISTS
  (SELECT 1 FROM payout_statements n WHERE n.rail=s.rail AND n.day=s.day AND n.version>s.version)`;

function checkLines(
  audit: AuditRun,
  payout: Payout,
  lines: readonly Line[],
  reports: readonly RailReport[],
  resolvedAt: Instant | undefined,
): void {
  audit.counted('rail_lines', lines.length);
  for (const line of lines) {
    const { said, railReference, raw } = line;
    const isPaidAfterAll = said === 'failed' && payout.failedAt !== null;
    const isOther = raw !== payout.raw || line.asset !== payout.asset;
    if (
      !isOther &&
      (isPaidAfterAll || !contradicts(payout, { said, railReference, effect: 'noted' }))
    )
      continue;
    const same = reports.filter(
      (report) => report.said === said && report.railReference === railReference,
    );
    const knownAt = [line.takenAt, ...same.map(({ firstAt }) => firstAt)];
    if (resolvedAt !== undefined && knownAt.some((at) => at <= resolvedAt)) continue;
    const listed = `${said} ${raw} ${line.asset}${railReference === null ? '' : ` as ${railReference}`}`;
    const message = `it is ${payout.status}, a statement of its rail says ${listed}, and nobody is told`;
    audit.report('payout_rail_word', `payout ${payout.id}`, message);
  }
}

/** Finds payouts whose money was given back although a line listed them as paid and no two people had settled that. */
async function readReleased(reader: Reader, slice: readonly Payout[]): Promise<readonly Uuid[]> {
  const rows = await reader.query(
    `SELECT DISTINCT p.id FROM payouts p JOIN payout_rail_events e FORCE INDEX (payout) ON e.payout_id=p.id
     JOIN payout_statement_lines l ON l.rail=p.rail AND l.payout_key=p.id AND l.status=e.said
       AND l.reference<=>e.rail_reference
     JOIN payout_statements s ON s.id=l.statement_id
     WHERE p.id IN (${idList(slice.map(({ id }) => id))}) AND p.status IN ('failed','rejected','canceled')
       AND e.kind='statement' AND e.effect IN ('noted','conflict') AND e.said IN ('completed','returned')
       AND e.at<p.ended_at AND ${IS_NEWEST}
       AND NOT EXISTS (SELECT 1 FROM payout_resolutions r FORCE INDEX (payout)
         WHERE r.payout_id=p.id AND r.status='applied' AND r.decided_at<=p.ended_at)`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

function contradicts(
  { status, railReference }: Payout,
  report: Omit<RailReport, 'payoutId' | 'firstAt'>,
): boolean {
  const { said, railReference: reference, effect } = report;
  if (effect === 'conflict' || !AGREEING[status].includes(said)) return true;
  // An acceptance before the failure agrees; one after it does not.
  if (status === 'failed' && said === 'accepted' && effect !== 'noted') return true;
  return reference !== null && railReference !== null && reference !== railReference;
}
