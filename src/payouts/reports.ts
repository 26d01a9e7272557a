import { time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import {
  type PayoutStatementLine,
  payoutStatementLines,
  payoutSupersededLines,
} from '../db/entities/rails.js';
import { literal } from '../db/statements.js';
import { type LockedState, rowKey, type RowKey } from '../ledger/writer/types.js';
import type { RailRecord, RailWord } from './rail-fact.js';
import type { RailReport } from './rails/rail.js';

/** Reports by rails and statements about a payout, besides its row. (docs/contract.md, Rails) */

/** A rail's report about a payout; `unknown` if the rail never received it. */
export interface Report extends Omit<RailReport, 'status'> {
  readonly status: RailReport['status'] | 'unknown';
}

/** Reports that say whether the rail paid. Further reports are read only if they contradicted the payout. */
const OUTCOMES = ['completed', 'failed', 'returned', 'voided'] as const;
const CONFLICTS = { effect: 'conflict' } as const;

/** Returns the rows that the functions below read under the account's lock. */
export function reportRowKeys({ id: payoutId, rail }: Pick<Payout, 'id' | 'rail'>): RowKey[] {
  const lines = { rail, payoutKey: payoutId };
  return [
    // Read first, because the account's lock does not cover statements: a line that is superseded
    // between the two reads counts, and so does its successor.
    rowKey(payoutSupersededLines, lines),
    rowKey(payoutStatementLines, lines),
    ...OUTCOMES.map((reported) => rowKey(payoutRailEvents, { payoutId, reported })),
    rowKey(payoutRailEvents, { payoutId, ...CONFLICTS }),
  ];
}

/** Returns the stored reports, oldest first: those of an outcome, and other contradictions. */
function storedReports({ id: payoutId }: Payout, state: LockedState): readonly PayoutRailEvent[] {
  const outcomes = OUTCOMES.flatMap((reported) =>
    state.rows(payoutRailEvents, { payoutId, reported }),
  );
  return inOrder(outcomes, state.rows(payoutRailEvents, { payoutId, ...CONFLICTS }));
}

async function readStoredReports(
  reader: Reader,
  { id: payoutId }: Payout,
): Promise<readonly PayoutRailEvent[]> {
  const [outcomes, conflicts] = await Promise.all([
    reader.select(payoutRailEvents, { payoutId, reported: OUTCOMES }),
    reader.select(payoutRailEvents, { payoutId, ...CONFLICTS }),
  ]);
  return inOrder(outcomes, conflicts);
}

function inOrder(...rows: readonly (readonly PayoutRailEvent[])[]): readonly PayoutRailEvent[] {
  const events = new Map(rows.flat().map((event) => [event.id, event]));
  return [...events.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
}

/**
 * Returns what the rail itself reported, without statement lines and decisions of two people. An
 * `accepted` before any denial is not among them, because it changes no fact.
 */
function wordsOf(events: readonly PayoutRailEvent[]): readonly RailWord[] {
  return events.flatMap(({ kind, reported: status, railReference: reference, at }) =>
    status === null || kind === 'statement' || kind === 'resolution'
      ? []
      : [{ status, reference, at }],
  );
}

export function railRecord(payout: Payout, state: LockedState): RailRecord {
  return { words: wordsOf(storedReports(payout, state)), openLines: openLines(payout, state) };
}

export async function readRecord(reader: Reader, payout: Payout): Promise<RailRecord> {
  const [events, lines] = await readReports(reader, payout);
  return { words: wordsOf(events), openLines: unresolved(lines, events) };
}

export async function readWords(reader: Reader, payout: Payout): Promise<readonly RailWord[]> {
  return wordsOf(await readStoredReports(reader, payout));
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
  return unresolved(currentLines(payout, state), storedReports(payout, state));
}

function unresolved(
  lines: readonly PayoutStatementLine[],
  events: readonly PayoutRailEvent[],
): readonly PayoutStatementLine[] {
  const resolved = events.filter(
    ({ kind, effect }) => kind === 'statement' && effect === 'settled',
  );
  return lines.filter((line) => {
    const index = resolved.findIndex((event) => listingOf(event) === contentOf(line));
    // Each resolution counts for one line, because an equal line of another day may be another payment.
    if (index >= 0) resolved.splice(index, 1);
    return index < 0;
  });
}

/** Returns whether the rail has reported the payout in a response, a callback or a statement. */
export function isKnownToRail(payout: Payout, state: LockedState): boolean {
  const events = storedReports(payout, state);
  return (
    payout.railReference !== null ||
    events.some(isListed) ||
    openLines(payout, state).length > 0 ||
    (payout.stuckReason === 'contradiction' &&
      events.some(({ effect, reported }) => effect === 'conflict' && reported !== 'unknown'))
  );
}

/** Returns the reports that raised the flag and contradictions since. Empty if no report raised it. */
export function flagSources(
  { stuckSince, ...payout }: Payout,
  state: LockedState,
): readonly PayoutRailEvent[] {
  if (stuckSince === null) return [];
  const since = storedReports({ ...payout, stuckSince }, state).filter(
    ({ at }) => at >= stuckSince,
  );
  const sources = since.filter((event) => event.effect === 'conflict' || isListed(event));
  return sources.some(({ at }) => at === stuckSince) ? sources : [];
}

/** Returns whether it is a statement line that neither contradicted the payout nor was resolved. */
function isListed({ kind, effect }: PayoutRailEvent): boolean {
  return kind === 'statement' && effect === 'noted';
}

/** Counts the distinct reports and statement lines. `readReportCount` reads the same number. */
export function countReports(payout: Payout, state: LockedState): number {
  return countDistinct(storedReports(payout, state), currentLines(payout, state));
}

export async function readReportCount(reader: Reader, payout: Payout): Promise<number> {
  return countDistinct(...(await readReports(reader, payout)));
}

async function readReports(
  reader: Reader,
  payout: Payout,
): Promise<readonly [readonly PayoutRailEvent[], readonly PayoutStatementLine[]]> {
  const key = { rail: payout.rail, payoutKey: payout.id };
  const [lines, superseded, events] = await Promise.all([
    reader.select(payoutStatementLines, key),
    reader.select(payoutSupersededLines, key),
    readStoredReports(reader, payout),
  ]);
  return [events, withoutSuperseded(lines, superseded)];
}

function countDistinct(
  events: readonly PayoutRailEvent[],
  lines: readonly PayoutStatementLine[],
): number {
  const settled = (event: PayoutRailEvent): boolean =>
    event.kind === 'resolution' || (event.kind === 'statement' && event.effect === 'settled');
  const all = [
    ...events.filter((event) => !settled(event)).map(listingOf),
    ...lines.map(contentOf),
  ];
  return new Set(all).size;
}

/** Returns what a line says about the payment. Equal lines of different days have the same content. */
export function contentOf(line: Omit<PayoutStatementLine, 'statementId' | 'rail'>): string {
  return [line.status, line.reference, listedAmount(line)].join(' ');
}

export function listedAmount({ raw, asset }: Pick<PayoutStatementLine, 'raw' | 'asset'>): string {
  return `${raw} ${asset}`;
}

function listingOf({ reported, railReference, listedAmount: amount }: PayoutRailEvent): string {
  return [reported, railReference, amount].join(' ');
}

/**
 * Returns whether two people have resolved this very report since the payout reached its state, so
 * that repeating it does not flag the payout again. A decision to give money back relies on the
 * rail's denial, so it resolves no later report of a payment. May be read before the lock: a report
 * stays resolved while the payout keeps its state.
 */
export async function isResolved(
  reader: Reader,
  { id, submittedAt, endedAt, returnedAt }: Payout,
  { status, reference }: Pick<Report, 'status' | 'reference'>,
): Promise<boolean> {
  const isDenial = status === 'failed' || status === 'voided' || status === 'unknown';
  const since = (isDenial ? null : returnedAt) ?? endedAt ?? submittedAt;
  const inState = since === null ? '' : ` AND r.decided_at>=${time.literal(since)}`;
  const keepsMoney = isDenial ? '' : ` AND r.outcome NOT IN ('failed','returned')`;
  const rows = await reader.query(
    `SELECT 1 FROM payout_rail_events e FORCE INDEX (payout) JOIN payout_resolutions r
      ON r.payout_id=e.payout_id AND r.status='applied' AND e.at<=r.decided_at${inState}${keepsMoney}
     WHERE e.payout_id=${uuid.literal(id)} AND e.reported=${literal(payoutRailEvents, 'reported', status)}
       AND e.rail_reference<=>${literal(payoutRailEvents, 'railReference', reference)}
       AND e.kind NOT IN ('resolution','statement') AND e.effect NOT IN ('replayed','noted') LIMIT 1`,
  );
  return rows.length > 0;
}
