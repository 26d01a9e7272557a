import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import {
  type Payout,
  type PayoutRailEvent,
  payoutRailEvents,
  type PayoutResolution,
  payoutResolutions,
} from '../../db/entities/payouts.js';
import { listResolutions } from '../../payouts/resolution/resolutions.js';
import { destinationText, isUnfinished, transitionsOf } from '../../payouts/rules.js';
import { payoutResource } from '../../payouts/schemas.js';
import type { Ops } from '../command.js';
import {
  eventLine,
  payoutWaitsFor,
  resolutionLine,
  SECOND_PERSON,
  stuckText,
} from '../../support/reading/payouts.js';
import { namesOf } from '../../support/reading/transfers.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import { historyFields, readHistoryOf, readLastAction } from '../history.js';
import { Described, type Fields, rowFields } from '../fields.js';
import { approvalFields } from './approvals.js';

export function payoutFields(payout: Payout, from: string): Fields {
  const fields = payoutResource.presentToStaff('ops', payout);
  const { id = null, status = null, amount = null } = fields;
  const { rail_reference = null, created_at = null } = fields;
  const to = destinationText(payout);
  return { id, status, amount, to, from, rail: payout.rail, rail_reference, created_at };
}

const MAX_CONTRADICTIONS = 5;
/** The newest messages matter most; more would hide them. */
const MAX_EVENTS = 20;

export async function readMessages(reader: Reader, { id: payoutId }: Payout) {
  return Promise.all([
    reader.select(payoutRailEvents, { payoutId }, { orderBy: ['id'] }),
    listResolutions(reader, payoutId),
  ]);
}

const eventFields = (event: PayoutRailEvent): Fields =>
  rowFields(
    payoutRailEvents,
    event,
    'at kind reported effect railReference attempt failureCode callbackId',
  );

/** Describes messages of a rail. Of the same in a row, one line has the number and the last time. */
export function messageFields(events: readonly PayoutRailEvent[]): Described {
  const groups: { first: PayoutRailEvent; last: PayoutRailEvent; times: number }[] = [];
  const contentOf = (event: PayoutRailEvent) =>
    JSON.stringify({ ...eventFields(event), at: null, attempt: null });
  for (const event of events) {
    const group = groups.at(-1);
    if (group === undefined || contentOf(group.last) !== contentOf(event))
      groups.push({ first: event, last: event, times: 1 });
    else Object.assign(group, { last: event, times: group.times + 1 });
  }
  return Described.each(
    groups.slice(-MAX_EVENTS),
    ({ first, last, times }) =>
      times === 1
        ? eventLine(first)
        : `${eventLine(first)}, ${times} times, the last at ${toRfc3339(last.at)}`,
    ({ first, last, times }) => ({
      ...eventFields(first),
      times,
      last_at: toRfc3339(last.at),
    }),
  );
}

/** Shows a code and its text, which is called `name`. */
const codeFields = (code: string | null, name: string, text: string | null) =>
  code && Described.one(text === null ? code : `${code}: ${text}`, { code, [name]: text });

const resolutionFields = (resolutions: readonly PayoutResolution[]): Described =>
  Described.each(resolutions, resolutionLine, (resolution) =>
    rowFields(
      payoutResolutions,
      resolution,
      'outcome status reason proposedBy decidedBy createdAt decidedAt',
    ),
  );

export function stuckFields(
  payout: Payout,
  from: string,
  [events, resolutions]: Awaited<ReturnType<typeof readMessages>>,
  now: Instant,
): Fields {
  const { stuckSince } = payout;
  const last = events.at(-1);
  const contradictions = events.filter(({ effect }) => effect === 'conflict');
  const proposed = resolutions.filter(({ status }) => status === 'proposed');
  return {
    ...payoutFields(payout, from),
    stuck_because: stuckText(payout),
    stuck_since: toRfc3339(stuckSince),
    stuck_for_s: stuckSince === null ? null : Math.max(0, Math.round((now - stuckSince) / 1_000)),
    last_message: last === undefined ? null : Described.one(eventLine(last), eventFields(last)),
    contradictions: messageFields(contradictions.slice(-MAX_CONTRADICTIONS)),
    proposed: resolutionFields(proposed),
  };
}

export async function show(
  { database: { reader }, clock, output }: Ops,
  payout: Payout,
): Promise<void> {
  const { id, tenantId, sourceAccountId: from, createdAt, asset } = payout;
  const now = clock();
  const transitions = transitionsOf(payout);
  const instants = [createdAt, payout.approvalExpiresAt, ...transitions.map(({ at }) => at)];
  const [names, given, messages, history, ended] = await Promise.all([
    namesOf(reader, [payout]),
    reader.select(approvals, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
    readMessages(reader, payout),
    readHistoryOf(reader, payout, instants, now),
    readLastAction(reader, id, ['payout.reject', 'payout.cancel']),
  ]);
  const [events, resolutions] = messages;
  const isProposed = resolutions.some(({ status }) => status === 'proposed');
  output.one({
    ...stuckFields(payout, names.account(from), messages, now),
    tenant: names.tenant(tenantId),
    from_account_id: from,
    fee: { raw: payout.feeRaw, asset },
    description: payout.description,
    reference: payout.reference,
    created_by: names.person(payout.createdBy),
    waits_for: isProposed ? SECOND_PERSON : payoutWaitsFor(payout, now),
    waits_since: isUnfinished(payout) ? toRfc3339(transitions.at(-1)?.at ?? createdAt) : null,
    status_transitions: Described.each(
      transitions,
      ({ status, at }) => `${status} at ${toRfc3339(at)}`,
      ({ status, at }) => ({ status, at: toRfc3339(at) }),
    ),
    approvals: approvalFields(
      given.map(({ actorClaimed: by, channel, createdAt: at }) => ({ by, channel, at })),
    ),
    rejection: codeFields(payout.rejectionCode, 'reason', payout.rejectionReason),
    ended_by: ended,
    failure: codeFields(payout.failureCode, 'message', payout.failureMessage),
    rail_messages: messageFields(events),
    attempts: payout.attempts,
    last_attempt_at: toRfc3339(payout.attemptedAt),
    next_poll_at: toRfc3339(payout.nextPollAt),
    resolutions: resolutionFields(resolutions),
    workflow_id: payoutWorkflowId(id),
    ...historyFields(history),
  });
}
