import { formatAmount } from '../../core/amount.js';
import { type Transfer, transfers } from '../../db/entities/operations.js';
import { transferResource } from '../../transfers/schemas.js';
import { approvalActions } from '../actions/approvals.js';
import { amount, link, publicFacts, tag } from '../pages/layout.js';
import { endText } from '../reading/payouts.js';
import { line } from '../reading/timeline.js';
import { readTransferDetails } from '../reading/transfers.js';
import type { ResourceKind } from './resource-kind.js';

export const transferKind: ResourceKind<Transfer> = {
  name: 'transfers',
  subjectType: 'transfer',
  actions: approvalActions(
    'transfer',
    ({ transferApprovals }) => transferApprovals,
    (transfer: Transfer) => transfer,
  ),
  find: ({ database: { reader } }, id) => reader.find(transfers, { id }),
  rowOf: (transfer) => transfer,
  async describe(transfer, { reader, now, time, tenant }) {
    const { sourceAccountId: from, destinationAccountId: to, feeAccountId } = transfer;
    const { createdAt, asset, feeRaw, approvalExpiresAt } = transfer;
    const details = await readTransferDetails(reader, transfer, now);
    const isPending = transfer.status === 'pending_approval';
    const isNotified = details.outbox.length === 0;
    return {
      title: `Transfer of ${formatAmount(transfer)}`,
      status: tag(transfer.status),
      facts: [
        ['Needs', isPending && details.waitsFor],
        ['Expires', isPending && time(approvalExpiresAt)],
        ['Amount', amount(transfer)],
        ['Fee', feeRaw > 0n && formatAmount({ raw: feeRaw, asset })],
        ['From', link('accounts', from, details.source)],
        ['To', link('accounts', to, details.destination)],
        ...publicFacts(transferResource.presentToStaff('desk', transfer)),
        tenant,
        ['Requested by', details.createdBy],
        ['Requested', time(createdAt)],
        ['Ended because', endText(transfer.rejectionCode, transfer.rejectionReason)],
        ['Temporal', !isNotified && 'is not notified yet; the service keeps trying'],
      ],
      history: {
        accountIds: [from, to, ...(feeAccountId === null ? [] : [feeAccountId])],
        instants: [createdAt, approvalExpiresAt],
        lines: [line(createdAt, 'Requested', `${details.createdBy} (member of the tenant)`)],
      },
      list: 'transfers',
      workflowId: details.workflowId,
    };
  },
};
