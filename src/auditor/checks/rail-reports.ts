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
  REPORT_STATUSES,
  RESOLUTION_OUTCOMES,
} from '../../db/entities/payouts.js';
import { LINE_STATUSES } from '../../db/entities/rails.js';
import { literals } from '../../db/statements.js';
import { rowParser } from '../../db/table.js';
import { checkReleases } from './rail-releases.js';
import { type AuditRun, type Check, idList, ROWS_PER_SLICE, scanTable } from '../scan.js';

/** The reports by a rail that are possible for a payout in each state. */
const EXPECTED_REPORTS: Readonly<
  Record<PayoutStatus, readonly (typeof REPORT_STATUSES)[number][]>
> = {
  pending_approval: ['unknown'],
  approved: ['unknown'],
  rejected: ['unknown'],
  canceled: ['unknown'],
  in_progress: ['unknown', 'accepted'],
  completed: ['unknown', 'accepted', 'completed'],
  returned: ['unknown', 'accepted', 'completed', 'returned'],
  failed: ['unknown', 'accepted', 'failed', 'voided'],
};
const AUTHENTIC_EFFECTS: PayoutRailEvent['effect'][] = [
  'noted',
  'applied',
  'duplicate',
  'conflict',
  'settled',
];
const NOT_SUBMITTED = ['pending_approval', 'approved', 'rejected', 'canceled'];
/** States that require a report of the rail, or a decision by two people. */
const REPORTED = ['completed', 'returned', 'failed'];
/** Reports that agree with a return that only two people decided. */
const EXPECTED_OF_UNPAID_RETURN = ['unknown', 'failed', 'voided', 'returned'];
/** Reports that the rail did not and will not pay. */
const DENIALS = ['failed', 'voided', 'unknown'];
/** Statements loaded longer ago than this have been compared with the payouts. */
const COMPARED_AFTER_MS = 600_000;

/**
 * Checks that each contradiction between a payout and its rail's reports and current statement
 * lines has been flagged or settled, that no outcome was guessed, that no payout was canceled after
 * its rail received it, and that no money was given back after a statement listed it as paid, or
 * without the rail's denial.
 */
export const railReportChecks: Check = {
  tables: ['payout_rail_events', 'payout_statement_lines'],
  run: (audit) =>
    scanTable(audit, payouts, ROWS_PER_SLICE, async (reader, slice) => {
      const all = idList(slice.map(({ id }) => id));
      const unflagged = slice.filter(({ stuckSince }) => stuckSince === null);
      const unflaggedIds = idList(unflagged.map(({ id }) => id));
      const [reports, decisions] = [
        await readReports(reader, unflaggedIds),
        await readDecisions(reader, unflaggedIds),
      ];
      const counts = await readEventCounts(reader, all);
      const lines = await readLines(reader, unflaggedIds, instant(Date.now() - COMPARED_AFTER_MS));
      for (const payout of unflagged) {
        const history: History = {
          reports: reports.get(payout.id) ?? [],
          decisions: decisions.get(payout.id) ?? [],
          isComplete: (counts.get(payout.id)?.sent ?? 0) > 0,
        };
        checkReports(audit, payout, history);
        checkLines(audit, payout, lines.get(payout.id) ?? [], history);
      }
      for (const row of await reader.query(releasedSql(all)))
        audit.report(
          'payout_rail_word',
          `payout ${uuid.parse(row.id)}`,
          'its money was given back after a statement had listed it as paid',
        );
      await checkReleases(audit, reader, slice);
      for (const payout of slice) checkEventCounts(audit, payout, counts.get(payout.id));
    }),
};

/** Numbers of submissions sent, of those sent before the end, and of applied reports and decisions. */
const parseEventCounts = rowParser({
  payoutId: uuid,
  sent: integer,
  sentBeforeEnd: integer,
  applied: integer,
});

