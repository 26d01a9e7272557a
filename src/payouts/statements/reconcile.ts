import type { Actor } from '../../access/audit-log.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import { time } from '../../db/columns.js';
import type { Database, Reader } from '../../db/database.js';
import { type Payout, payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import type { PayoutStatement } from '../../db/entities/rail-statements.js';
import { literal } from '../../db/statements.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import {
  type Beside,
  compared,
  type Difference,
  outcomesOf,
  type OwnOutcome,
  shownHere,
  shownThere,
  Told,
} from './compare.js';
import { noteLine } from './raise.js';
import {
  DAY_MS,
  type DatedLine,
  type GivenStatement,
  linesOf,
  onceNamed,
  slices,
  type TakenStatement,
  takeStatement,
  toldDays,
} from './store.js';

/** Reconciles a rail's daily statement with our payouts. (docs/payouts.md) */

/** The default for a rail. */
export const USUAL_DELAY_MS = 3_600_000;

interface ReconcileDeps {
  readonly database: Database;
  readonly desk: LedgerWriter;
  /** How long after an outcome the rail may date its line. */
  readonly delayMs: number;
}

export interface Reconciled extends TakenStatement {
  /** In the order of the statement, then what is missing from it. */
  readonly differences: readonly Difference[];
  readonly raised: number;
}

/** Takes the statement and raises what it contradicts. Throws like takeStatement, and ApiError ledger_unavailable. */
export async function reconcile(
  deps: ReconcileDeps,
  given: GivenStatement,
  actor: Actor,
  at: Instant,
): Promise<Reconciled> {
  const { reader } = deps.database;
  const taken = await takeStatement(deps.database, given, actor, at);
  const near = await endedAround(reader, given.rail, given.day, deps.delayMs);
  const found = [
    ...(await differences(deps, taken.statement, given)),
    ...(await endedOtherwise(reader, taken.statement, near)),
  ];
  const missing = await missingThere(reader, taken.statement, near, deps.delayMs);
  const raised = await raise(deps, found);
  return { ...taken, differences: [...found.flatMap(({ shown }) => shown), ...missing], raised };
}

interface FoundLine {
  readonly line: DatedLine;
  readonly payout: Payout | undefined;
  readonly beside: Beside;
  readonly shown: readonly Difference[];
}

async function differences(
  { database: { reader } }: ReconcileDeps,
  { rail, day, id }: PayoutStatement,
  { lines }: GivenStatement,
): Promise<readonly FoundLine[]> {
  const keys = new Set(lines.map(({ payoutKey }) => payoutKey));
  const known = await payoutsOf(reader, rail, keys);
  const stored = groupBy(await linesOf(reader, rail, keys), ({ payoutKey }) => payoutKey);
  return lines.map((given) => {
    const line: DatedLine = { ...given, statementId: id, rail, day };
    const all = stored.get(line.payoutKey) ?? [];
    const above = all.filter((other) => other.day === day && other.number < line.number);
    const beside: Beside = { above, elsewhere: all.filter((other) => other.day !== day) };
    const payout = known.get(line.payoutKey);
    return foundLine(line, payout, beside);
  });
}

/** Payouts that recently ended differently from what another day's statement had said. */
async function endedOtherwise(
  reader: Reader,
  { rail, day }: PayoutStatement,
  near: readonly Payout[],
): Promise<readonly FoundLine[]> {
  const known = new Map(near.map((payout) => [payout.id, payout]));
  const lines = await linesOf(reader, rail, known.keys());
  return lines
    .filter((line) => line.day !== day)
    .map((line) => foundLine(line, known.get(line.payoutKey), { above: [], elsewhere: [] }));
}

