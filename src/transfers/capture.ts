import { type Amount, amountJson, calculateFee } from '../core/amount.js';
import { settlesKey } from '../core/error-table.js';
import { invalidField, invalidState, NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { feeSchedules, memberRoles } from '../db/entities/parties.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import { endingRowKeys, snapshotKind } from '../approvals/commands.js';
import { addRowAndNotification, expiryOf, type ExpiryCommand, rowOf } from '../approvals/decide.js';
import { HELD, isExpired } from '../approvals/rules.js';
import {
  accept,
  type CommandKind,
  type Decision,
  type LockedState,
  refuse,
  rowKey,
} from '../ledger/writer/types.js';
import { lastCheckRefusal, payHeld, transferApproval } from './approval-outcomes.js';
import { zeroRefusal } from './rules.js';

export interface CaptureTransfer extends ExpiryCommand<Transfer> {
  readonly memberId: Uuid;
  /** Null to capture the whole amount. */
  readonly amount: Amount | null;
}

export const captureTransfer: CommandKind<CaptureTransfer, Transfer> = {
  name: 'capture transfer',
  resourceType: 'transfer',
  table: transfers,
  ...snapshotKind<Transfer, CaptureTransfer>(transferApproval, ({ memberId }, held) => [
    ...endingRowKeys(transferApproval, held),
    rowKey(memberRoles, { accountId: held.sourceAccountId, memberId }),
    rowKey(feeSchedules, { tenantId: held.tenantId, operation: 'transfer', asset: held.asset }),
  ]),
  decide: decideCapture,
};

/** Moves the captured amount, releases the hold and restores the month's difference. (docs/contract.md, Capture) */
export function decideCapture(command: CaptureTransfer, state: LockedState): Decision<Transfer> {
  const held = rowOf(transferApproval, command, state);
  if (held === undefined) return refuse(NOT_FOUND);
  const { sourceAccountId: accountId, asset, limitMonth: month } = held;
  const role = state.row(memberRoles, { accountId, memberId: command.memberId })?.role;
  if (!roleAllows('createTransfer', role)) return refuse(AUTHORITY_INSUFFICIENT);
  const amount = command.amount ?? held;
  if (amount.asset !== asset) return refuse(invalidField('amount.asset', 'another_asset'));

  const expiresAt = expiryOf(transferApproval, held);
  if (held.status !== HELD || expiresAt === null) return refuse(notHeld(held.status));
  if (isExpired({ expiresAt }, state.at)) {
    const ending = transferApproval.expire(held, state);
    const { ended, writes } = addRowAndNotification(transferApproval, command, ending, state);
    return { ...refuse(notHeld(ended.status)), writes };
  }
  const captured = {
    ...held,
    ...capturedColumns(held, amount.raw, state),
    status: 'completed' as const,
  };
  const refusal = amountRefusal(held, amount) ?? lastCheckRefusal(captured, state);
  if (refusal !== null) return { ...refuse(refusal), bindsKey: settlesKey(refusal.code) };
  const { ended, writes } = addRowAndNotification(
    transferApproval,
    command,
    payHeld(captured, state),
    state,
  );
  const uncaptured = held.raw - amount.raw;
  const months = uncaptured === 0n ? [] : [{ accountId, asset, month, raw: -uncaptured }];
  return accept(ended, { ...writes, months });
}

/** Returns the captured amount and its fee, which is at most the held fee. */
function capturedColumns(
  { tenantId, asset, feeRaw }: Transfer,
  capturedRaw: bigint,
  state: LockedState,
): Pick<Transfer, 'capturedRaw' | 'capturedFeeRaw'> {
  const schedule = state.row(feeSchedules, { tenantId, operation: 'transfer', asset });
  const fee = schedule === undefined ? 0n : calculateFee(schedule, capturedRaw);
  return { capturedRaw, capturedFeeRaw: fee < feeRaw ? fee : feeRaw };
}

function amountRefusal({ raw, asset }: Transfer, amount: Amount): Refusal | null {
  const zero = zeroRefusal(amount);
  if (zero !== null || amount.raw <= raw) return zero;
  return {
    code: 'capture_exceeds_amount',
    message: 'the amount is more than the transfer holds',
    details: { capturable: amountJson({ raw, asset }) },
  };
}

function notHeld(current: string): Refusal {
  return invalidState(`it is ${current}, and only a held transfer can be captured`, current, [
    HELD,
  ]);
}