async function readEventCounts(
  reader: Reader,
  ids: string,
): Promise<ReadonlyMap<Uuid, ReturnType<typeof parseEventCounts>>> {
  const rows = await reader.query(
    `SELECT e.payout_id, COUNT(IF(e.effect='sent', 1, NULL)) AS sent,
       COUNT(IF(e.effect='applied', 1, NULL)) AS applied,
       COUNT(IF(e.effect='sent' AND e.at<=COALESCE(p.failed_at, p.ended_at, e.at), 1, NULL))
         AS sent_before_end
     FROM payouts p JOIN payout_rail_events e FORCE INDEX (payout) ON e.payout_id=p.id
     WHERE p.id IN (${ids}) AND e.effect IN ('sent','applied') GROUP BY e.payout_id`,
  );
  return new Map(rows.map(parseEventCounts).map((counts) => [counts.payoutId, counts]));
}

function checkEventCounts(
  audit: AuditRun,
  { id, status, submittedAt }: Payout,
  counts: ReturnType<typeof parseEventCounts> | undefined,
): void {
  if (counts === undefined) return;
  const { sent, sentBeforeEnd, applied } = counts;
  // It failed before its first order, because the holder of the key has changed.
  const isRefused = status === 'failed' && submittedAt === null;
  const wasSubmitted = sent > 0 && (isRefused || NOT_SUBMITTED.includes(status));
  // Retention removes older rows first. If the submission is still stored, so is a later report.
  const isGuessed = sentBeforeEnd > 0 && applied === 0 && REPORTED.includes(status);
  audit.reportAll(`payout ${id}`, {
    payout_order: wasSubmitted && `it is ${status}, but its rail received it and may pay it`,
    payout_outcome:
      isGuessed && `it is ${status}, which neither its rail nor two people have reported`,
  });
}

const parseReport = rowParser({
  payoutId: uuid,
  reported: oneOf(REPORT_STATUSES),
  railReference: nullable(string),
  effect: oneOf(RAIL_EFFECTS),
  isLine: integer,
  firstAt: time,
  lastAt: time,
});
type RailReport = ReturnType<typeof parseReport>;

/** When flags that lines had raised were last cleared, because a corrected statement lacks the lines. */
const WITHDRAWN_AT = `COALESCE((SELECT MAX(w.at) FROM payout_rail_events w FORCE INDEX (payout)
  WHERE w.payout_id=payout_rail_events.payout_id AND w.kind='statement' AND w.reported IS NULL), '1970-01-01')`;

/** Reads the reports, except statement lines that agreed with the payout when loaded. */
async function readReports(
  reader: Reader,
  ids: string,
): Promise<ReadonlyMap<Uuid, readonly RailReport[]>> {
  const genuine = literals(payoutRailEvents, 'effect', AUTHENTIC_EFFECTS);
  const rows = await reader.query(
    `SELECT payout_id, reported, rail_reference, effect, kind='statement' AS is_line,
       MIN(at) AS first_at, MAX(at) AS last_at
     FROM payout_rail_events FORCE INDEX (payout)
     WHERE payout_id IN (${ids}) AND reported IS NOT NULL AND kind<>'resolution'
       AND NOT (kind='statement' AND (effect='noted' OR at<=${WITHDRAWN_AT}))
       AND effect IN (${genuine})
     GROUP BY payout_id, reported, rail_reference, effect, is_line`,
  );
  return groupBy(rows.map(parseReport), ({ payoutId }) => payoutId);
}

const parseDecision = rowParser({
  payoutId: uuid,
  outcome: oneOf(RESOLUTION_OUTCOMES),
  decidedAt: time,
});
type Decision = ReturnType<typeof parseDecision>;

interface History {
  readonly reports: readonly RailReport[];
  readonly decisions: readonly Decision[];
  /** Whether the submission is stored. Then no report was removed, because older rows go first. */
  readonly isComplete: boolean;
}

