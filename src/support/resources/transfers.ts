import { formatAmount } from '../../core/amount.js';
import { type Transfer, transfers } from '../../db/entities/operations.js';
import { transferResource } from '../../transfers/schemas.js';
import { approvalActions } from '../actions/approvals.js';
import { html } from '../html.js';
import { amount, pathOf, publicFacts, tag, time, timeOrNull } from '../pages/layout.js';
import { namesOf } from '../reading/names.js';
import { readTimeline } from '../reading/timeline.js';
import { readTransferDetails } from '../reading/transfers.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

export const transferKind: ResourceKind<Transfer> = {
  name: 'transfers',
  actions: approvalActions(
    'transfer',
    ({ transferApprovals }) => transferApprovals,
    (transfer: Transfer) => transfer,
  ),
  find: ({ database: { reader } }, id) => reader.find(transfers, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'transfer' }),
  async show(site, transfer) {
    const { reader } = site.database;
    const {
      id,
      tenantId,
      sourceAccountId: from,
      destinationAccountId: to,
      feeAccountId,
      createdAt,
      asset,
    } = transfer;
    const accountIds = [from, to, ...(feeAccountId === null ? [] : [feeAccountId])];
    const timeZone = (await namesOf(reader, [transfer])).timeZone(tenantId);
    const [details, story] = await Promise.all([
      readTransferDetails(reader, transfer, site.clock()),
      readTimeline(reader, {
        ...{
          id,
          tenantId,
          timeZone,
          accountIds,
          instants: [createdAt, transfer.approvalExpiresAt],
        },
        lines: [],
      }),
    ]);
    const { rejectionCode: code, rejectionReason: reason } = transfer;
    const asked = {
      at: createdAt,
      what: 'Asked for',
      by: `${details.createdBy} (member of the tenant)`,
      details: [],
    };
    return {
      title: `Transfer of ${formatAmount(transfer)}`,
      facts: [
        ['Status', tag(transfer.status)],
        ['Waits for', details.waitsFor],
        [
          'Expires',
          transfer.status === 'pending_approval'
            ? timeOrNull(transfer.approvalExpiresAt, timeZone)
            : null,
        ],
        ['Amount', amount(transfer)],
        ['Fee', transfer.feeRaw === 0n ? null : formatAmount({ raw: transfer.feeRaw, asset })],
        ['From', html`<a href="${pathOf('accounts', from)}">${details.source}</a>`],
        ['To', html`<a href="${pathOf('accounts', to)}">${details.destination}</a>`],
        ...publicFacts(transferResource.presentToStaff('desk', transfer)),
        ['Tenant', details.tenant],
        ['Asked for by', details.createdBy],
        ['Asked for', time(createdAt, timeZone)],
        [
          'Approved by',
          details.approvals.length === 0 ? null : details.approvals.map(({ by }) => by).join('; '),
        ],
        ['Ended because', code === null ? null : `${code}${reason === null ? '' : `: ${reason}`}`],
        [
          'Temporal',
          details.outbox.length === 0 ? null : 'has yet to be told; it is tried again and again',
        ],
        ['Id', id],
      ],
      timeline: [asked, ...story],
      timeZone,
      workflow: workflowLink(site, details.workflowId),
    };
  },
};
