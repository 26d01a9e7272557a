import { ApiError, invalidState, NOT_FOUND } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import { newId } from '../../core/ids.js';
import { type Payout, payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import {
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  need,
  refuse,
} from '../../ledger/writer/types.js';
import { beginPayout } from '../commands.js';
import { type PayoutCommand, railEvent, raised } from '../outcome.js';
import { currentLines, standingLines, wordNeeds } from '../rail-words.js';
import { disagree, effectOf } from '../rules.js';
import type { Difference } from './compare.js';
import { type DatedLine, shownDay } from './store.js';

/** Settles nothing: only the rail's own word, or two people, release or take money. (docs/contract.md, Rails) */

const CONTRADICTIONS: readonly Difference['difference'][] = [
  'amount',
  'state',
  'paid_twice',
  'reference',
];
const OF_OUTCOME: readonly Difference['difference'][] = ['state', 'reference'];

interface NoteLine extends PayoutCommand {
  readonly line: DatedLine;
  readonly differences: readonly Difference['difference'][];
}

const notingLine: CommandKind<NoteLine, Payout> = {
  ...beginPayout,
  name: 'note line of statement',
  needs: ({ facts }) => [need(payouts, { id: facts.id }), ...wordNeeds(facts)],
  decide: decideNote,
};

const CHANGED = invalidState('the payout has changed since the line was compared with it');

function decideNote(command: NoteLine, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { status, railReference, stuckReason } = command.facts;
  if (
    payout.status !== status ||
    payout.railReference !== railReference ||
    payout.stuckReason !== stuckReason
  )
    return refuse(CHANGED, false);
  const { status: said, reference } = command.line;
  const effect = effectIn(command, payout, state);
  const reason = effect === 'noted' ? 'no_outcome' : 'contradiction';
  const flagged = effect === 'settled' ? payout : raised(payout, reason, state);
  const word = { kind: 'statement', said, effect } as const;
  const event = railEvent(command, payout, word, state.at, {
    status: said,
    reference,
    failureCode: null,
  });
  const rows = [
    insertRow(payoutRailEvents, event),
    ...(flagged === payout ? [] : [changeRow(payouts, flagged)]),
  ];
  return { outcome: { done: true, resource: flagged }, writes: { rows }, bindsKey: true };
}

/** `noted`: the line states an outcome that has not been reported yet, and contradicts nothing. */
function effectIn(
  { line, differences }: NoteLine,
  payout: Payout,
  state: LockedState,
): 'noted' | 'conflict' | 'settled' {
  const isSame = ({ status, reference }: Pick<DatedLine, 'status' | 'reference'>): boolean =>
    status === line.status && reference === line.reference;
  const isOfOutcome = differences.every((difference) => OF_OUTCOME.includes(difference));
  const standing = standingLines(payout, state);
  if (isOfOutcome && !standing.some(isSame) && currentLines(payout, state).some(isSame))
    return 'settled';
  const isNews = isOfOutcome && effectOf(payout, line) !== 'conflict';
  return isNews && !standing.some((other) => disagree(other, line)) ? 'noted' : 'conflict';
}

/**
 * If the differences are contradictions, records the line as the rail's word about the payout and raises the payout,
 * once for each line and each state of the payout. `changed`: nothing was recorded, because the payout has changed
 * since it was compared. Throws ApiError ledger_unavailable.
 */
export async function noteLine(
  desk: LedgerWriter,
  payout: Payout,
  line: DatedLine,
  differences: readonly Difference['difference'][],
): Promise<'raised' | 'unchanged' | 'changed'> {
  if (!differences.some((difference) => CONTRADICTIONS.includes(difference))) return 'unchanged';
  const { id, tenantId, status, railReference } = payout;
  const said = [
    line.status,
    line.raw.toString(),
    line.asset,
    line.reference ?? '',
    String(line.at),
  ];
  const fingerprint = commandFingerprint([
    'statement',
    shownDay(line.day),
    ...said,
    status,
    railReference ?? '',
  ]);
  const key = `payout/${id}/statement/${fingerprint.digest.toString('hex').slice(0, 32)}`;
  const command = {
    tenantId,
    key,
    fingerprint,
    facts: payout,
    eventId: newId(),
    line,
    differences,
  };
  const { outcome, replayed } = await desk.submit(notingLine, command);
  if (outcome.done)
    return !replayed && outcome.resource.stuckReason !== payout.stuckReason
      ? 'raised'
      : 'unchanged';
  if (outcome.refusal === CHANGED) return 'changed';
  throw new ApiError(outcome.refusal);
}
