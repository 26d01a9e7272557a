import { type Asset, ASSETS } from '../core/amount.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { type Batch, batches, batchRows } from '../db/entities/batches.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';
import { holds } from '../db/entities/ledger.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { limitRowKeys } from '../operations/limits.js';
import { readOwners } from '../accounts/access.js';
import {
  type Command,
  type CommandKind,
  accountsFrom,
  rowKey,
  type RowKey,
} from '../ledger/writer/types.js';
import type { Uuid } from '../core/ids.js';
import { decideCancel, decideExecution, decideRow, type PayRow } from './decide.js';
import { decideLapse, decideWithdrawal, type MemberCommand } from './withdrawal.js';

interface BatchTarget extends Command {
  readonly batchId: Uuid;
  /** The batch's source account, found by batch and tenant. Null if no such batch exists. */
  readonly sourceAccountId: Uuid | null;
}

function batchKind<C extends BatchTarget>(
  name: string,
  decide: CommandKind<C, Batch>['decide'],
  rowKeys: (command: C, accountId: Uuid) => readonly RowKey[] = () => [],
): CommandKind<C, Batch> {
  return {
    name,
    resourceType: 'bonus_batch',
    table: batches,
    decide,
    accounts: accountsFrom(({ sourceAccountId: id }) => (id === null ? [] : [id])),
    rowKeys: (command) => {
      const { batchId: id, sourceAccountId } = command;
      if (sourceAccountId === null) return [];
      return [rowKey(batches, { id }), ...rowKeys(command, sourceAccountId)];
    },
  };
}

function roleOf({ memberId }: MemberCommand, accountId: Uuid): RowKey {
  return rowKey(memberRoles, { accountId, memberId });
}

export const executeBatchKind = batchKind(
  'execute batch',
  decideExecution,
  (command, accountId) => [
    roleOf(command, accountId),
    ...ASSETS.map((asset) => rowKey(approvalPolicies, { accountId, asset })),
  ],
);

export const withdrawBatchKind = batchKind(
  'withdraw batch',
  decideWithdrawal,
  (command, accountId) => [roleOf(command, accountId)],
);

export const cancelBatchKind = batchKind('cancel batch', decideCancel, ({ batchId }) => [
  rowKey(holds, { resourceId: batchId }),
]);

export const lapseBatchKind = batchKind('lapse batch', decideLapse);

export interface PayRowCommand extends PayRow {
  /** Asset of the batch, needed to read the month's total. */
  readonly asset: Asset;
}

export const payRowKind: CommandKind<PayRowCommand, Bonus> = {
  name: 'pay batch row',
  resourceType: 'bonus',
  table: bonuses,
  // The ids need no check of the tenant, because all were read from the batch and its rows.
  accounts: async (commands, reader) => ({
    ids: commands.map(({ sourceAccountId, recipientAccountId, feeAccountId }) => [
      sourceAccountId,
      recipientAccountId,
      ...(feeAccountId === null ? [] : [feeAccountId]),
    ]),
    ownerOf: await readOwners(
      reader,
      commands.map((command) => command.recipientAccountId),
    ),
  }),
  rowKeys: (
    { tenantId, batchId, number, follows, sourceAccountId, recipientAccountId, asset },
    at,
    ownerOf,
  ) => [
    rowKey(batches, { id: batchId }),
    rowKey(batchRows, { batchId, number }),
    ...(follows === null ? [] : [rowKey(batchRows, { batchId, number: follows })]),
    rowKey(holds, { resourceId: batchId }),
    rowKey(tenants, { id: tenantId }),
    rowKey(tenants, { id: ownerOf(recipientAccountId) ?? tenantId }),
    ...limitRowKeys(sourceAccountId, asset, at),
  ],
  decide: decideRow,
};
