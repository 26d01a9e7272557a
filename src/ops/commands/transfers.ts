import { formatAmount } from '../../core/amount.js';
import { ApiError } from '../../core/errors.js';
import { toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import type { Transfer } from '../../db/entities/operations.js';
import { accounts } from '../../db/entities/parties.js';
import { outbox, type OutboxRow } from '../../db/entities/outbox.js';
import { listNewest } from '../../operations/operation-list.js';
import type { History } from '../../support/reading/timeline.js';
import { historyFields, readHistoryOf, readLastAction } from '../history.js';
import {
  type Names,
  namesOf,
  readTransferDetails,
  type TransferDetails,
} from '../../support/reading/transfers.js';
import { receiverOf, refundableRaw, refundRefusal } from '../../transfers/originals.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';
import { transferList, Transfers } from '../../transfers/service.js';
import { transferResource } from '../../transfers/schemas.js';
import { command, query } from '../command.js';
import { named } from '../lookups.js';
import { PROGRAM } from '../help.js';
import { amount, askedReason, option, reasonOf } from '../inputs.js';
import { Described, type Fields, rowFields } from '../fields.js';
import {
  approvalFields,
  approvalActionCommands,
  doneBy,
  EXAMPLE_ID,
  NO_NOTIFIER,
  UNTIL_APPROVED,
  type OperationCommands,
} from './approvals.js';
import { operationListCommand } from './operation-list.js';

/** Returns when the transfer expires; null unless it waits. */
function expiryOf({ status, captureExpiresAt, approvalExpiresAt }: Transfer): string | null {
  const isWaiting = status === 'pending_approval' || status === 'held';
  return isWaiting ? toRfc3339(captureExpiresAt ?? approvalExpiresAt) : null;
}

function refundOf({ refundOfType: type, refundOfId: id }: Transfer): Described | null {
  return id && Described.one(`${type} ${id}`, { type, id });
}

function transferFields(transfer: Transfer, names: Names): Fields {
  const fields = transferResource.presentToStaff('ops', transfer);
  const { id = null, status = null, amount = null, created_at = null, fee = null } = fields;
  return {
    id,
    status,
    amount,
    from: names.account(transfer.sourceAccountId),
    to: names.account(transfer.destinationAccountId, transfer.tenantId),
    created_at,
    expires_at: expiryOf(transfer),
    fee,
    description: transfer.description,
    from_account_id: transfer.sourceAccountId,
    to_account_id: transfer.destinationAccountId,
    created_by: names.person(transfer.createdBy),
  };
}

/** Returns the newest refunds of a transfer that wait for approval. They belong to its receiver's tenant. */
async function readWaitingRefunds(
  reader: Reader,
  { id: refundOfId, refundingRaw, destinationAccountId }: Transfer,
): Promise<readonly Transfer[]> {
  if (refundingRaw === 0n) return [];
  const receiver = await reader.find(accounts, { id: destinationAccountId });
  if (receiver === undefined) return [];
  const filter = { tenantId: receiver.tenantId, status: 'pending_approval', refundOfId };
  return listNewest(transferList, reader, filter, SHOWN_REFUNDS);
}
const SHOWN_REFUNDS = 100;

function transferDetailFields(
  details: TransferDetails,
  history: History,
  refunds: readonly Transfer[],
): Fields {
  const { transfer, approvals, outbox: waiting } = details;
  const { id = null, status = null, ...others } = transferResource.presentToStaff('ops', transfer);
  return {
    id,
    status,
    tenant: details.tenant,
    tenant_id: transfer.tenantId,
    from: details.source,
    from_account_id: transfer.sourceAccountId,
    to: details.destination,
    to_account_id: transfer.destinationAccountId,
    ...others,
    description: transfer.description,
    refund_of: refundOf(transfer),
    pending_refunds: Described.each(
      refunds,
      (one) => `${formatAmount(one)} since ${toRfc3339(one.createdAt)}: transfers show ${one.id}`,
      ({ id, raw, asset, createdAt }) => ({
        id,
        amount: { raw, asset },
        created_at: toRfc3339(createdAt),
      }),
    ),
    created_by: details.createdBy,
    waits_for: details.waitsFor,
    expires_at: expiryOf(transfer),
    approvals: approvalFields(approvals),
    rejection_code: transfer.rejectionCode,
    rejection_reason: transfer.rejectionReason,
    workflow_id: details.workflowId,
    ...historyFields(history),
    outbox: Described.each(
      waiting,
      (entry) => `written ${toRfc3339(entry.createdAt)}, ${attemptsOf(entry)}`,
      (entry) => rowFields(outbox, entry, 'createdAt dueAt attempts lastError deadAt:dead_since'),
    ),
  };
}

function attemptsOf({ attempts, dueAt, lastError, deadAt }: OutboxRow): string {
  const why = `refused ${counted(attempts, 'time')}: ${lastError ?? 'no reason given'}`;
  if (deadAt !== null) return `a dead letter since ${toRfc3339(deadAt)}, ${why}`;
  const next = `next attempt from ${toRfc3339(dueAt)} on`;
  return attempts === 0 ? next : `${next}, ${why}`;
}

const TRANSFERS: OperationCommands<Transfer> = {
  noun: 'transfer',
  list: transferList,
  examples: [
    'transfers list --status pending_approval',
    'transfers list --tenant acme --since 2026-11-01 --amount 150000',
    "transfers list --tenant acme --account '$acme-guarded' --to '$ana' --limit 20 --json",
  ],
  present: transferFields,
  detailsOnly: ['expires_at'],
  whenChosen: ['fee', 'description', 'from_account_id', 'to_account_id', 'created_by'],
  named: named.transfer,
  show: async ({ database: { reader }, clock, output }, transfer) => {
    const now = clock();
    const { createdAt, approvalExpiresAt } = transfer;
    const [details, history, refunds, ended] = await Promise.all([
      readTransferDetails(reader, transfer, now),
      readHistoryOf(reader, transfer, [createdAt, approvalExpiresAt], now),
      readWaitingRefunds(reader, transfer),
      readLastAction(reader, transfer.id, ['transfer.reject', 'transfer.cancel']),
    ]);
    output.one({ ...transferDetailFields(details, history, refunds), ended_by: ended });
  },
  described: async ({ database }, transfer) => {
    const names = await namesOf(database.reader, [transfer]);
    const [from, to] = [transfer.sourceAccountId, transfer.destinationAccountId].map((id) =>
      names.account(id),
    );
    return `the transfer of ${formatAmount(transfer)} from ${from} to ${to}`;
  },
  approval: transferApproval,
};

export const transferCommands = {
  list: operationListCommand('transfers', TRANSFERS),
  'show <id>': query({
    summary: 'one transfer: its parties, who approved it, what it waits for, and its workflow',
    examples: [`transfers show ${EXAMPLE_ID}`],
    input: { id: named.transfer },
    run: async (ops, { id: transfer }) => {
      await TRANSFERS.show(ops, transfer);
      ops.output.say(`Its actions and refusals: ${PROGRAM} audit-log --subject ${transfer.id}`);
    },
  }),
  ...approvalActionCommands(TRANSFERS),
  'refund <id>': command({
    summary:
      'propose to send a transfer or bonus back; nothing moves until another person approves',
    examples: [`transfers refund ${EXAMPLE_ID} --amount 50000 --reason 'Paid twice, ticket 118'`],
    input: {
      id: named.original,
      amount: option(
        '<amount> how much; by default all that can still be refunded',
        amount.optional(),
      ),
      reason: askedReason('; both parties read it'),
    },
    needs: 'transfer.refund',
    run: async (ops, { id: original, amount: amountIn, reason }) => {
      const { id, asset, sourceAccountId } = original;
      const amount = amountIn === undefined ? null : { raw: amountIn(asset), asset };
      const refused = refundRefusal(original, amount?.raw ?? null);
      if (refused !== null) throw new ApiError(refused);
      const why = await reasonOf(reason, ops.output);
      const names = await namesOf(ops.database.reader, [original]);
      // A refund that ends meanwhile must not raise the sum that the question names.
      const asked = amount ?? { raw: refundableRaw(original), asset };
      const parties = `from ${names.account(receiverOf(original))} to ${names.account(sourceAccountId)}`;
      await ops.output.confirm(
        `Propose to send ${formatAmount(asked)} back ${parties} (${why})`,
        UNTIL_APPROVED,
      );
      const service = new Transfers({ ...ops, notifier: NO_NOTIFIER });
      const result = await service.proposeRefund(original, {
        amount: asked,
        reason: why,
        by: await ops.by(),
      });
      const refund = doneBy(result, `audit-log --subject ${id}`);
      ops.output.happened(`The refund of ${formatAmount(refund)} ${parties} is proposed.`);
      await TRANSFERS.show(ops, refund);
      ops.output.say(
        `Another person approves it: ${PROGRAM} transfers approve ${refund.id} --reason TEXT --as NAME`,
      );
    },
  }),
};
