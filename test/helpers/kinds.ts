import { randomUUID } from 'node:crypto';
import type { Asset } from '../../src/core/amount.js';
import type { Refusal } from '../../src/core/errors.js';
import { commandFingerprint } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { holds, monthTotals } from '../../src/db/entities/ledger.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import {
  changeRow,
  type Command,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  accountsFrom,
  type RowKey,
  rowKey,
  refuse,
} from '../../src/ledger/writer/types.js';
import { endEvent } from '../../src/transfers/decide.js';
import { newTransfer, transferPosting } from '../../src/transfers/rules.js';
import {
  CREATE_TRANSFER_EXAMPLE,
  CreateTransferBody,
  transferRequest,
} from '../../src/transfers/schemas.js';

/** A command of a test's own: what it touches and decides is said where it is used. */
interface TestCommand extends Command {
  readonly accountIds: readonly Uuid[];
  readonly keysToRead: readonly RowKey[];
  readonly run: (state: LockedState) => Decision<Transfer>;
}

export const testKind: CommandKind<TestCommand, Transfer> = {
  name: 'test',
  resourceType: 'transfer',
  table: transfers,
  accounts: accountsFrom(({ accountIds }) => accountIds),
  rowKeys: ({ keysToRead }) => keysToRead,
  decide: ({ run }, state) => run(state),
};

export const MONTH = '2026-11';

interface Move {
  readonly from: Account;
  readonly to: Account;
  readonly raw: bigint;
  readonly asset?: Asset;
  readonly key?: string;
  /** Changes the decision that would be right. */
  readonly spoil?: (
    decision: Decision<Transfer>,
    transfer: Transfer,
    state: LockedState,
  ) => Decision<Transfer>;
}

export const SHORT_OF_FUNDS: Refusal = {
  code: 'insufficient_funds',
  message: 'not enough',
  details: { available: '0', requested: '1' },
};

/** Moves any amount at once, without limits: a completed transfer. */
export function move({
  from,
  to,
  raw,
  asset = 'COPM',
  key = randomUUID(),
  spoil,
}: Move): TestCommand {
  const id = newId();
  return {
    ...identity(from, key, ['move', from.id, to.id, raw.toString()]),
    accountIds: [from.id, to.id],
    keysToRead: monthNeed(from, asset),
    run: (state) => {
      const available = state.account(from.id)?.balances[asset].available ?? 0n;
      if (available < raw && spoil === undefined)
        return { ...refuse(SHORT_OF_FUNDS), bindsKey: true };
      const transfer = transferRow({ id, from, to, raw, asset }, 'completed', state);
      const decision: Decision<Transfer> = {
        outcome: { done: true, resource: transfer },
        writes: {
          postings: [transferPosting(transfer)],
          months: [{ accountId: from.id, asset, month: MONTH, raw }],
          rows: [insertRow(transfers, transfer)],
          events: [endEvent('transfer.completed', transfer)],
        },
        bindsKey: true,
      };
      return spoil === undefined ? decision : spoil(decision, transfer, state);
    },
  };
}

/** Sets an amount aside: a pending transfer. */
export function reserve({ from, to, raw, asset = 'COPM', key = randomUUID() }: Move): TestCommand {
  const id = newId();
  return {
    ...identity(from, key, ['reserve', from.id, to.id, raw.toString()]),
    accountIds: [from.id],
    keysToRead: monthNeed(from, asset),
    run: (state) => {
      if ((state.account(from.id)?.balances[asset].available ?? 0n) < raw)
        return { ...refuse(SHORT_OF_FUNDS), bindsKey: true };
      const transfer = transferRow({ id, from, to, raw, asset }, 'pending_approval', state);
      return {
        outcome: { done: true, resource: transfer },
        writes: {
          holds: [
            {
              change: 'place',
              resourceId: id,
              resourceType: 'transfer',
              accountId: from.id,
              asset,
              raw,
              expiresAt: transfer.approvalExpiresAt,
            },
          ],
          months: [{ accountId: from.id, asset, month: MONTH, raw }],
          rows: [insertRow(transfers, transfer)],
        },
        bindsKey: true,
      };
    },
  };
}

/** Spends or gives back what a pending transfer set aside; the first to come settles it. */
export function settle(
  transfer: Transfer,
  to: 'completed' | 'rejected',
  releasedRaw = transfer.raw,
): TestCommand {
  const { id, sourceAccountId, destinationAccountId, asset, raw } = transfer;
  return {
    tenantId: transfer.tenantId,
    key: `transfer/${id}/${to}/${randomUUID()}`,
    fingerprint: commandFingerprint([to, id]),
    accountIds: [sourceAccountId, destinationAccountId],
    keysToRead: [
      rowKey(transfers, { id }),
      rowKey(holds, { resourceId: id }),
      rowKey(monthTotals, { accountId: sourceAccountId, asset, month: MONTH }),
    ],
    run: (state) => {
      const now = state.row(transfers, { id });
      if (now?.status !== 'pending_approval')
        return refuse({ code: 'invalid_state', message: 'settled' });
      const isSpent = to === 'completed';
      // Spent without approvals, as a transfer that never needed any.
      const settled: Transfer = isSpent
        ? {
            ...now,
            status: to,
            approvalsRequired: null,
            approvalsReceived: null,
            approvalExpiresAt: null,
          }
        : { ...now, status: to, rejectionCode: 'rejected' };
      return {
        outcome: { done: true, resource: settled },
        writes: {
          holds: [{ change: 'release', resourceId: id, raw: releasedRaw }],
          postings: isSpent ? [transferPosting(settled)] : [],
          months: isSpent ? [] : [{ accountId: sourceAccountId, asset, month: MONTH, raw: -raw }],
          rows: [changeRow(transfers, settled)],
          events: [endEvent(isSpent ? 'transfer.completed' : 'transfer.rejected', settled)],
        },
        bindsKey: true,
      };
    },
  };
}

function identity(from: Account, key: string, content: readonly string[]): Command {
  return { tenantId: from.tenantId, key, fingerprint: commandFingerprint(content) };
}

function monthNeed(from: Account, asset: Asset): readonly RowKey[] {
  return [rowKey(monthTotals, { accountId: from.id, asset, month: MONTH })];
}

function transferRow(
  { id, from, to, raw, asset }: { id: Uuid; from: Account; to: Account; raw: bigint; asset: Asset },
  status: Transfer['status'],
  state: LockedState,
): Transfer {
  const wanted = status === 'completed' ? null : { required: 1, expiresAt: state.at };
  const request = {
    ...transferRequest(CreateTransferBody.parse(CREATE_TRANSFER_EXAMPLE)),
    ...{ sourceAccountId: from.id, destinationAccountId: to.id, amount: { raw, asset } },
    ...{ tenantId: from.tenantId, transferId: id, memberId: from.tenantId, description: null },
    metadata: null,
  };
  return newTransfer(request, { raw: 0n, accountId: null }, MONTH, state.at, wanted);
}