async function readDecisions(
  reader: Reader,
  ids: string,
): Promise<ReadonlyMap<Uuid, readonly Decision[]>> {
  const rows = await reader.query(
    `SELECT payout_id, outcome, decided_at FROM payout_resolutions FORCE INDEX (payout)
     WHERE payout_id IN (${ids}) AND status='applied' AND decided_at IS NOT NULL`,
  );
  return groupBy(rows.map(parseDecision), ({ payoutId }) => payoutId);
}

function checkReports(audit: AuditRun, payout: Payout, history: History): void {
  const { reports, decisions } = history;
  for (const report of reports.filter((one) => contradicts(payout, one, history))) {
    const { reported, railReference } = report;
    const knownAt = timesOf(reports, reported, railReference);
    if (decisions.some((decision) => settles(decision, payout, report, knownAt))) continue;
    const known = payout.railReference === null ? '' : ` as ${payout.railReference}`;
    const named = railReference === null ? '' : ` as ${railReference}`;
    audit.report(
      'payout_rail_word',
      `payout ${payout.id}`,
      `it is ${payout.status}${known}, its rail reported ${reported}${named}, and it is not flagged`,
    );
  }
}

/**
 * Returns whether two people knew the report when they decided. A repetition is settled too, unless
 * the payout has changed since, or the rail itself reports a payment that they gave back.
 */
function settles(
  { outcome, decidedAt }: Decision,
  { submittedAt, endedAt, returnedAt }: Payout,
  { reported, lastAt, isLine }: RailReport,
  knownAt: readonly Instant[],
): boolean {
  if (!knownAt.some((at) => at <= decidedAt)) return false;
  if (isLine === 1 || lastAt <= decidedAt) return true;
  const isDenial = DENIALS.includes(reported);
  const since = (isDenial ? null : returnedAt) ?? endedAt ?? submittedAt ?? decidedAt;
  const keepsMoney = outcome !== 'failed' && outcome !== 'returned';
  return decidedAt >= since && (isDenial || keepsMoney);
}

function timesOf(
  reports: readonly RailReport[],
  reported: string,
  railReference: string | null,
): Instant[] {
  return reports
    .filter((one) => one.reported === reported && one.railReference === railReference)
    .map(({ firstAt }) => firstAt);
}

const parseLine = rowParser({
  payoutId: uuid,
  reported: oneOf(LINE_STATUSES),
  railReference: nullable(string),
  raw: bigint,
  asset,
  at: nullable(time),
  statementId: uuid,
  storedAt: time,
});
type Line = ReturnType<typeof parseLine>;

const IS_NEWEST = `NOT EXISTS
  (SELECT 1 FROM payout_statements n WHERE n.rail=s.rail AND n.day=s.day AND n.version>s.version)`;

/** Reads the current lines of statements loaded before that time. */
async function readLines(
  reader: Reader,
  ids: string,
  before: Instant,
): Promise<ReadonlyMap<Uuid, readonly Line[]>> {
  const rows = await reader.query(
    `SELECT p.id AS payout_id, l.status AS reported, l.reference AS rail_reference, l.raw, l.asset,
       l.at, l.statement_id, s.stored_at
     FROM payouts p JOIN payout_statement_lines l ON l.rail=p.rail AND l.payout_key=p.id
     JOIN payout_statements s ON s.id=l.statement_id AND s.stored_at<${time.literal(before)}
     WHERE p.id IN (${ids}) AND ${IS_NEWEST} ORDER BY s.stored_at, l.number`,
  );
  return groupBy(rows.map(parseLine), ({ payoutId }) => payoutId);
}

