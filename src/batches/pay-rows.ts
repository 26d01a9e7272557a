import { commandFingerprint } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { readOwners } from '../accounts/access.js';
import type { Reader } from '../db/database.js';
import { batches, batchRows } from '../db/entities/batches.js';
import { holds, type ResourceType } from '../db/entities/ledger.js';
import { tenants } from '../db/entities/parties.js';
import type { Table } from '../db/table.js';
import { type CommandKind, rowKey } from '../ledger/writer/types.js';
import { limitRowKeys } from '../operations/limits.js';
import { type DecidePayment, decideRow, type PayRow } from './decide.js';
import type { BatchKind, OpenRow } from './kind.js';
import { rowKey as keyOfRow } from './rules.js';

interface RowPayments<Own, Payment extends { readonly id: Uuid }> {
  readonly resourceType: ResourceType;
  readonly table: Table<Payment>;
  /** Returns each row with the kind's own part of its command. */
  readonly prepare: (
    reader: Reader,
    rows: readonly OpenRow[],
  ) => Promise<readonly (readonly [OpenRow, Own])[]>;
  /** Returns the account that the payment credits at once, if it is one of ours. */
  readonly recipientOf: (own: Own) => Uuid | null;
  readonly pay: DecidePayment<PayRow & Own, Payment>;
}

/** Implements `payRows` of a kind. The key of a command is that of its row. */
export function rowPayer<Own, Payment extends { readonly id: Uuid }>(
  payments: RowPayments<Own, Payment>,
): BatchKind['payRows'] {
  const kind = payRowCommand(payments);
  return async ({ reader, writer }, rows) => {
    const own = await payments.prepare(reader, rows);
    return writer.submitTogether(
      kind,
      own.map(([open, part]) => ({ ...part, ...commandOf(open) })),
    );
  };
}

function commandOf({ batch, row, follows }: OpenRow): PayRow {
  const { id: batchId, tenantId, sourceAccountId, feeAccountId, asset } = batch;
  if (asset === null) throw new Error('an executing batch has no asset');
  return {
    tenantId,
    key: keyOfRow(row.id),
    fingerprint: commandFingerprint(['batch-row', row.id]),
    batchId,
    sourceAccountId,
    number: row.number,
    follows,
    feeAccountId,
    asset,
  };
}

function payRowCommand<Own, Payment extends { readonly id: Uuid }>({
  resourceType,
  table,
  recipientOf,
  pay,
}: RowPayments<Own, Payment>): CommandKind<PayRow & Own, Payment> {
  return {
    name: `pay batch row as ${resourceType}`,
    resourceType,
    table,
    // The ids need no check of the tenant, because all were read from the batch and its rows.
    accounts: async (commands, reader) => ({
      ids: commands.map((command) => [
        command.sourceAccountId,
        ...[recipientOf(command) ?? [], command.feeAccountId ?? []].flat(),
      ]),
      ownerOf: await readOwners(
        reader,
        commands.flatMap((command) => recipientOf(command) ?? []),
      ),
    }),
    rowKeys: (command, at, ownerOf) => {
      const { tenantId, batchId, number, follows, sourceAccountId, asset } = command;
      const recipientId = recipientOf(command);
      const recipientTenantId = recipientId === null ? undefined : ownerOf(recipientId);
      return [
        rowKey(batches, { id: batchId }),
        rowKey(batchRows, { batchId, number }),
        ...(follows === null ? [] : [rowKey(batchRows, { batchId, number: follows })]),
        rowKey(holds, { resourceId: batchId }),
        rowKey(tenants, { id: tenantId }),
        ...(recipientTenantId === undefined ? [] : [rowKey(tenants, { id: recipientTenantId })]),
        ...limitRowKeys(sourceAccountId, asset, at),
      ];
    },
    decide: (command, state) => decideRow(pay, command, state),
  };
}
