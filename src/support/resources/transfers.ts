import { formatAmount } from '../../core/amount.js';
import { type Transfer, transfers } from '../../db/entities/operations.js';
import { transferResource } from '../../transfers/schemas.js';
import { approvalActions } from '../actions/approvals.js';
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
import { endText } from '../reading/payouts.js';
import { namesOf } from '../reading/names.js';
import { line, readHistory } from '../reading/timeline.js';
import { nextWaiting } from '../reading/waiting.js';
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
    const [details, next] = await Promise.all([
      readTransferDetails(reader, transfer, site.clock()),
      nextWaiting(reader, 'transfers', id),
    ]);
    const { rejectionCode: code, rejectionReason: reason } = transfer;
    const history = await readHistory(reader, {
      ...{ id, tenantId, timeZone, accountIds },
      instants: [createdAt, transfer.approvalExpiresAt],
      lines: [line(createdAt, 'Requested', `${details.createdBy} (member of the tenant)`)],
    });
    return {
      title: `Transfer of ${formatAmount(transfer)}`,
      status: tag(transfer.status),
      facts: [
        ['Needs', transfer.status === 'pending_approval' ? details.waitsFor : null],
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
        tenantFact(tenantId, details.tenant),
        ['Requested by', details.createdBy],
        ['Requested', time(createdAt, timeZone)],
        ['Ended because', endText(code, reason)],
        [
          'Temporal',
          details.outbox.length === 0 ? null : 'is not notified yet; the service keeps trying',
        ],
        ['Id', idText(id)],
      ],
      timeline: history.timeline,
      more: historySections(history, timeZone),
      timeZone,
      next: next === null ? null : pathOf('transfers', next),
      workflow: workflowLink(site, details.workflowId),
    };
  },
};
