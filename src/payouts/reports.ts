import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import {
  type PayoutStatementLine,
  payoutStatementLines,
  payoutSupersededLines,
} from '../db/entities/rails.js';
import { literal } from '../db/statements.js';
import { type LockedState, rowKey, type RowKey } from '../ledger/writer/types.js';
import { contradicts, type KnownPayout, type ReportedOutcome } from './state-machine.js';
import type { RailReport } from './rails/rail.js';

/** Reports by rails and statements about a payout, besides its row. (docs/contract.md, Rails) */

/** A rail's report about a payout; `unknown` if the rail never received it. */
export interface Report extends Omit<RailReport, 'status'> {
  readonly status: RailReport['status'] | 'unknown';
}

/** Statement lines that neither contradicted the payout nor were resolved before. */
const LISTED = { kind: 'statement', effect: 'noted' } as const;
const CONFLICTS = { effect: 'conflict' } as const;
const RESOLVED_LINES = { kind: 'statement', effect: 'settled' } as const;
/** Reports of a payment that posted nothing. `hasPaymentReport` skips statement lines among them. */
const UNPOSTED = (['completed', 'returned'] as const).map(
  (reported) => ({ effect: 'noted', reported }) as const,
);

/** Returns the rows that the functions below read under the account's lock. */
export function reportRowKeys({ id: payoutId, rail }: Pick<Payout, 'id' | 'rail'>): RowKey[] {
  const lines = { rail, payoutKey: payoutId };
  return [
    // Read first, because the account's lock does not cover statements: a line that is superseded
    // between the two reads counts, and so does its successor.
    rowKey(payoutSupersededLines, lines),
    rowKey(payoutStatementLines, lines),
    ...[LISTED, CONFLICTS, RESOLVED_LINES, ...UNPOSTED].map((filter) =>
      rowKey(payoutRailEvents, { payoutId, ...filter }),
    ),
  ];
}

/** Returns the payout's statement lines, without superseded ones. */
export function currentLines(
  { id: payoutKey, rail }: Payout,
  state: LockedState,
): readonly PayoutStatementLine[] {
  const key = { rail, payoutKey };
  const superseded = state.rows(payoutSupersededLines, key);
  return withoutSuperseded(state.rows(payoutStatementLines, key), superseded);
}

function withoutSuperseded(
  lines: readonly PayoutStatementLine[],
  superseded: readonly Pick<PayoutStatementLine, 'statementId' | 'number'>[],
): readonly PayoutStatementLine[] {
  const keyOf = ({ statementId, number }: (typeof superseded)[number]) =>
    `${statementId} ${number}`;
  const old = new Set(superseded.map(keyOf));
  return lines.filter((line) => !old.has(keyOf(line)));
}

/** Returns the current lines that two people have not resolved. */
export function openLines(payout: Payout, state: LockedState): readonly PayoutStatementLine[] {
  const resolved = [...state.rows(payoutRailEvents, { payoutId: payout.id, ...RESOLVED_LINES })];
  return currentLines(payout, state).filter(({ status, reference }) => {
    const index = resolved.findIndex(
      ({ reported, railReference }) => reported === status && railReference === reference,
    );
    // Each resolution counts for one line, because an equal line of another day may be another payment.
    if (index >= 0) resolved.splice(index, 1);
    return index < 0;
  });
}

export function payoutAsListed({ status, reference }: PayoutStatementLine): KnownPayout {
  return { status, railReference: reference };
}

/** Returns whether a report contradicts an open line, or denies a payment reported before. */
export function contradictsReports(
  payout: Payout,
  report: ReportedOutcome,
  state: LockedState,
): boolean {
  const paidPayout = { status: 'completed', railReference: null } as const;
  return (
    openLines(payout, state).some((line) => contradicts(payoutAsListed(line), report)) ||
    (hasPaymentReport(payout, state) && contradicts(paidPayout, report))
  );
}

/** Returns whether an unresolved report of a payment contradicts the payout or was not posted. */
function hasPaymentReport(payout: Payout, state: LockedState): boolean {
  const { id: payoutId, status, stuckReason } = payout;
  if (status !== 'in_progress' || (stuckReason !== 'contradiction' && stuckReason !== 'overflow'))
    return false;
  return [CONFLICTS, ...UNPOSTED]
    .flatMap((filter) => state.rows(payoutRailEvents, { payoutId, ...filter }))
    .some(
      ({ kind, reported }) =>
        kind !== 'statement' && (reported === 'completed' || reported === 'returned'),
    );
}

/** Returns whether the rail has reported the payout in a response, a callback or a statement. */
export function isKnownToRail(payout: Payout, state: LockedState): boolean {
  const { id: payoutId, railReference, stuckReason } = payout;
  const rows = (filter: Partial<PayoutRailEvent>) =>
    state.rows(payoutRailEvents, { payoutId, ...filter });
  return (
    railReference !== null ||
    rows(LISTED).length > 0 ||
    openLines(payout, state).length > 0 ||
    (stuckReason === 'contradiction' &&
      rows(CONFLICTS).some(({ reported }) => reported !== 'unknown'))
  );
}

/** Counts the distinct conflicts and statement lines. `readReportCount` reads the same number. */
export function countReports(payout: Payout, state: LockedState): number {
  const events = [LISTED, CONFLICTS].flatMap((filter) =>
    state.rows(payoutRailEvents, { payoutId: payout.id, ...filter }),
  );
  return countDistinct(events, currentLines(payout, state));
}

export async function readReportCount(reader: Reader, payout: Payout): Promise<number> {
  const key = { rail: payout.rail, payoutKey: payout.id };
  const [lines, superseded, listed, conflicts] = await Promise.all([
    reader.select(payoutStatementLines, key),
    reader.select(payoutSupersededLines, key),
    reader.select(payoutRailEvents, { payoutId: payout.id, ...LISTED }),
    reader.select(payoutRailEvents, { payoutId: payout.id, ...CONFLICTS }),
  ]);
  return countDistinct([...listed, ...conflicts], withoutSuperseded(lines, superseded));
}

function countDistinct(
  events: readonly Pick<PayoutRailEvent, 'reported' | 'railReference'>[],
  lines: readonly PayoutStatementLine[],
): number {
  const all = [
    ...events.map(({ reported, railReference }) => `${reported ?? ''} ${railReference ?? ''}`),
    ...lines.map(({ status, reference }) => `${status} ${reference ?? ''}`),
  ];
  return new Set(all).size;
}

/**
 * Returns whether two people have resolved this very report, so that repeating it does not flag the
 * payout again. May be read before the lock, because a resolved report stays resolved.
 */
export async function isResolved(
  reader: Reader,
  { id }: Payout,
  { status, reference }: Pick<Report, 'status' | 'reference'>,
): Promise<boolean> {
  const rows = await reader.query(
    `SELECT 1 FROM payout_rail_events e FORCE INDEX (payout) JOIN payout_resolutions r
      ON r.payout_id=e.payout_id AND r.status='applied' AND e.at<=r.decided_at
     WHERE e.payout_id=${uuid.literal(id)} AND e.reported=${literal(payoutRailEvents, 'reported', status)}
       AND e.rail_reference<=>${literal(payoutRailEvents, 'railReference', reference)}
       AND e.kind NOT IN ('resolution','statement') AND e.effect NOT IN ('replayed','noted') LIMIT 1`,
  );
  return rows.length > 0;
}
