import { ASSETS } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { type Batch, BATCH_KINDS, type BatchKindName, batches } from '../db/entities/batches.js';
import { holds } from '../db/entities/ledger.js';
import { memberRoles } from '../db/entities/parties.js';
import {
  accountsFrom,
  type Command,
  type CommandKind,
  rowKey,
  type RowKey,
} from '../ledger/writer/types.js';
import { decideCancel, decideExecution } from './decide.js';
import type { BatchKind } from './kind.js';
import { batchType } from './rules.js';
import { decideLapse, decideWithdrawal, type MemberCommand } from './withdrawal.js';

interface BatchTarget extends Command {
  readonly batchId: Uuid;
  /** The batch's source account, found by batch and tenant. Null if no such batch exists. */
  readonly sourceAccountId: Uuid | null;
}

function batchCommand<C extends BatchTarget>(
  kind: BatchKindName,
  name: string,
  decide: CommandKind<C, Batch>['decide'],
  rowKeys: (command: C, accountId: Uuid) => readonly RowKey[] = () => [],
): CommandKind<C, Batch> {
  return {
    name,
    resourceType: batchType({ kind }),
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

export function executeCommand(kind: BatchKind): CommandKind<MemberCommand, Batch> {
  return batchCommand(
    kind.name,
    'execute batch',
    (command, state) => decideExecution(kind, command, state),
    (command, accountId) => [
      roleOf(command, accountId),
      ...ASSETS.map((asset) => rowKey(approvalPolicies, { accountId, asset })),
    ],
  );
}

export function withdrawCommand(kind: BatchKind): CommandKind<MemberCommand, Batch> {
  return batchCommand(
    kind.name,
    'withdraw batch',
    (command, state) => decideWithdrawal(kind, command, state),
    (command, accountId) => [roleOf(command, accountId)],
  );
}

/** Makes a command for each kind of batch. */
function forEachKind<T>(make: (kind: BatchKindName) => T): Readonly<Record<BatchKindName, T>> {
  return Object.fromEntries(BATCH_KINDS.map((kind) => [kind, make(kind)])) as Record<
    BatchKindName,
    T
  >;
}

export const cancelCommands = forEachKind((kind) =>
  batchCommand(kind, 'cancel batch', decideCancel, ({ batchId }) => [
    rowKey(holds, { resourceId: batchId }),
  ]),
);

export const lapseCommands = forEachKind((kind) => batchCommand(kind, 'lapse batch', decideLapse));
