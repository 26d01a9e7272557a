import { formatAmount } from '../../core/amount.js';
import { payoutRailEvents, payouts } from '../../db/entities/payouts.js';
import { readSeen, type SeenPayout } from '../../payouts/resolutions.js';
import { transitionsOf } from '../../payouts/rules.js';
import { payoutResource } from '../../payouts/schemas.js';
import { payoutWorkflowId } from '../../temporal/contracts.js';
import { PAYOUT_ACTIONS } from '../actions/resolutions.js';
import { html } from '../html.js';
import { historySections, railSection } from '../pages/history.js';
import {
  amount,
  idText,
  pathOf,
  publicFacts,
  tag,
  tenantFact,
  time,
  timeOrNull,
} from '../pages/layout.js';
import {
  endText,
  payoutWaitsFor,
  railEventText,
  resolutionLine,
  stuckText,
} from '../reading/payouts.js';
import { line, readHistory, type TimelineLine } from '../reading/timeline.js';
import { nextWaiting } from '../reading/waiting.js';
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
    const [reports, names] = await Promise.all([
      reader.select(payoutRailEvents, { payoutId: id }, { orderBy: ['id'] }),
      namesOf(reader, [payout]),
    ]);
    const timeZone = names.timeZone(tenantId);
    const asker = names.person(createdBy);
    const lines: readonly TimelineLine[] = [
      line(payout.createdAt, 'Requested', `${asker} (member of the tenant)`),
      ...transitionsOf(payout)
        .filter(({ status }) => status !== 'pending_approval')
        .map(({ status, at }) => line(at, `Became ${status.replaceAll('_', ' ')}`)),
      ...reports.map((event) => line(event.at, `Rail ${event.rail}`, null, railEventText(event))),
    ];
    const isStuck = payout.stuckSince !== null;
    const next = await nextWaiting(reader, isStuck ? 'stuck' : 'payouts', id);
    const accountIds = [from, ...(feeAccountId === null ? [] : [feeAccountId])];
    const instants = [payout.createdAt, payout.approvalExpiresAt];
    const history = await readHistory(reader, {
      ...{ id, tenantId, timeZone, accountIds, instants, lines },
    });
    return {
      title: `Payout of ${formatAmount(payout)}`,
      status: [tag(payout.status), isStuck ? html` ${tag('stuck')}` : ''],
      facts: [
        [
          payout.status === 'pending_approval' ? 'Needs' : 'Waits for',
          isOpen(payout) ? payoutWaitsFor(payout, site.clock()) : null,
        ],
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
        ...publicFacts(payoutResource.presentToStaff('desk', payout)),
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Requested by', asker],
        ['Requested', time(payout.createdAt, timeZone)],
        ['Rail', payout.rail],
        ["Rail's reference", payout.railReference],
        ['Ended because', endText(payout.rejectionCode, payout.rejectionReason)],
        ['Failed because', endText(payout.failureCode, payout.failureMessage)],
        ['Id', idText(id)],
      ],
      timeline: history.timeline,
      more: [historySections(history, timeZone), railSection(reports, timeZone)],
      timeZone,
      next: next === null ? null : pathOf('payouts', next),
      workflow: workflowLink(site, payoutWorkflowId(id)),
    };
  },
};

function isOpen({ status }: SeenPayout['payout']): boolean {
  return status === 'pending_approval' || status === 'approved' || status === 'in_progress';
}
