import { recordAct } from '../access/audit-log.js';
import { ApiError, invalidState } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { type Instant, maxInstant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { Payout, PayoutResolution } from '../db/entities/payouts.js';
import { restores } from '../db/entities/restores.js';
import { transact } from '../db/transact.js';
import { assertMayAct, secondPersonRefusal, type StaffIdentity } from '../staff/rules.js';
import type { RailConversation } from './conversation.js';
import { readUnexpected } from './rail-words.js';
import { givesBack, outcomeRefusal, overtakenRefusal, type Release } from './resolution-rules.js';
import { applyResolution, type SeenPayout } from './resolutions.js';
import type { RailStatement } from './rules.js';
import { isServed } from './sweeps.js';

/**
 * Applies what operators settle, after the necessary questions to the rail: an order on its way cannot be recalled, so
 * money comes back to the account only on the rail's word, or after a quiet time if the rail cannot give it.
 * (docs/contract.md, Payouts)
 */
export interface ReleaseDeps {
  readonly conversation: RailConversation;
  /** How long after the last attempt a rail that cannot void may still pay, in ms, by its name in payouts. */
  readonly quietMs: (rail: string) => number;
}

/** The default for a rail. */
export const USUAL_QUIET_MS = 86_400_000;

/**
 * A second person approves the proposal that they have seen. Throws like `applyResolution`, and invalid_state if the rail does not
 * answer, or reports an outcome instead: that is then applied, and the proposal stays open.
 */
export async function approveResolution(
  { conversation, quietMs }: ReleaseDeps,
  seen: SeenPayout,
  by: StaffIdentity,
  why: string | null = null,
): Promise<Payout> {
  assertMayAct('payout.resolve_approve', by);
  const { desk } = conversation.deps;
  const { payout, open } = seen;
  // The rail is not asked about a payout that the ledger would refuse.
  const asks =
    open !== undefined &&
    secondPersonRefusal(open.proposedById, by.id) === null &&
    outcomeRefusal(payout, open.outcome) === null &&
    overtakenRefusal(
      payout,
      open,
      await readUnexpected(conversation.deps.database.reader, payout),
    ) === null;
  if (!asks || !givesBack(payout, open.outcome)) return applyResolution(desk, seen, by, null, why);
  const said = await voided(conversation, payout, by);
  if (said === null) {
    const lostUntil = await lostOf(conversation.deps.database.reader, payout);
    return applyResolution(
      desk,
      seen,
      by,
      { by: 'quiet', quietMs: quietMs(payout.rail), lostUntil },
      why,
    );
  }
  // In progress and voided, it has failed; one taken for completed comes back.
  const isReleased =
    said.status === 'voided' && (open.outcome === 'failed' || payout.status === 'completed');
  if (!isReleased) return refused(conversation, payout, open, said);
  const release: Release = { by: 'void', said, eventId: newId() };
  try {
    return await applyResolution(desk, seen, by, release, why);
  } catch (failure) {
    // Decided differently meanwhile; the rail has voided it nonetheless.
    if (failure instanceof ApiError && failure.refusal.code === 'invalid_state')
      await conversation.report(payout, 'void', said);
    throw failure;
  }
}

/** Null if the rail cannot void, or is configured neither here nor, for a day, in any worker. */
async function voided(
  conversation: RailConversation,
  payout: Payout,
  by: StaffIdentity,
): Promise<RailStatement | null> {
  const { database, clock } = conversation.deps;
  const { id: subjectId, tenantId, status, rail: name } = payout;
  if (conversation.railOf(payout) === undefined) {
    if (await isServed(database.reader, name)) throw notConfigured(payout);
    return null;
  }
  const act = {
    tenantId,
    action: 'payout.void',
    subjectType: 'payout',
    subjectId,
    details: { status },
  };
  // Recorded beforehand: whatever the rail then does, it is known who wanted it.
  await transact(database, (transaction) => recordAct(transaction, by, clock(), act));
  const said = await conversation.call(payout, 'void', (rail) => rail.void(subjectId));
  if (said !== 'silent') return said;
  throw notVoided(
    status,
    'the rail gave no answer whether it will never pay this: nothing was given back; approve it again later',
  );
}

function notVoided(current: Payout['status'], message: string): ApiError {
  return new ApiError(invalidState(message, current, ['voided']));
}

/** A rail that is missing only here is not gone: it has to be asked before money is given back. */
function notConfigured({ rail, status }: Payout): ApiError {
  return notVoided(
    status,
    `the rail ${rail} is not configured here, but workers have it or had it within a day, so nothing was given back: approve it with their PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS`,
  );
}

/** When the last of what restores have lost of the payout ended; null: nothing was lost since it exists. */
async function lostOf(reader: Reader, { createdAt }: Payout): Promise<Instant | null> {
  const all = await reader.select(restores, {});
  const lost = all.flatMap(({ lostUntil }) =>
    lostUntil !== null && lostUntil >= createdAt ? lostUntil : [],
  );
  return lost.length === 0 ? null : maxInstant(...lost);
}

/** The rail reports the outcome, which takes precedence over the proposal. */
async function refused(
  conversation: RailConversation,
  payout: Payout,
  { outcome }: PayoutResolution,
  said: RailStatement,
): Promise<never> {
  const { status } = await conversation.report(payout, 'void', said);
  throw notVoided(
    status,
    `the rail says that it is ${said.status}, so it is not resolved as ${outcome}: the payout is ${status}, and the proposal stays open`,
  );
}
