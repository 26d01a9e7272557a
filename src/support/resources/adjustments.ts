import { formatAmount } from '../../core/amount.js';
import { type Adjustment, adjustments } from '../../db/entities/operations.js';
import { adjustmentResource } from '../../funding/schemas.js';
import { ADJUSTMENT_ACTIONS } from '../actions/adjustments.js';
import { html } from '../html.js';
import { amount, link, publicFacts, tag } from '../pages/layout.js';
import type { ResourceKind } from './resource-kind.js';

export const adjustmentKind: ResourceKind<Adjustment> = {
  name: 'adjustments',
  subjectType: 'adjustment',
  actions: ADJUSTMENT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(adjustments, { id }),
  rowOf: (adjustment) => adjustment,
  describe(adjustment, { names, time, tenant }) {
    const { accountId, direction, createdAt, decidedAt } = adjustment;
    const way = direction === 'in' ? 'into' : 'out of';
    return {
      title: `Adjustment of ${formatAmount(adjustment)} ${way} an account`,
      status: tag(adjustment.status),
      facts: [
        ['Amount', amount(adjustment)],
        ['Account', html`${way} ${link('accounts', accountId, names.account(accountId))}`],
        ...publicFacts(adjustmentResource.presentToStaff('desk', adjustment)),
        tenant,
        ['Proposed by', adjustment.proposedBy],
        ['Proposed', time(createdAt)],
        ['Decided by', adjustment.decidedBy],
        ['Decided', time(decidedAt)],
      ],
      history: { accountIds: [accountId], instants: [createdAt, decidedAt], lines: [] },
      list: 'adjustments',
    };
  },
};
