import { recordAction } from '../../access/audit-log.js';
import { ApiError, invalidState } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { type Instant, maxInstant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { Payout } from '../../db/entities/payouts.js';
import { restores } from '../../db/entities/restores.js';
import { transact } from '../../db/reader.js';
import { assertMayAct, secondPersonRefusal, type StaffIdentity } from '../../staff/rules.js';
import { isServed } from '../recovery.js';
import type { RailCalls } from '../rail-calls.js';
import type { RailReport } from '../rails/rail.js';
import { needsDenial, permitsRelease, railFact } from '../rail-fact.js';
import { readRecord, readReportCount } from '../reports.js';
import { outcomeRefusal, overtakenRefusal, type Release } from './checks.js';
import { decideResolution, type SeenPayout } from './resolutions.js';

/**
 * Approves resolutions. An order that was sent cannot be recalled, so money returns only after the
 * rail has voided it, or after a quiet time if the rail cannot void. (docs/payouts.md)
 */
export interface ReleaseDeps {
  readonly calls: RailCalls;
  /** Returns how many milliseconds after the last attempt a rail that cannot void may still pay. */
  readonly quietMs: (rail: string) => number;
}

export const DEFAULT_QUIET_MS = 86_400_000;

/**
 * Approves the proposal that this second person has seen. Throws as `decideResolution` does, and
 * invalid_state if the rail does not respond or reports an outcome, which is applied while the
 * proposal stays open.
 */
export async function approveResolution(
  { calls, quietMs }: ReleaseDeps,
  seen: SeenPayout,
  by: StaffIdentity,
  why: string | null = null,
): Promise<Payout> {
  assertMayAct('payout.resolve_approve', by);
  const { writer, database } = calls.deps;
  const { payout, proposal } = seen;
  const apply = (release: Release | null) =>
    decideResolution(writer, seen, { verdict: 'apply', release, by, why });
  const record = await readRecord(database.reader, payout);
  if (proposal === undefined || !needsDenial(proposal.outcome, railFact(payout, record.words)))
    return apply(null);
  const contradictions = await readReportCount(database.reader, payout);
  // The rail is not called for a proposal that would be refused anyway.
  const refusal =
    secondPersonRefusal(proposal.proposedById, by.id) ??
    outcomeRefusal(payout, proposal.outcome) ??
    overtakenRefusal({ status: payout.status, contradictions }, proposal);
  if (refusal !== null) return apply(null);
  const report = await voidAtRail(calls, payout, by);
  if (report === null) {
    const lostUntil = await endOfLostTime(database.reader, payout);
    return apply({ by: 'quiet', eventId: newId(), quietMs: quietMs(payout.rail), lostUntil });
  }
  if (!permitsRelease(payout, record, proposal.outcome, report)) {
    const { status, railReference } = await calls.report(payout, 'void', report);
    const isOther = report.reference !== null && report.reference !== railReference;
    const said = `${report.status}${isOther ? ` as ${report.reference}` : ''}`;
    const message = `the rail says that it is ${said}, so it is not resolved as ${proposal.outcome}: the payout is ${status}, and the proposal stays open`;
    throw notVoidedError(status, message);
  }
  try {
    return await apply({ by: 'void', report, eventId: newId() });
  } catch (failure) {
    // The proposal was replaced or overtaken. The rail has denied the payment nonetheless.
    if (failure instanceof ApiError && failure.refusal.code === 'invalid_state')
      await calls.report(payout, 'void', report);
    throw failure;
  }
}

/** Returns null if the rail cannot void, or if no worker has used the rail for a day. */
async function voidAtRail(
  calls: RailCalls,
  payout: Payout,
  by: StaffIdentity,
): Promise<RailReport | null> {
  const { database, clock } = calls.deps;
  const { id: subjectId, tenantId, status, rail: name } = payout;
  if (calls.railOf(payout) === undefined) {
    if (!(await isServed(database.reader, name))) return null;
    const message = `the rail ${name} is not configured here, but workers have it or had it within a day, so nothing was given back: approve it with their PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS`;
    throw notVoidedError(status, message);
  }
  const about = { tenantId, subjectType: 'payout', subjectId, details: { status } };
  await transact(database, (transaction) =>
    recordAction(transaction, by, clock(), { ...about, action: 'payout.void' }),
  );
  const response = await calls.call(payout, 'void', (rail) => rail.void(subjectId));
  if (response !== 'none') return response;
  const message =
    'the rail did not confirm that it will never pay this, so nothing was given back: approve it again later';
  throw notVoidedError(status, message);
}

function notVoidedError(current: Payout['status'], message: string): ApiError {
  return new ApiError(invalidState(message, current, ['voided']));
}

/** Returns until when restores lost data since the payout was created, or null if none did. */
async function endOfLostTime(reader: Reader, { createdAt }: Payout): Promise<Instant | null> {
  const all = await reader.select(restores, {});
  const lost = all.flatMap(({ lostUntil }) =>
    lostUntil !== null && lostUntil >= createdAt ? lostUntil : [],
  );
  return lost.length === 0 ? null : maxInstant(...lost);
}
