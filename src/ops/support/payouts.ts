import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  type PayoutResolution,
  payouts,
} from '../../db/entities/payouts.js';
import { members, tenants } from '../../db/entities/parties.js';
import { columnList } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { isExpired, waitingOf } from '../../approvals/rules.js';
import { listResolutions } from '../../payouts/resolutions.js';
import { transitionsOf } from '../../payouts/rules.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import type { Fields } from '../output.js';
import { readNames } from './transfers.js';

/** The operators' view of payouts: any tenant's, without roles; of the account number its end alone. */

/** What was raised, the longest first, of every tenant. */
export async function listStuck(reader: Reader, limit: number): Promise<readonly Payout[]> {
  const rows = await reader.query(
    `SELECT ${columnList(payouts)} FROM payouts FORCE INDEX (stuck) WHERE stuck_since IS NOT NULL
     ORDER BY stuck_since LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => parseRow(payouts, row));
}

export function payoutFields(payout: Payout): Fields {
  return {
    id: payout.id,
    status: payout.status,
    amount: { raw: payout.raw, asset: payout.asset },
    to: `${payout.holderName}, ${payout.country} ${payout.bankCode} ****${payout.accountEnd}`,
    rail: payout.rail,
    rail_reference: payout.railReference,
    created_at: toRfc3339(payout.createdAt),
  };
}

const WHY: Readonly<Record<NonNullable<Payout['stuckReason']>, string>> = {
  no_outcome: 'the rail has not said what became of it',
  contradiction: 'the rail contradicts what it said before, or what we know',
};

const MOST_CONTRADICTIONS = 5;

/** A stuck payout with why, since when, and the last that was heard. */
export async function stuckFields(reader: Reader, payout: Payout, now: Instant): Promise<Fields> {
  const said = await reader.select(payoutRailEvents, { payoutId: payout.id }, { orderBy: ['id'] });
  const last = said.at(-1);
  const { stuckSince, stuckReason } = payout;
  return {
    ...payoutFields(payout),
    why: stuckReason === null ? null : WHY[stuckReason],
    stuck_since: stuckSince === null ? null : toRfc3339(stuckSince),
    stuck_for_s: stuckSince === null ? 0 : Math.max(0, Math.round((now - stuckSince) / 1_000)),
    last_said: last === undefined ? null : eventLine(last),
    contradicting: said
      .filter(({ effect }) => effect === 'conflict')
      .slice(-MOST_CONTRADICTIONS)
      .map(eventLine),
    proposed: (await listResolutions(reader, payout.id))
      .filter(({ status }) => status === 'proposed')
      .map(resolutionLine),
  };
}

/** More would hide what matters: the newest say most. */
const MOST_EVENTS = 20;

export async function payoutDetailFields(reader: Reader, payout: Payout, now: Instant): Promise<Fields> {
  const { id, tenantId, sourceAccountId, createdBy, asset } = payout;
  const [names, given, said, resolutions, tenant, creator] = await Promise.all([
    readNames(reader, [sourceAccountId]),
    reader.select(approvals, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
    reader.select(payoutRailEvents, { payoutId: id }, { orderBy: ['id'] }),
    listResolutions(reader, id),
    reader.find(tenants, { id: tenantId }),
    reader.find(members, { id: createdBy }),
  ]);
  return {
    ...(await stuckFields(reader, payout, now)),
    tenant: tenant?.name ?? tenantId,
    from: names.get(sourceAccountId) ?? sourceAccountId,
    from_account_id: sourceAccountId,
    fee: { raw: payout.feeRaw, asset },
    created_by: creator?.name ?? createdBy,
    waits_for: waitsFor(payout, now),
    transitions: transitionsOf(payout).map(({ status, at }) => `${status} at ${toRfc3339(at)}`),
    approvals: given.map(
      ({ actorClaimed, channel, createdAt }) => `${actorClaimed} (${channel}) at ${toRfc3339(createdAt)}`,
    ),
    rejection:
      payout.rejectionCode === null ? null : `${payout.rejectionCode}: ${payout.rejectionReason ?? 'no reason'}`,
    failure: payout.failureCode === null ? null : `${payout.failureCode}: ${payout.failureMessage ?? ''}`,
    rail_said: said.slice(-MOST_EVENTS).map(eventLine),
    attempts: payout.attempts,
    last_attempt_at: payout.attemptedAt === null ? null : toRfc3339(payout.attemptedAt),
    asked_next_at: payout.askAt === null ? null : toRfc3339(payout.askAt),
    resolutions: resolutions.map(resolutionLine),
    workflow_id: payoutWorkflowId(id),
  };
}

function eventLine({ at, kind, said, effect, callbackId, railReference, attempt }: PayoutRailEvent): string {
  const what = said === null ? effect : `${said} (${effect})`;
  const named = railReference === null ? '' : ` as ${railReference}`;
  const numbered = attempt === null ? '' : `, attempt ${attempt}`;
  return `${toRfc3339(at)} ${kind}: ${what}${named}${numbered}${callbackId === null ? '' : ` [${callbackId}]`}`;
}

export function resolutionLine({ outcome, status, proposedBy, decidedBy, reason }: PayoutResolution): string {
  const decided = decidedBy === null ? '' : `, ${status} by ${decidedBy}`;
  return `${outcome}, proposed by ${proposedBy}${decided}: ${reason}`;
}

function waitsFor(payout: Payout, now: Instant): string {
  const waiting = waitingOf(payout);
  if (payout.status === 'pending_approval' && waiting !== null)
    return isExpired(waiting, now)
      ? 'nothing: its time is over, and a worker ends it as canceled within seconds'
      : `${waiting.required - waiting.received} of ${waiting.required} approval(s)`;
  if (payout.status === 'approved') return 'a worker, which hands it to its rail';
  return payout.status === 'in_progress' ? 'its rail, to say what became of it' : `nothing: it is ${payout.status}`;
}
