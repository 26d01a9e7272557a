import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import { type Payout, payoutRailEvents } from '../../db/entities/payouts.js';
import { members, tenants } from '../../db/entities/parties.js';
import { listResolutions } from '../../payouts/resolutions.js';
import { transitionsOf } from '../../payouts/rules.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import type { Fields } from '../output.js';
import {
  eventLine,
  payoutWaitsFor,
  resolutionLine,
  stuckText,
} from '../../support/reading/payouts.js';
import { readNames } from '../../support/reading/transfers.js';

/**
 * The operators' view of payouts: any tenant's, regardless of roles, with only the end of the
 * account number.
 */

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

const MAX_CONTRADICTIONS = 5;

export async function stuckFields(reader: Reader, payout: Payout, now: Instant): Promise<Fields> {
  const said = await reader.select(payoutRailEvents, { payoutId: payout.id }, { orderBy: ['id'] });
  const last = said.at(-1);
  const { stuckSince } = payout;
  return {
    ...payoutFields(payout),
    why: stuckText(payout),
    stuck_since: toRfc3339(stuckSince),
    stuck_for_s: stuckSince === null ? 0 : Math.max(0, Math.round((now - stuckSince) / 1_000)),
    last_said: last === undefined ? null : eventLine(last),
    contradicting: said
      .filter(({ effect }) => effect === 'conflict')
      .slice(-MAX_CONTRADICTIONS)
      .map(eventLine),
    proposed: (await listResolutions(reader, payout.id))
      .filter(({ status }) => status === 'proposed')
      .map(resolutionLine),
  };
}

/** The newest events matter most; more would hide them. */
const MAX_EVENTS = 20;

export async function payoutDetailFields(
  reader: Reader,
  payout: Payout,
  now: Instant,
): Promise<Fields> {
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
    waits_for: payoutWaitsFor(payout, now),
    transitions: transitionsOf(payout).map(({ status, at }) => `${status} at ${toRfc3339(at)}`),
    approvals: given.map(
      ({ actorClaimed, channel, createdAt }) =>
        `${actorClaimed} (${channel}) at ${toRfc3339(createdAt)}`,
    ),
    rejection:
      payout.rejectionCode === null
        ? null
        : `${payout.rejectionCode}: ${payout.rejectionReason ?? 'no reason'}`,
    failure:
      payout.failureCode === null ? null : `${payout.failureCode}: ${payout.failureMessage ?? ''}`,
    rail_said: said.slice(-MAX_EVENTS).map(eventLine),
    attempts: payout.attempts,
    last_attempt_at: toRfc3339(payout.attemptedAt),
    asked_next_at: toRfc3339(payout.askAt),
    resolutions: resolutions.map(resolutionLine),
    workflow_id: payoutWorkflowId(id),
  };
}
