import { formatAmount } from '../../core/amount.js';
import { type Adjustment, adjustments } from '../../db/entities/operations.js';
import { adjustmentResource } from '../../funding/schemas.js';
import { ADJUSTMENT_ACTIONS } from '../actions/adjustments.js';
import { html } from '../html.js';
import { historySections } from '../pages/history.js';
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
import { readHistory } from '../reading/timeline.js';
import { namesOf } from '../reading/names.js';
import { nextWaiting } from '../reading/waiting.js';
import type { ResourceKind } from './resource-kind.js';

export const adjustmentKind: ResourceKind<Adjustment> = {
  name: 'adjustments',
  actions: ADJUSTMENT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(adjustments, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'adjustment' }),
  async show({ database: { reader } }, adjustment) {
    const { id, tenantId, accountId, direction } = adjustment;
    const names = await namesOf(reader, [adjustment]);
    const timeZone = names.timeZone(tenantId);
    const history = await readHistory(reader, {
      ...{ id, tenantId, timeZone, accountIds: [accountId], lines: [] },
      instants: [adjustment.createdAt, adjustment.decidedAt],
    });
    const next = await nextWaiting(reader, 'adjustments', id);
    const way = direction === 'in' ? 'into' : 'out of';
    return {
      title: `Adjustment of ${formatAmount(adjustment)} ${way} an account`,
      status: tag(adjustment.status),
      facts: [
        ['Amount', amount(adjustment)],
        [
          'Account',
          html`${way} <a href="${pathOf('accounts', accountId)}">${names.account(accountId)}</a>`,
        ],
        ...publicFacts(adjustmentResource.presentToStaff('desk', adjustment)),
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Proposed by', adjustment.proposedBy],
        ['Proposed', time(adjustment.createdAt, timeZone)],
        ['Decided by', adjustment.decidedBy],
        ['Decided', timeOrNull(adjustment.decidedAt, timeZone)],
        ['Id', idText(id)],
      ],
      timeline: history.timeline,
      more: historySections(history, timeZone),
      timeZone,
      next: next === null ? null : pathOf('adjustments', next),
      workflow: null,
    };
  },
};