function checkLines(
  audit: AuditRun,
  payout: Payout,
  lines: readonly Line[],
  history: History,
): void {
  const { reports, decisions } = history;
  for (const [index, current] of lines.entries()) {
    const { reported, railReference, raw, asset: ofAsset, storedAt } = current;
    const isPaidAfterAll = reported === 'failed' && payout.failedAt !== null;
    const hasOtherAmount = raw !== payout.raw || ofAsset !== payout.asset;
    const line = { reported, railReference, effect: 'noted', lastAt: storedAt } as const;
    const isContrary = contradicts(payout, line, history);
    const isPaidTwice = lines.slice(0, index).some((earlier) => isSecondPayment(earlier, current));
    if (!hasOtherAmount && !isPaidTwice && (isPaidAfterAll || !isContrary)) continue;
    const knownAt = [storedAt, ...timesOf(reports, reported, railReference)];
    if (decisions.some(({ decidedAt }) => knownAt.some((at) => at <= decidedAt))) continue;
    const named = railReference === null ? '' : ` as ${railReference}`;
    const listed = `a statement of its rail lists ${reported} ${raw} ${ofAsset}${named}`;
    const message = `it is ${payout.status}, ${listed}, and it is not flagged`;
    audit.report('payout_rail_word', `payout ${payout.id}`, message);
  }
}

/** Returns whether both lines list a payment. A repetition within one statement is the same payment. */
function isSecondPayment(earlier: Line, line: Line): boolean {
  if (earlier.reported !== 'completed' || line.reported !== 'completed') return false;
  return (
    earlier.statementId !== line.statementId ||
    earlier.railReference !== line.railReference ||
    earlier.at !== line.at ||
    earlier.raw !== line.raw ||
    earlier.asset !== line.asset
  );
}

function releasedSql(ids: string): string {
  return `SELECT DISTINCT p.id
     FROM payouts p JOIN payout_rail_events e FORCE INDEX (payout) ON e.payout_id=p.id
     JOIN payout_statement_lines l ON l.rail=p.rail AND l.payout_key=p.id AND l.status=e.reported
       AND l.reference<=>e.rail_reference
     JOIN payout_statements s ON s.id=l.statement_id
     WHERE p.id IN (${ids}) AND p.status IN ('failed','rejected','canceled') AND ${IS_NEWEST}
       AND e.kind='statement' AND e.effect IN ('noted','conflict')
       AND e.reported IN ('completed','returned') AND e.at<p.ended_at
       AND NOT EXISTS (SELECT 1 FROM payout_resolutions r FORCE INDEX (payout)
         WHERE r.payout_id=p.id AND r.status='applied' AND r.decided_at<=p.ended_at)`;
}

type ComparedReport = Pick<RailReport, 'reported' | 'railReference' | 'effect' | 'lastAt'>;

function contradicts(payout: Payout, report: ComparedReport, history: History): boolean {
  const { status, railReference: known } = payout;
  const { reported, railReference, effect } = report;
  if (effect === 'conflict') return true;
  if (isUnpaidReturn(payout, report, history)) {
    if (!EXPECTED_OF_UNPAID_RETURN.includes(reported)) return true;
  } else if (!EXPECTED_REPORTS[status].includes(reported)) return true;
  // A rail may accept a payout before it reports the failure, but not afterwards.
  if (status === 'failed' && reported === 'accepted' && effect !== 'noted') return true;
  return railReference !== null && known !== null && railReference !== known;
}

/** Returns whether two people alone had decided the return, and the rail had reported no payment. */
function isUnpaidReturn(
  { status, submittedAt, returnedAt, railReference: known }: Payout,
  report: ComparedReport,
  { reports, isComplete }: History,
): boolean {
  if (!isComplete || status !== 'returned' || submittedAt === null || returnedAt === null)
    return false;
  const wasPaid = reports.some(
    (one) =>
      one !== report &&
      one.isLine === 0 &&
      (one.reported === 'completed' || one.reported === 'returned') &&
      (one.railReference === null || known === null || one.railReference === known) &&
      one.firstAt <= report.lastAt &&
      one.lastAt >= submittedAt,
  );
  return report.lastAt > returnedAt && !wasPaid;
}
