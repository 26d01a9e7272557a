import type { Reader } from '../db/database.js';
import { type Payout, type PayoutRailEvent, payoutRailEvents } from '../db/entities/payouts.js';
import {
  type LineStatus,
  type PayoutStatementLine,
  payoutStatementLines,
  payoutSupersededLines,
} from '../db/entities/rail-statements.js';
import { type LockedState, need, type Need } from '../ledger/writer/types.js';
import { disagree, type RailStatement } from './rules.js';

/** What a rail has said about a payout apart from what the payout's row shows. Pure. (docs/contract.md, Rails) */

const LISTED = { kind: 'statement', effect: 'noted' } as const;
const CONTRARY = { effect: 'conflict' } as const;
const UNEXPECTED = [LISTED, CONTRARY];
const SETTLED = { kind: 'statement', effect: 'settled' } as const;
/** Reports of a payment that could not be posted. */
const UNPOSTED = (['completed', 'returned'] as const).map(
  (said) => ({ effect: 'noted', said }) as const,
);

/** The rows that the functions below read under the account's lock. */
export function wordNeeds({ id: payoutId, rail }: Pick<Payout, 'id' | 'rail'>): Need[] {
  const lines = { rail, payoutKey: payoutId };
  return [
    // Read first: a line that a correction supersedes in between then counts together with its successor.
    need(payoutSupersededLines, lines),
    need(payoutStatementLines, lines),
    ...[...UNEXPECTED, SETTLED, ...UNPOSTED].map((of) =>
      need(payoutRailEvents, { payoutId, ...of }),
    ),
  ];
}

/** The payout's lines in current statements: a corrected statement of a day supersedes the earlier one. */
export function currentLines(
  { id: payoutKey, rail }: Payout,
  state: LockedState,
): readonly PayoutStatementLine[] {
  const of = { rail, payoutKey };
  return withoutSuperseded(
    state.rows(payoutStatementLines, of),
    state.rows(payoutSupersededLines, of),
  );
}

function withoutSuperseded(
  lines: readonly PayoutStatementLine[],
  superseded: readonly Pick<PayoutStatementLine, 'statementId' | 'number'>[],
): readonly PayoutStatementLine[] {
  return lines.filter(
    (line) =>
      !superseded.some((one) => one.statementId === line.statementId && one.number === line.number),
  );
}

/** Those lines that two people have not settled. Stored lines count even before they are noted. */
export function standingLines(payout: Payout, state: LockedState): readonly PayoutStatementLine[] {
  const settled = [...state.rows(payoutRailEvents, { payoutId: payout.id, ...SETTLED })];
  return currentLines(payout, state).filter(({ status, reference }) => {
    const index = settled.findIndex(
      (one) => one.said === status && one.railReference === reference,
    );
    // Each was settled once: the same line on another day may be another payment.
    if (index >= 0) settled.splice(index, 1);
    return index < 0;
  });
}

/** Whether a report contradicts a standing line, or denies a payment that the rail has reported before. */
export function isContrary(payout: Payout, said: RailStatement, state: LockedState): boolean {
  return (
    standingLines(payout, state).some((line) => disagree(line, said)) ||
    (hasClaim(payout, state) && disagree({ status: 'completed', reference: null }, said))
  );
}

/** Whether the rail has reported a payment that was contrary, or could not be posted, and nobody has settled it yet. */
function hasClaim({ id: payoutId, status, stuckReason }: Payout, state: LockedState): boolean {
  if (status !== 'in_progress' || (stuckReason !== 'contradiction' && stuckReason !== 'overflow'))
    return false;
  return [CONTRARY, ...UNPOSTED]
    .flatMap((of) => state.rows(payoutRailEvents, { payoutId, ...of }))
    .some(
      ({ kind, said }) => kind !== 'statement' && (said === 'completed' || said === 'returned'),
    );
}

/** Whether the rail has named the payout: in an answer, in a statement, or in a contradiction that is not settled. */
export function isTaken(payout: Payout, state: LockedState): boolean {
  const { id: payoutId, railReference, stuckReason } = payout;
  if (railReference !== null || state.rows(payoutRailEvents, { payoutId, ...LISTED }).length > 0)
    return true;
  if (standingLines(payout, state).length > 0) return true;
  const contrary = state.rows(payoutRailEvents, { payoutId, ...CONTRARY });
  return stuckReason === 'contradiction' && contrary.some(({ said }) => said !== 'unknown');
}

/** One thing that a rail has said. */
export type Heard = Pick<PayoutRailEvent, 'said' | 'railReference'>;

/** Everything that the rail said contrary to what was known, and everything that its statements say. */
export function unexpected(payout: Payout, state: LockedState): readonly Heard[] {
  const events = UNEXPECTED.flatMap((of) =>
    state.rows(payoutRailEvents, { payoutId: payout.id, ...of }),
  );
  return [...events, ...currentLines(payout, state).map(heardIn)];
}

/** Reads what `unexpected` returns, without a lock. */
export async function readUnexpected(reader: Reader, payout: Payout): Promise<readonly Heard[]> {
  const of = { rail: payout.rail, payoutKey: payout.id };
  const [lines, superseded, ...events] = await Promise.all([
    reader.select(payoutStatementLines, of),
    reader.select(payoutSupersededLines, of),
    ...UNEXPECTED.map((of) => reader.select(payoutRailEvents, { payoutId: payout.id, ...of })),
  ]);
  return [...events.flat(), ...withoutSuperseded(lines, superseded).map(heardIn)];
}

function heardIn({
  status,
  reference,
}: {
  readonly status: LineStatus;
  readonly reference: string | null;
}): Heard {
  return { said: status, railReference: reference };
}