function foundLine(line: DatedLine, payout: Payout | undefined, beside: Beside): FoundLine {
  const shown = compared(line, payout, beside).map((difference): Difference => {
    const there = shownThere(line, beside);
    const here = payout === undefined ? 'nothing' : shownHere(payout);
    return { difference, payoutId: line.payoutKey, day: line.day, line: line.number, there, here };
  });
  return { line, payout, beside, shown };
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

/**
 * Outcomes here that are in no statement, although all that may contain them have been imported; and missing days that
 * something waits for. Omits what the rail may still report in the next statement.
 */
async function missingThere(
  reader: Reader,
  statement: PayoutStatement,
  near: readonly Payout[],
  delayMs: number,
): Promise<Difference[]> {
  const { rail, day } = statement;
  const told = new Told(await toldDays(reader, rail), delayMs);
  const withdrawn = new Set(await onceNamed(reader, statement));
  const candidates = new Map(
    [...near, ...(await payoutsOf(reader, rail, withdrawn)).values()].map((one) => [one.id, one]),
  );
  const judged = [...candidates.values()]
    .flatMap(outcomesOf)
    .filter(
      ({ payout, at }) => (told.mayBeOn(day, at) || withdrawn.has(payout.id)) && told.isWhole(at),
    );
  const missing = (await unmatched(reader, rail, judged)).map(({ payout }): Difference => ({
    difference: 'missing_there',
    payoutId: payout.id,
    day,
    line: null,
    there: 'nothing',
    here: shownHere(payout),
  }));
  for (const gap of told.gapsBefore(day)) {
    const waiting = (await endedAround(reader, rail, gap, delayMs))
      .flatMap(outcomesOf)
      .filter(({ at }) => told.mayBeMissedOn(gap, at));
    const { length } = await unmatched(reader, rail, waiting);
    const here = `${length} outcome(s) wait for it`;
    if (length > 0)
      missing.push({
        difference: 'no_statement',
        payoutId: null,
        day: gap,
        line: null,
        there: 'nothing',
        here,
      });
  }
  return missing;
}

/** Payouts that ended or were returned at a time whose line may be on this day. */
async function endedAround(
  reader: Reader,
  rail: string,
  day: Instant,
  delayMs: number,
): Promise<readonly Payout[]> {
  const [from, to] = [instant(day - delayMs), instant(day + DAY_MS)];
  const within = (column: string): string =>
    `${column}>=${time.literal(from)} AND ${column}<${time.literal(to)}`;
  const named = `rail=${literal(payouts, 'rail', rail)}`;
  const found = [
    ...(await reader.list(payouts, `FORCE INDEX (ended) WHERE ${named} AND ${within('ended_at')}`)),
    ...(await reader.list(
      payouts,
      `FORCE INDEX (returned) WHERE ${named} AND ${within('returned_at')}`,
    )),
  ];
  return [...new Map(found.map((payout) => [payout.id, payout])).values()];
}

/** Those that are in no statement although one should have them. */
async function unmatched(
  reader: Reader,
  rail: string,
  outcomes: readonly OwnOutcome[],
): Promise<readonly OwnOutcome[]> {
  const ids = outcomes.map(({ payout }) => payout.id);
  const lines = await linesOf(reader, rail, ids);
  const told = new Set(lines.map(({ payoutKey, status }) => `${payoutKey} ${status}`));
  const found = outcomes.filter(({ payout, status }) => !told.has(`${payout.id} ${status}`));
  const failing = found.filter(({ status }) => status === 'failed').map(({ payout }) => payout.id);
  const failed = await failedByRail(reader, failing);
  return found.filter(({ payout, status }) => status !== 'failed' || failed.has(payout.id));
}

/** Which the rail itself reported as failed: statements leave out those that it voided or never had. */
async function failedByRail(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  const found = new Set<Uuid>();
  for (const payoutId of slices(ids))
    for (const { payoutId: id, kind } of await reader.select(payoutRailEvents, {
      payoutId,
      said: 'failed',
    }))
      if (id !== null && kind !== 'resolution') found.add(id);
  return found;
}

/** Returns how many lines raised a payout that was not raised for that reason before. */
async function raise(deps: ReconcileDeps, found: readonly FoundLine[]): Promise<number> {
  let raised = 0;
  for (const line of found) if (await isRaisedBy(deps, line)) raised += 1;
  return raised;
}

/** Compares the line again whenever its payout has changed since it was read. */
async function isRaisedBy(
  { desk, database }: ReconcileDeps,
  { line, payout, beside }: FoundLine,
): Promise<boolean> {
  let now = payout;
  while (now !== undefined) {
    const effect = await noteLine(desk, now, line, compared(line, now, beside));
    if (effect !== 'changed') return effect === 'raised';
    now = await database.current.find(payouts, { id: now.id });
  }
  return false;
}
