import { ApiError, NOT_FOUND } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import { newId } from '../../core/ids.js';
import { type Payout, payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import type { PostingDesk } from '../../ledger/desk/desk.js';
import {
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
} from '../../ledger/desk/types.js';
import { beginPayout } from '../commands.js';
import { type PayoutCommand, railEvent, raised, unchanged } from '../outcome.js';
import type { Difference } from './compare.js';
import { type DatedLine, shownDay } from './store.js';

/** Settles nothing: only the rail's own word, or two people, release or take money. (docs/contract.md, Rails) */

const CONTRADICTIONS: readonly Difference['difference'][] = ['amount', 'state', 'paid_twice', 'reference'];

interface NoteLine extends PayoutCommand {
  readonly line: DatedLine;
  /** It reports the payout's outcome and contradicts nothing else. */
  readonly tellsOutcome: boolean;
}

const notingLine: CommandKind<NoteLine, Payout> = {
  ...beginPayout,
  name: 'note line of statement',
  decide: decideNote,
};

function decideNote(command: NoteLine, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  // It has changed since the line was compared: the next comparison will tell.
  const { status, railReference } = command.facts;
  if (payout.status !== status || payout.railReference !== railReference) return unchanged(payout);
  const { status: said, reference } = command.line;
  const isNews = payout.status === 'in_progress' && command.tellsOutcome;
  const isRaised = isNews && payout.stuckSince !== null;
  const settled = isRaised ? payout : raised(payout, isNews ? 'no_outcome' : 'contradiction', state);
  const word = { kind: 'statement', said, effect: isNews ? 'noted' : 'conflict' } as const;
  const event = railEvent(command, payout, word, state.at, { status: said, reference, failureCode: null });
  const rows = [insertRow(payoutRailEvents, event), ...(settled === payout ? [] : [changeRow(payouts, settled)])];
  return { outcome: { done: true, resource: settled }, writes: { rows }, bindsKey: true };
}

/**
 * If the differences are contradictions: records the line as the rail's word about the payout and raises it, once for
 * each line and each state of the payout. Returns whether it was new. Throws ApiError ledger_unavailable.
 */
export async function noteLine(
  desk: PostingDesk,
  payout: Payout,
  line: DatedLine,
  differences: readonly Difference['difference'][],
): Promise<boolean> {
  if (!differences.some((difference) => CONTRADICTIONS.includes(difference))) return false;
  const tellsOutcome = differences.every((difference) => difference === 'state');
  const { id, tenantId, status, railReference } = payout;
  const said = [line.status, line.raw.toString(), line.asset, line.reference ?? '', String(line.at)];
  const fingerprint = commandFingerprint(['statement', shownDay(line.day), ...said, status, railReference ?? '']);
  const key = `payout/${id}/statement/${fingerprint.digest.toString('hex').slice(0, 32)}`;
  const command = { tenantId, key, fingerprint, facts: payout, eventId: newId(), line, tellsOutcome };
  const { outcome, replayed } = await desk.submit(notingLine, command);
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return !replayed;
}
