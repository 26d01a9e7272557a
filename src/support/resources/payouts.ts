import { formatAmount } from '../../core/amount.js';
import type { Instant } from '../../core/instant.js';
import { members } from '../../db/entities/parties.js';
import { payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import { readSeen, type SeenPayout } from '../../payouts/resolutions.js';
import { transitionsOf } from '../../payouts/rules.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import { PAYOUT_ACTIONS } from '../actions/resolutions.js';
import { html } from '../html.js';
import { amount, pathOf, tag, time, timeOrNull } from '../pages/layout.js';
import { railEventText, payoutWaitsFor, resolutionLine, stuckText } from '../reading/payouts.js';
import { readTimeline, type TimelineLine } from '../reading/timeline.js';
import { namesOf } from '../reading/names.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

export const payoutKind: ResourceKind<SeenPayout> = {
  name: 'payouts',
  actions: PAYOUT_ACTIONS,
  async find({ database: { reader } }, id) {
    const payout = await reader.find(payouts, { id });
    return payout === undefined ? undefined : readSeen(reader, payout);
  },
  subjectOf: ({ payout: { id, tenantId } }) => ({ id, tenantId, subjectType: 'payout' }),
  async show(site, { payout, open }) {
    const { reader } = site.database;
    const { id, tenantId, sourceAccountId: from, feeAccountId, asset, createdBy } = payout;
    const [said, names, creator] = await Promise.all([
      reader.select(payoutRailEvents, { payoutId: id }, { orderBy: ['id'] }),
      namesOf(reader, [payout]),
      reader.find(members, { id: createdBy }),
    ]);
    const timeZone = names.timeZone(tenantId);
    const asker = creator?.name ?? createdBy;
    const lines: readonly TimelineLine[] = [
      timelineLine(payout.createdAt, 'Asked for', `${asker} (member of the tenant)`),
      ...transitionsOf(payout)
        .filter(({ status }) => status !== 'pending_approval')
        .map(({ status, at }) => timelineLine(at, `Became ${status.replaceAll('_', ' ')}`)),
      ...said.map((event) =>
        timelineLine(event.at, `Rail ${event.rail}`, null, railEventText(event)),
      ),
    ];
    const accountIds = [from, ...(feeAccountId === null ? [] : [feeAccountId])];
    const instants = [payout.createdAt, payout.approvalExpiresAt];
    const { failureCode: failure, rejectionCode: rejection } = payout;
    return {
      title: `Payout of ${formatAmount(payout)}`,
      facts: [
        ['Status', tag(payout.status)],
        ['Waits for', payoutWaitsFor(payout, site.clock())],
        ['Stuck since', timeOrNull(payout.stuckSince, timeZone)],
        ['Stuck because', stuckText(payout)],
        ['Proposed', open === undefined ? null : resolutionLine(open)],
        [
          'Expires',
          payout.status === 'pending_approval'
            ? timeOrNull(payout.approvalExpiresAt, timeZone)
            : null,
        ],
        ['Amount', amount(payout)],
        ['Fee', payout.feeRaw === 0n ? null : formatAmount({ raw: payout.feeRaw, asset })],
        ['From', html`<a href="${pathOf('accounts', from)}">${names.account(from)}</a>`],
        [
          'To',
          `${payout.holderName}, ${payout.country} ${payout.bankCode} ****${payout.accountEnd}`,
        ],
        ['Description', payout.description],
        ['Tenant', names.tenant(tenantId)],
        ['Asked for by', asker],
        ['Asked for', time(payout.createdAt, timeZone)],
        ['Rail', payout.rail],
        ["Rail's reference", payout.railReference],
        [
          'Ended because',
          rejection === null ? null : `${rejection}: ${payout.rejectionReason ?? 'no reason'}`,
        ],
        ['Failed because', failure === null ? null : `${failure}: ${payout.failureMessage ?? ''}`],
        ['Id', id],
      ],
      timeline: await readTimeline(reader, { id, tenantId, timeZone, accountIds, instants, lines }),
      timeZone,
      workflow: workflowLink(site, payoutWorkflowId(id)),
    };
  },
};

function timelineLine(
  at: Instant,
  what: string,
  by: string | null = null,
  ...details: readonly string[]
): TimelineLine {
  return { at, what, by, details };
}
