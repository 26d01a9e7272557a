import type { z } from 'zod';
import { listNewest, type OperationList } from '../../operations/operation-list.js';
import type { ApprovalFeature } from '../../approvals/decide.js';
import { type ApprovalAction, SUPPORT } from '../../approvals/rules.js';
import { Approvals } from '../../approvals/service.js';
import { formatAmount } from '../../core/amount.js';
import { ApiError, type CommandResult } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import { approvals } from '../../db/entities/approvals.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Where } from '../../db/statements.js';
import type { OutboxRow } from '../../db/entities/outbox.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { History } from '../../support/reading/timeline.js';
import { historyFields, readHistoryOf } from '../history.js';
import {
  readNames,
  readTransferDetails,
  type TransferDetails,
} from '../../support/reading/transfers.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';
import { transferList, Transfers } from '../../transfers/service.js';
import { transferResource } from '../../transfers/schemas.js';
import { command, type CommandDefinition, type Ops, query } from '../command.js';
import { UnknownOutcome } from '../failures.js';
import { type Lookup, named } from '../lookups.js';
import { PROGRAM } from '../help.js';
import { option, pair, raw, reason, status, tenant } from '../inputs.js';
import { boundsOf, fromAccount, pageInput, positionOf } from '../pages.js';
import { capitalised, type Fields } from '../output.js';

export interface OperationCommands<Row extends Transfer | Payout> {
  readonly noun: Row extends Payout ? 'payout' : 'transfer';
  readonly list: OperationList<Row>;
  readonly examples: readonly [string, ...string[]];
  readonly present: (ops: Ops, rows: readonly Row[]) => Promise<readonly Fields[]>;
  readonly named: z.ZodType<Lookup<Row>>;
  readonly show: (ops: Ops, row: Row) => Promise<void>;
  /** Returns what the question before an action names; null for no question. */
  readonly described: (ops: Ops, row: Row) => Promise<string | null>;
  readonly approval: ApprovalFeature<Row>;
}

export const EXAMPLE_ID = '01a1feef-38a9-7169-8296-3070b51f3af4';

export function operationListCommand<Row extends Transfer | Payout>({
  noun,
  list,
  examples,
  present,
}: OperationCommands<Row>): CommandDefinition {
  return query({
    summary: `a tenant's ${noun}s, newest first`,
    examples,
    input: {
      tenant,
      status: status(list.statuses),
      account: fromAccount,
      metadata: option('<key=value> only those with this pair of metadata', pair.optional()),
      ...pageInput,
    },
    run: async (ops, { tenant: { id: tenantId }, status, account, metadata, ...page }) => {
      const { reader } = ops.database;
      const { cursor, limit: most } = page;
      const own = { tenantId, status, sourceAccountId: account?.id, pair: metadata };
      const before = await positionOf<Transfer | Payout>(reader, list.table, { tenantId }, cursor);
      const filter = { ...own, ...boundsOf(page) };
      const found = await present(ops, await listNewest(list, reader, filter, most + 1, before));
      const detailsOnly = ['expires_at', 'rail', 'rail_reference'];
      ops.output.newest(found, most, 'No results.', { detailsOnly });
    },
  });
}

/** Decisions of support. `until`: the last status in which it can be canceled. */
export function approvalActionCommands<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  until = '',
) {
  const approve = "record support's approval; all staff count as one approver";
  const reject = `end a ${kind.noun} that waits: nothing leaves the account`;
  const cancel = `end it because its requester no longer wants it${until}`;
  return {
    'approve <id>': approvalCommand(kind, 'approve', approve),
    'reject <id>': approvalCommand(kind, 'reject', reject),
    'cancel <id>': approvalCommand(kind, 'cancel', cancel),
  };
}

/** The worker's sweeper notifies the workflow, because commands do not connect to Temporal. */
const NO_NOTIFIER = { notify: () => undefined };

function approvalCommand<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  action: ApprovalAction,
  summary: string,
): CommandDefinition {
  const { noun, named, show, described, approval } = kind;
  return command({
    summary,
    examples: [`${noun}s ${action} ${EXAMPLE_ID} --reason 'asked for in ticket 118'`],
    input: {
      id: named,
      reason: reason('; the tenant can read it for a rejection'),
    },
    needs: `${noun}.${action}`,
    run: async (ops, { id: row, reason }) => {
      const what = await described(ops, row);
      if (what !== null) await ops.output.confirm(`${capitalised(action)} ${what}`);
      const service = new Approvals(approval, { ...ops, notifier: NO_NOTIFIER });
      const result = await service.performByStaff(row, action, ops.by(), reason);
      const { outcome } = result;
      const performed =
        !outcome.done && outcome.refusal.code === 'invalid_state'
          ? await readPerformed(kind, ops, row, action)
          : undefined;
      if (!outcome.done && performed !== undefined) {
        const { message } = outcome.refusal;
        await show(ops, performed);
        return ops.output.say(`Nothing was changed, because this was done: ${message}.`);
      }
      const done = doneBy(result, `${noun}s show ${row.id}`);
      await show(ops, done);
      const { status, rejectionReason } = done;
      // A rule may still refuse the last approval.
      if (action === 'approve' && status === 'rejected')
        ops.output.say(
          `Its last approval could not complete it: ${rejectionReason ?? 'a rule refused it'}.`,
        );
    },
  });
}

