import type { Actor } from '../../access/audit-log.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import { time } from '../../db/columns.js';
import type { Database, Reader } from '../../db/database.js';
import { type Payout, payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import type { PayoutStatement } from '../../db/entities/rails.js';
import { literal } from '../../db/statements.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import { railFact, wasPaid } from '../rail-fact.js';
import { readWords } from '../reports.js';
import {
  type ComparedPayout,
  compareLine,
  Coverage,
  type Difference,
  type OtherLines,
  flagByLine,
  lineText,
  outcomesOf,
  type OwnOutcome,
  payoutText,
} from './compare.js';
import {
  coveredDays,
  type DatedLine,
  DAY_MS,
  keysOfEarlierVersions,
  linesOf,
  slices,
  type StatementInput,
  storeStatement,
  type StoredStatement,
} from './store.js';
import { assertIsOfDay, clearWithdrawn } from './withdrawal.js';

/** By default, a rail may date a line up to this much later than its outcome. */
export const DEFAULT_DELAY_MS = 3_600_000;

interface ReconcileDeps {
  readonly database: Database;
  readonly writer: LedgerWriter;
  readonly delayMs: number;
}

export interface Reconciled extends StoredStatement {
  readonly differences: readonly Difference[];
  /** The number of lines that flagged a payout, or gave it a more serious reason. */
  readonly flagged: number;
  /** The number of payouts whose flag was cleared, because only withdrawn lines had raised it. */
  readonly cleared: number;
}

/**
 * Stores a day's statement, flags the payouts that it contradicts, and clears flags that only its
 * earlier versions raised. Throws invalid_state for a file of another day. (docs/payouts.md)
 */
export async function reconcile(
  deps: ReconcileDeps,
  input: StatementInput,
  actor: Actor,
  at: Instant,
): Promise<Reconciled> {
  const { reader } = deps.database;
  await assertIsOfDay(reader, input);
  const stored = await storeStatement(deps.database, input, actor, at);
  const endedPayouts = await endedAround(reader, input.rail, input.day, deps.delayMs);
  const lines = [
    ...(await compareLines(reader, stored.statement, input)),
    ...(await compareOtherDays(reader, stored.statement, endedPayouts)),
  ];
  const missing = await findMissing(reader, stored.statement, endedPayouts, deps.delayMs);
  let flagged = 0;
  for (const line of lines) if (await flagIfContradicted(deps, line)) flagged += 1;
  const cleared = await clearWithdrawn(deps, stored.statement);
  const differences = [...lines.flatMap(differencesOf), ...missing];
  return { ...stored, differences, flagged, cleared };
}

interface ComparedLine {
  readonly line: DatedLine;
  readonly payout: ComparedPayout | undefined;
  readonly others: OtherLines;
}

async function compareLines(
  reader: Reader,
  { rail, day, id: statementId }: PayoutStatement,
  { lines }: StatementInput,
): Promise<readonly ComparedLine[]> {
  const keys = new Set(lines.map(({ payoutKey }) => payoutKey));
  const known = await withFacts(reader, (await payoutsOf(reader, rail, keys)).values());
  const stored = groupBy(await linesOf(reader, rail, keys), ({ payoutKey }) => payoutKey);
  return lines.map((input) => {
    const line: DatedLine = { ...input, statementId, rail, day };
    const all = stored.get(line.payoutKey) ?? [];
    const above = all.filter((other) => other.day === day && other.number < line.number);
    const elsewhere = all.filter((other) => other.day !== day);
    return { line, payout: known.get(line.payoutKey), others: { above, elsewhere } };
  });
}

async function compareOtherDays(
  reader: Reader,
  { rail, day }: PayoutStatement,
  endedPayouts: readonly Payout[],
): Promise<readonly ComparedLine[]> {
  const known = await withFacts(reader, endedPayouts);
  const others = { above: [], elsewhere: [] };
  return (await linesOf(reader, rail, known.keys()))
    .filter((line) => line.day !== day)
    .map((line) => ({ line, payout: known.get(line.payoutKey), others }));
}

function differencesOf({ line, payout, others }: ComparedLine): readonly Difference[] {
  const { payoutKey: payoutId, day, number } = line;
  const there = lineText(line, others);
  const here = payout === undefined ? 'nothing' : payoutText(payout);
  return compareLine(line, payout, others).map((difference) => ({
    difference,
    payoutId,
    day,
    line: number,
    there,
    here,
  }));
}

/** Adds to each returned payout whether the rail has reported its payment. */
async function withFacts(
  reader: Reader,
  found: Iterable<Payout>,
): Promise<ReadonlyMap<Uuid, ComparedPayout>> {
  const all = new Map<Uuid, ComparedPayout>();
  for (const payout of found) all.set(payout.id, await withFact(reader, payout));
  return all;
}

async function withFact(reader: Reader, payout: Payout): Promise<ComparedPayout> {
  if (payout.status !== 'returned') return payout;
  return { ...payout, wasPaid: wasPaid(railFact(payout, await readWords(reader, payout))) };
}

async function payoutsOf(
  reader: Reader,
  rail: string,
  keys: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, Payout>> {
  const found = new Map<Uuid, Payout>();
  for (const id of slices([...new Set(keys)]))
    for (const payout of await reader.select(payouts, { id, rail })) found.set(payout.id, payout);
  return found;
}

/** Returns outcomes that no statement lists, and days whose missing statement might list one. */
async function findMissing(
  reader: Reader,
  statement: PayoutStatement,
  endedPayouts: readonly Payout[],
  delayMs: number,
): Promise<Difference[]> {
  const { rail, day } = statement;
  const coverage = new Coverage(await coveredDays(reader, rail), delayMs);
  const withdrawn = new Set(await keysOfEarlierVersions(reader, statement));
  const earlier = await payoutsOf(reader, rail, withdrawn);
  const candidates = new Map([...endedPayouts.map((one) => [one.id, one] as const), ...earlier]);
  const due = [...candidates.values()]
    .flatMap(outcomesOf)
    .filter(({ payout, at }) => coverage.mayList(day, at) || withdrawn.has(payout.id))
    .filter(({ at }) => coverage.isComplete(at));
  const nothing = { line: null, there: 'nothing' } as const;
  const missing = (await findUnmatched(reader, rail, due)).map(({ payout }): Difference => {
    const here = payoutText(payout);
    return { difference: 'missing_there', payoutId: payout.id, day, ...nothing, here };
  });
  for (const gap of coverage.gapsBefore(day)) {
    const waiting = (await endedAround(reader, rail, gap, delayMs))
      .flatMap(outcomesOf)
      .filter(({ at }) => coverage.mayBeMissing(gap, at));
    const { length } = await findUnmatched(reader, rail, waiting);
    const here = `${length} outcome(s) wait for it`;
    if (length > 0)
      missing.push({ difference: 'no_statement', payoutId: null, day: gap, ...nothing, here });
  }
  return missing;
}

async function endedAround(
  reader: Reader,
  rail: string,
  day: Instant,
  delayMs: number,
): Promise<readonly Payout[]> {
  const [from, to] = [instant(day - delayMs), instant(day + DAY_MS)].map(time.literal);
  const endedBy = (index: string, column: string): Promise<readonly Payout[]> =>
    reader.list(
      payouts,
      `FORCE INDEX (${index}) WHERE rail=${literal(payouts, 'rail', rail)}
         AND ${column}>=${from} AND ${column}<${to}`,
    );
  const found = [
    ...(await endedBy('ended', 'ended_at')),
    ...(await endedBy('returned', 'returned_at')),
  ];
  return [...new Map(found.map((payout) => [payout.id, payout])).values()];
}

async function findUnmatched(
  reader: Reader,
  rail: string,
  outcomes: readonly OwnOutcome[],
): Promise<readonly OwnOutcome[]> {
  const ids = outcomes.map(({ payout }) => payout.id);
  const lines = await linesOf(reader, rail, ids);
  const listed = new Set(lines.map(({ payoutKey, status }) => `${payoutKey} ${status}`));
  const found = outcomes.filter(({ payout, status }) => !listed.has(`${payout.id} ${status}`));
  const failing = found.filter(({ status }) => status === 'failed').map(({ payout }) => payout.id);
  const failed = await failedByRail(reader, failing);
  return found.filter(({ payout, status }) => status !== 'failed' || failed.has(payout.id));
}

/** Returns payouts that the rail reported as failed. Statements omit voided and unknown ones. */
async function failedByRail(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  const found = new Set<Uuid>();
  for (const payoutId of slices(ids))
    for (const event of await reader.select(payoutRailEvents, { payoutId, reported: 'failed' }))
      if (event.payoutId !== null && event.kind !== 'resolution') found.add(event.payoutId);
  return found;
}

/** Flags the line's payout if the line contradicts it. Compares again if the payout has changed. */
async function flagIfContradicted(
  { writer, database }: ReconcileDeps,
  { line, payout: comparedPayout, others }: ComparedLine,
): Promise<boolean> {
  let payout = comparedPayout;
  while (payout !== undefined) {
    const effect = await flagByLine(writer, payout, line, compareLine(line, payout, others));
    if (effect !== 'changed') return effect === 'flagged';
    const changed = await database.current.find(payouts, { id: payout.id });
    payout = changed && (await withFact(database.current, changed));
  }
  return false;
}
