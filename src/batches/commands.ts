import { type Asset, ASSETS } from '../core/amount.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import {
  type Bonus,
  bonuses,
  type BonusBatch,
  bonusBatches,
  bonusBatchRows,
} from '../db/entities/bonuses.js';
import { holds } from '../db/entities/ledger.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { limitNeeds } from '../accounts/limits.js';
import { readOwners } from '../accounts/reachable.js';
import { type CommandKind, naming, need } from '../ledger/writer/types.js';
import {
  type CancelBatch,
  decideCancel,
  decideExecution,
  decideRow,
  type PayRow,
} from './decide.js';
import type { MemberCommand } from './withdrawal.js';
import { decideLapse, decideWithdrawal, type LapseBatch } from './withdrawal.js';

/** The source account belongs to the tenant, because the batch was found by its tenant. */
const OF_MEMBERS: Pick<
  CommandKind<MemberCommand, BonusBatch>,
  'resourceType' | 'table' | 'accounts' | 'needs'
> = {
  resourceType: 'bonus_batch',
  table: bonusBatches,
  accounts: naming(({ sourceAccountId: id }) => (id === null ? [] : [id])),
  needs: ({ batchId, sourceAccountId, memberId }) =>
    sourceAccountId === null
      ? []
      : [
          need(bonusBatches, { id: batchId }),
          need(memberRoles, { accountId: sourceAccountId, memberId }),
        ],
};

export const executeBatchKind: CommandKind<MemberCommand, BonusBatch> = {
  ...OF_MEMBERS,
  name: 'execute batch',
  needs: (command, at, ownerOf) => [
    ...OF_MEMBERS.needs(command, at, ownerOf),
    ...ASSETS.flatMap((asset) =>
      command.sourceAccountId === null
        ? []
        : [need(approvalPolicies, { accountId: command.sourceAccountId, asset })],
    ),
  ],
  decide: decideExecution,
};

export const withdrawBatchKind: CommandKind<MemberCommand, BonusBatch> = {
  ...OF_MEMBERS,
  name: 'withdraw batch',
  decide: decideWithdrawal,
};

export interface PayRowCommand extends PayRow {
  /** Asset of the batch, needed to read the month's total. */
  readonly asset: Asset;
}

export const payRowKind: CommandKind<PayRowCommand, Bonus> = {
  name: 'pay batch row',
  resourceType: 'bonus',
  table: bonuses,
  // Both ids were read from the database: the source, and the recipients that validation stored.
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
  needs: (
    { tenantId, batchId, number, follows, sourceAccountId, recipientAccountId, asset },
    at,
    ownerOf,
  ) => [
    need(bonusBatches, { id: batchId }),
    need(bonusBatchRows, { batchId, number }),
    ...(follows === null ? [] : [need(bonusBatchRows, { batchId, number: follows })]),
    need(holds, { resourceId: batchId }),
    need(tenants, { id: tenantId }),
    need(tenants, { id: ownerOf(recipientAccountId) ?? tenantId }),
    ...limitNeeds(sourceAccountId, asset, at),
  ],
  decide: decideRow,
};

export const cancelBatchKind: CommandKind<CancelBatch, BonusBatch> = {
  name: 'cancel batch',
  resourceType: 'bonus_batch',
  table: bonusBatches,
  accounts: naming(({ sourceAccountId }) => [sourceAccountId]),
  needs: ({ batchId }) => [
    need(bonusBatches, { id: batchId }),
    need(holds, { resourceId: batchId }),
  ],
  decide: decideCancel,
};

export const lapseBatchKind: CommandKind<LapseBatch, BonusBatch> = {
  name: 'lapse batch',
  resourceType: 'bonus_batch',
  table: bonusBatches,
  accounts: naming(({ sourceAccountId }) => [sourceAccountId]),
  needs: ({ batchId }) => [need(bonusBatches, { id: batchId })],
  decide: decideLapse,
};