/** Returns the row as it is now if the action was performed before, otherwise undefined. */
async function readPerformed<Row extends Transfer | Payout>(
  { list: { table } }: OperationCommands<Row>,
  { database: { reader } }: Ops,
  { id: resourceId }: Row,
  action: ApprovalAction,
): Promise<Row | undefined> {
  const now = await reader.find(table, { id: resourceId } as Where<Row>);
  const isPerformed =
    action === 'approve'
      ? (await reader.find(approvals, { resourceId, approver: SUPPORT })) !== undefined
      : (now?.rejectionCode ?? now?.status) === (action === 'reject' ? 'rejected' : 'canceled');
  return isPerformed ? now : undefined;
}

/** Returns the resource, or throws the refusal. `check` is the command that shows what happened. */
function doneBy<Row>({ outcome }: CommandResult<Row>, check: string): Row {
  if (outcome.done) return outcome.resource;
  if (outcome.refusal.code !== 'ledger_unavailable') throw new ApiError(outcome.refusal);
  throw new UnknownOutcome(
    `the ledger did not answer, so it may or may not have happened; check before you repeat it: ${PROGRAM} ${check}`,
  );
}

function transferFields(transfer: Transfer, names: ReadonlyMap<Uuid, string>): Fields {
  const { sourceAccountId: from, destinationAccountId: to } = transfer;
  const fields = transferResource.presentToStaff('ops', transfer);
  const { id = null, status = null, amount = null, created_at = null } = fields;
  return {
    id,
    status,
    from: names.get(from) ?? from,
    to: names.get(to) ?? to,
    amount,
    created_at,
    expires_at: toRfc3339(transfer.captureExpiresAt ?? transfer.approvalExpiresAt),
  };
}

function transferDetailFields(details: TransferDetails, history: History): Fields {
  const { transfer, approvals, outbox } = details;
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
    refund_of:
      transfer.refundOfId === null ? null : `${transfer.refundOfType} ${transfer.refundOfId}`,
    created_by: details.createdBy,
    waits_for: details.waitsFor,
    expires_at: toRfc3339(transfer.captureExpiresAt ?? transfer.approvalExpiresAt),
    approvals: approvals.map(({ by, channel, at }) => `${by} (${channel}) at ${toRfc3339(at)}`),
    rejection_code: transfer.rejectionCode,
    rejection_reason: transfer.rejectionReason,
    workflow_id: details.workflowId,
    ...historyFields(history),
    outbox: outbox.map((entry) => `written ${toRfc3339(entry.createdAt)}, ${attemptsOf(entry)}`),
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
    'transfers list --tenant acme --status pending_approval',
    'transfers list --tenant acme --since 2026-11-01 --amount 150000',
    "transfers list --tenant acme --account '$acme-guarded' --limit 20 --json",
  ],
  present: async ({ database }, found) => {
    const ids = found.flatMap((one) => [one.sourceAccountId, one.destinationAccountId]);
    const names = await readNames(database.reader, ids);
    return found.map((transfer) => transferFields(transfer, names));
  },
  named: named.transfer,
  show: async ({ database: { reader }, clock, output }, transfer) => {
    const now = clock();
    const { createdAt, approvalExpiresAt } = transfer;
    const [details, history] = await Promise.all([
      readTransferDetails(reader, transfer, now),
      readHistoryOf(reader, transfer, [createdAt, approvalExpiresAt], now),
    ]);
    output.one(transferDetailFields(details, history));
  },
  described: async ({ database }, transfer) => {
    if (transfer.status !== 'pending_approval' && transfer.status !== 'held') return null;
    const { sourceAccountId: from, destinationAccountId: to } = transfer;
    const names = await readNames(database.reader, [from, to]);
    return `the transfer of ${formatAmount(transfer)} from ${names.get(from) ?? from} to ${names.get(to) ?? to}`;
  },
  approval: transferApproval,
};

export const transferCommands = {
  list: operationListCommand(TRANSFERS),
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
        "<raw> an integer in the asset's smallest unit; by default all that can still be refunded",
        raw.optional(),
      ),
      reason: reason('; both parties read it'),
    },
    needs: 'transfer.refund',
    run: async (ops, { id: original, amount, reason }) => {
      const { id, asset } = original;
      const transfers = new Transfers({ ...ops, notifier: NO_NOTIFIER });
      const result = await transfers.proposeRefund(original, {
        amount: amount === undefined ? null : { raw: amount, asset },
        reason,
        by: ops.by(),
      });
      const refund = doneBy(result, `audit-log --subject ${id}`);
      await TRANSFERS.show(ops, refund);
      ops.output.say(
        `Another person approves it: ${PROGRAM} transfers approve ${refund.id} --reason TEXT --as NAME`,
      );
    },
  }),
};
