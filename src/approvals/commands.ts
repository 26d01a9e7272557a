import type { Uuid } from '../core/ids.js';
import { approvals } from '../db/entities/approvals.js';
import { staff } from '../db/entities/staff.js';
import { holds, monthTotals } from '../db/entities/ledger.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { readOwners } from '../accounts/access.js';
import { type Command, type CommandKind, rowKey, type RowKey } from '../ledger/writer/types.js';
import {
  type ApprovalActionCommand,
  type Approvable,
  type ApprovalFeature,
  decideAction,
  decideExpiry,
  type ExpiryCommand,
} from './decide.js';
import type { ApprovalActor } from './rules.js';

export interface ApprovalCommands<Row extends Approvable> {
  readonly perform: CommandKind<ApprovalActionCommand<Row>, Row>;
  readonly expire: CommandKind<ExpiryCommand<Row>, Row>;
}

export function approvalCommands<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
): ApprovalCommands<Row> {
  const { resourceType, table, accountsOf } = feature;
  return {
    perform: {
      name: `act on ${resourceType}`,
      resourceType,
      table,
      ...snapshotKind<Row, ApprovalActionCommand<Row>>(feature, ({ actor }, row) => [
        ...endingRowKeys(feature, row),
        rowKey(approvals, { resourceId: row.id }),
        authorityKey(actor, row.sourceAccountId),
      ]),
      decide: (command, state) => decideAction(feature, command, state),
    },
    expire: {
      name: `expire ${resourceType}`,
      resourceType,
      table,
      ...snapshotKind<Row, ExpiryCommand<Row>>({ accountsOf }, (_, row) =>
        endingRowKeys(feature, row),
      ),
      decide: (command, state) => decideExpiry(feature, command, state),
    },
  };
}

interface SnapshotParties<Row> {
  readonly accountsOf: (row: Row) => readonly Uuid[];
  readonly destinationOf?: ((row: Row) => Uuid) | undefined;
}

/**
 * Returns what a command on an existing row locks and reads: the accounts, the rows of `rowKeysOf`
 * and, with a destination, the tenants of both sides. Nothing if the row was not found.
 */
export function snapshotKind<
  Row extends { readonly tenantId: Uuid },
  C extends Command & { readonly snapshot: Row | null },
>(
  { accountsOf, destinationOf }: SnapshotParties<Row>,
  rowKeysOf: (command: C, row: Row) => readonly RowKey[],
): Pick<CommandKind<C, never>, 'accounts' | 'rowKeys'> {
  return {
    async accounts(commands, reader) {
      const ids = commands.map(({ snapshot }) => (snapshot === null ? [] : accountsOf(snapshot)));
      const destinations = commands.flatMap(({ snapshot }) =>
        snapshot === null || destinationOf === undefined ? [] : [destinationOf(snapshot)],
      );
      return { ids, ownerOf: await readOwners(reader, destinations) };
    },
    rowKeys(command, _at, ownerOf) {
      const { snapshot } = command;
      if (snapshot === null) return [];
      const { tenantId } = snapshot;
      const owners =
        destinationOf === undefined ? [] : [tenantId, ownerOf(destinationOf(snapshot)) ?? tenantId];
      return [...rowKeysOf(command, snapshot), ...owners.map((id) => rowKey(tenants, { id }))];
    },
  };
}

/** Returns the key of the row that gives the actor the right to act in the account. */
export function authorityKey(actor: ApprovalActor, accountId: Uuid): RowKey {
  return actor.by === 'member'
    ? rowKey(memberRoles, { accountId, memberId: actor.memberId })
    : rowKey(staff, { id: actor.staff.id });
}

export function endingRowKeys<Row extends Approvable>(
  { table, furtherKeys }: Pick<ApprovalFeature<Row>, 'table' | 'furtherKeys'>,
  row: Row,
): RowKey[] {
  const { id, sourceAccountId: accountId, asset, limitMonth: month } = row;
  const own = rowKey(table, { id } as Partial<Row>);
  return [
    own,
    rowKey(holds, { resourceId: id }),
    rowKey(monthTotals, { accountId, asset, month }),
    ...(furtherKeys?.(row) ?? []),
  ];
}
