import { approvals } from '../db/entities/approvals.js';
import { staff } from '../db/entities/staff.js';
import { holds, monthTotals } from '../db/entities/ledger.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { readOwners } from '../accounts/access.js';
import { type CommandKind, accountsFrom, rowKey, type RowKey } from '../ledger/writer/types.js';
import {
  type ApprovalActionCommand,
  type Approvable,
  type ApprovalFeature,
  decideAction,
  decideExpiry,
  type ExpiryCommand,
} from './decide.js';

export interface ApprovalCommands<Row extends Approvable> {
  readonly perform: CommandKind<ApprovalActionCommand<Row>, Row>;
  readonly expire: CommandKind<ExpiryCommand<Row>, Row>;
}

export function approvalCommands<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
): ApprovalCommands<Row> {
  const { resourceType, table, destinationOf } = feature;
  const accounts = accountsFrom(({ snapshot }: ExpiryCommand<Row>) =>
    snapshot === null ? [] : feature.accountsOf(snapshot),
  );
  return {
    perform: {
      name: `act on ${resourceType}`,
      resourceType,
      table,
      async accounts(commands, reader) {
        const destinations = commands.flatMap(({ snapshot }) =>
          snapshot === null || destinationOf === undefined ? [] : [destinationOf(snapshot)],
        );
        return { ...(await accounts(commands)), ownerOf: await readOwners(reader, destinations) };
      },
      rowKeys({ snapshot, actor }, _at, ownerOf) {
        if (snapshot === null) return [];
        const authority =
          actor.by === 'member'
            ? rowKey(memberRoles, { accountId: snapshot.sourceAccountId, memberId: actor.memberId })
            : rowKey(staff, { id: actor.staff.id });
        const owners =
          destinationOf === undefined
            ? []
            : [snapshot.tenantId, ownerOf(destinationOf(snapshot)) ?? snapshot.tenantId];
        return [
          ...endingRowKeys(feature, snapshot),
          rowKey(approvals, { resourceId: snapshot.id }),
          authority,
          ...owners.map((id) => rowKey(tenants, { id })),
        ];
      },
      decide: (command, state) => decideAction(feature, command, state),
    },
    expire: {
      name: `expire ${resourceType}`,
      resourceType,
      table,
      accounts,
      rowKeys: ({ snapshot }) => (snapshot === null ? [] : endingRowKeys(feature, snapshot)),
      decide: (command, state) => decideExpiry(feature, command, state),
    },
  };
}

export function endingRowKeys<Row extends Approvable>(
  { table }: Pick<ApprovalFeature<Row>, 'table'>,
  row: Row,
): RowKey[] {
  const { id, sourceAccountId: accountId, asset, limitMonth: month } = row;
  const own = rowKey(table, { id } as Partial<Row>);
  return [own, rowKey(holds, { resourceId: id }), rowKey(monthTotals, { accountId, asset, month })];
}
