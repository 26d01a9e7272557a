import { ApiError, invalidState } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import { newId } from '../../core/ids.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import type { PayoutStatementLine } from '../../db/entities/rails.js';
import type { LedgerWriter } from '../../ledger/writer/ledger-writer.js';
import {
  accept,
  changeRow,
  type Decision,
  type LockedState,
  refuse,
} from '../../ledger/writer/types.js';
import { insertRailEvent, type PayoutCommand, payoutCommand } from '../commands.js';
import { applyReport } from '../outcomes.js';
import { currentLines, knownFrom, openLines, reportNeeds } from '../reports.js';
import { disagree, type Effect, effectOf } from '../state-machine.js';
import type { Difference } from './compare.js';
import { type DatedLine, dayText } from './store.js';

/** Statement lines as reports: they flag payouts and move no money. (docs/contract.md, Rails) */

const CONTRADICTIONS: readonly Difference['difference'][] = [
  'amount',
  'state',
  'paid_twice',
  'reference',
];
const OF_OUTCOME: readonly Difference['difference'][] = ['state', 'reference'];

interface RecordLine extends PayoutCommand {
  readonly line: DatedLine;
  readonly differences: readonly Difference['difference'][];
}

const recordLine = payoutCommand<RecordLine>('note line of statement', {
  needs: reportNeeds,
  decide: decideLine,
});

const NO_DETAILS = { reference: null, failureCode: null };
const CHANGED = invalidState('the payout has changed since the line was compared with it');

function decideLine(command: RecordLine, payout: Payout, state: LockedState): Decision<Payout> {
  const { status, railReference, stuckReason } = command.facts;
  const isSame = payout.status === status && payout.stuckReason === stuckReason;
  if (!isSame || payout.railReference !== railReference) return refuse(CHANGED, false);
  const { status: said, reference } = command.line;
  const report = { reference, failureCode: null };
  const effect = judge(command, payout, state);
  const resource =
    effect === 'settled' ? payout : applyReport(effect, payout, NO_DETAILS, state).settled;
  const recorded = effect === 'conflict' || effect === 'settled' ? effect : 'noted';
  const what = { kind: 'statement', said, effect: recorded, at: state.at } as const;
  const rows = [insertRailEvent(command.eventId, payout, what, report)];
  if (resource !== payout) rows.push(changeRow(payouts, resource));
  return accept(resource, { rows });
}

/**
 * Returns `settled` if two people have resolved the line, and `conflict` if it differs in more than
 * the outcome or from another open line. Otherwise the state machine decides.
 */
function judge(
  { line, differences }: RecordLine,
  payout: Payout,
  state: LockedState,
): Effect | 'settled' {
  const isSame = ({ status, reference }: PayoutStatementLine): boolean =>
    status === line.status && reference === line.reference;
  if (!differences.every((difference) => OF_OUTCOME.includes(difference))) return 'conflict';
  const open = openLines(payout, state);
  if (!open.some(isSame) && currentLines(payout, state).some(isSame)) return 'settled';
  return open.some((other) => disagree(knownFrom(other), line))
    ? 'conflict'
    : effectOf(payout, line, 'statement');
}

/**
 * Records a line that contradicts a payout and flags the payout, once for each line and state of
 * the payout. Returns `changed` if the payout has changed since the comparison. Throws ApiError
 * ledger_unavailable.
 */
export async function flagByLine(
  writer: LedgerWriter,
  payout: Payout,
  line: DatedLine,
  differences: readonly Difference['difference'][],
): Promise<'flagged' | 'unchanged' | 'changed'> {
  if (!differences.some((difference) => CONTRADICTIONS.includes(difference))) return 'unchanged';
  const { id, tenantId, status, railReference } = payout;
  const fingerprint = commandFingerprint([
    ...['statement', dayText(line.day), line.status, line.raw.toString(), line.asset],
    ...[line.reference ?? '', String(line.at), status, railReference ?? ''],
  ]);
  const key = `payout/${id}/statement/${fingerprint.digest.toString('hex').slice(0, 32)}`;
  const base = { tenantId, key, fingerprint, facts: payout, eventId: newId() };
  const { outcome, replayed } = await writer.submit(recordLine, { ...base, line, differences });
  if (outcome.done)
    return !replayed && outcome.resource.stuckReason !== payout.stuckReason
      ? 'flagged'
      : 'unchanged';
  if (outcome.refusal === CHANGED) return 'changed';
  throw new ApiError(outcome.refusal);
}
