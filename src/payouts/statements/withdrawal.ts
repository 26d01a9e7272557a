import { groupBy } from '../../core/collections.js';
import { ApiError, invalidState } from '../../core/errors.js';
import { instant } from '../../core/instant.js';
import type { Database, Reader } from '../../db/database.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import type { PayoutStatement } from '../../db/entities/rails.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import { changeRow, leaveUnchanged, type LockedState } from '../../ledger/writer/types.js';
import {
  definePayoutCommand,
  insertRailEvent,
  newPayoutCommand,
  type PayoutCommand,
  payoutOrThrow,
} from '../commands.js';
import { railFact, wasPaid } from '../rail-fact.js';
import { currentLines, flagSources, openLines, railRecord, reportRowKeys } from '../reports.js';
import { NOT_FLAGGED, schedulePoll } from '../rules.js';
import { compareLine, dayOf, isContradiction, isSameLine } from './compare.js';
import {
  DAY_MS,
  dayText,
  keysOfEarlierVersions,
  linesOf,
  type LineInput,
  slices,
  type StatementInput,
} from './store.js';

/** Statements that were loaded for a wrong day. (docs/payouts.md) */

const FARTHEST_DAYS = 2;

/**
 * Throws invalid_state if all lines are dated more than two days from the statement's day, or are
 * loaded for another day and not for this one.
 */
export async function assertIsOfDay(reader: Reader, input: StatementInput): Promise<void> {
  const { rail, day, lines } = input;
  const [first] = lines;
  if (first === undefined) return;
  if (lines.every((line) => isFar(line, day))) {
    const dated = first.at === null ? 'another day' : dayText(dayOf(first.at));
    const message = `every line is dated more than ${FARTHEST_DAYS} days from ${dayText(day)}: check --date (the first line is of ${dated})`;
    throw new ApiError(invalidState(message, dayText(day), [dated]));
  }
  const keys = lines.map(({ payoutKey }) => payoutKey);
  const stored = groupBy(await linesOf(reader, rail, keys), ({ payoutKey }) => payoutKey);
  const equalTo = (line: LineInput) =>
    (stored.get(line.payoutKey) ?? []).filter((other) => isSameLine(other, line));
  if (lines.every((line) => equalTo(line).some((other) => other.day === day))) return;
  if (!lines.every((line) => equalTo(line).some((other) => other.day !== day))) return;
  const loaded = equalTo(first).find((other) => other.day !== day)?.day ?? day;
  const message = `every line is already loaded for another day (the first for ${dayText(loaded)}): check --date, or first load the right statement of that day, or a file with only the header`;
  throw new ApiError(invalidState(message, dayText(day), [dayText(loaded)]));
}

function isFar({ at }: LineInput, day: number): boolean {
  const farthest = FARTHEST_DAYS * DAY_MS;
  return at !== null && (at < day - farthest || at >= day + DAY_MS + farthest);
}

/** Clears the flag if statements alone raised it, and none of them contradicts the payout any more. */
const clearFlag = definePayoutCommand<PayoutCommand>('clear flag of withdrawn line', {
  rowKeys: reportRowKeys,
  decide: (command, payout, state) => {
    const sources = flagSources(payout, state);
    const isByLines = sources.length > 0 && sources.every(({ kind }) => kind === 'statement');
    if (!isByLines || isContradicted(payout, state)) return leaveUnchanged(payout);
    const fact = railFact(payout, railRecord(payout, state).words);
    const resource = schedulePoll({ ...payout, ...NOT_FLAGGED }, fact, state);
    const what = { kind: 'statement', effect: 'noted', at: state.at } as const;
    const rows = [changeRow(payouts, resource), insertRailEvent(command.eventId, resource, what)];
    return { outcome: { done: true, resource }, writes: { rows }, bindsKey: false };
  },
});

function isContradicted(payout: Payout, state: LockedState): boolean {
  const known = { ...payout, wasPaid: wasPaid(railFact(payout, railRecord(payout, state).words)) };
  // Which day a line is of does not matter here: its statement tells it apart.
  const lines = currentLines(payout, state).map((line) => ({ ...line, day: instant(0) }));
  return openLines(payout, state).some((line) => {
    const isOfStatement = ({ statementId }: { statementId: string }): boolean =>
      statementId === line.statementId;
    const above = lines.filter((other) => isOfStatement(other) && other.number < line.number);
    const elsewhere = lines.filter((other) => !isOfStatement(other));
    const dated = { ...line, day: instant(0) };
    return compareLine(dated, known, { above, elsewhere }).some(isContradiction);
  });
}

/** Clears the flags that lines of earlier versions of the statement raised. Returns how many. */
export async function clearWithdrawn(
  { database, writer }: { readonly database: Database; readonly writer: LedgerWriter },
  statement: PayoutStatement,
): Promise<number> {
  const keys = await keysOfEarlierVersions(database.reader, statement);
  let cleared = 0;
  for (const id of slices(keys))
    for (const payout of await database.reader.select(payouts, { id, rail: statement.rail })) {
      if (payout.stuckSince === null) continue;
      const after = payoutOrThrow(await writer.submit(clearFlag, newPayoutCommand(payout)));
      if (after.stuckSince === null) cleared += 1;
    }
  return cleared;
}
