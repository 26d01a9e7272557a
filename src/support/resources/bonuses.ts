import { formatAmount } from '../../core/amount.js';
import { pageOf } from '../../core/page.js';
import { type Bonus, bonuses } from '../../db/entities/bonuses.js';
import { accounts } from '../../db/entities/parties.js';
import { listNewest } from '../../operations/operation-list.js';
import { type Original, receiverOf } from '../../transfers/originals.js';
import { transferList } from '../../transfers/service.js';
import { REFUND_ACTION } from '../actions/proposals.js';
import { html } from '../html.js';
import { NO_ROWS } from '../pages/export.js';
import { type Fact, link, metadataFact, money, tag } from '../pages/layout.js';
import { parsePosition } from '../pages/position.js';
import { listRows } from '../pages/rows.js';
import { memberLine } from '../reading/timeline.js';
import { type ListOfResource, type ResourceKind } from './resource-kind.js';

/** Shows what was refunded and what is reserved for refunds that wait. */
export function refundFacts({ asset, refundedRaw, refundingRaw }: Original): readonly Fact[] {
  return [
    ['Refunded', refundedRaw > 0n && formatAmount({ raw: refundedRaw, asset })],
    ['Refunds that wait', refundingRaw > 0n && formatAmount({ raw: refundingRaw, asset })],
  ];
}

/** The refunds of a transfer or bonus, which belong to the tenant that received it. */
export const REFUNDS: ListOfResource<Original> = {
  name: 'refunds',
  async read(original, context, after, limit) {
    const { reader } = context;
    const receiver = await reader.find(accounts, { id: receiverOf(original) });
    if (receiver === undefined) return NO_ROWS;
    const filter = { tenantId: receiver.tenantId, refundOfId: original.id };
    const position = parsePosition(after);
    const found = await listNewest(transferList, reader, filter, limit + 1, position);
    const { items, next } = pageOf(found, limit);
    return listRows(context, 'transfers', items, next);
  },
};

export const bonusKind: ResourceKind<Bonus> = {
  name: 'bonuses',
  subjectType: 'bonus',
  actions: [REFUND_ACTION],
  lists: [REFUNDS],
  find: ({ database: { reader } }, id) => reader.find(bonuses, { id }),
  rowOf: (bonus) => bonus,
  titleOf: (bonus) => `Bonus of ${formatAmount(bonus)}`,
  describe(bonus, { names, time, tenant }) {
    const { sourceAccountId: from, recipientAccountId: to, feeAccountId } = bonus;
    const { asset, feeRaw, batchId, createdAt, tenantId } = bonus;
    return {
      status: tag('completed'),
      facts: [
        ['Amount', html`<strong>${money(bonus)}</strong>`],
        ['Fee', feeRaw > 0n && formatAmount({ raw: feeRaw, asset })],
        ['From', link('accounts', from, names.account(from))],
        ['To', link('accounts', to, names.account(to, tenantId))],
        ...refundFacts(bonus),
        ['Description', bonus.description],
        ['Reference', bonus.reference],
        metadataFact(bonus.metadata),
        ['Batch', batchId !== null && link('batches', batchId, `row ${bonus.batchRow}`)],
        tenant,
        ['Paid', time(createdAt, `by ${names.person(bonus.createdBy)}`)],
      ],
      history: {
        accountIds: [from, to, ...(feeAccountId === null ? [] : [feeAccountId])],
        instants: [createdAt],
        lines: [memberLine(createdAt, 'Paid', names.person(bonus.createdBy))],
      },
    };
  },
};
