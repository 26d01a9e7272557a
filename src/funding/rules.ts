import { type Amount, fitsColumn, formatAmount } from '../core/amount.js';
import { invalidField, NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Adjustment, adjustments, type PayIn, payIns } from '../db/entities/operations.js';
import { ACCOUNT_CLOSED } from '../accounts/rules.js';
import {
  changeRow,
  type Command,
  type Decision,
  type EntryDraft,
  insertRow,
  type LockedAccount,
  type Posting,
  refuse,
  type View,
} from '../ledger/desk/types.js';

/**
 * Money that operators bring in, and what they correct. Pure. Each is a balanced posting between the account and a system
 * account of the tenant. A refusal binds no key: the same reference may be tried again when its cause is gone.
 */

export interface RecordPayIn extends Command {
  readonly payInId: Uuid;
  readonly accountId: Uuid;
  /** The tenant's pay-in account, where the money comes from. */
  readonly systemAccountId: Uuid;
  readonly amount: Amount;
  readonly reference: string;
  readonly description: string | null;
  readonly operator: string;
}

export interface ProposeAdjustment extends Command {
  readonly adjustmentId: Uuid;
  readonly accountId: Uuid;
  readonly direction: Adjustment['direction'];
  readonly amount: Amount;
  readonly reference: string;
  readonly reason: string;
  readonly operator: string;
}

export interface DecideAdjustment extends Command {
  readonly adjustmentId: Uuid;
  readonly accountId: Uuid;
  /** The tenant's adjustment account, the other side of the correction. */
  readonly systemAccountId: Uuid;
  readonly operator: string;
}

/** Money enters the account. (decisions.md, Operators: pay-ins) */
export function decidePayIn(command: RecordPayIn, view: View): Decision<PayIn> {
  const { payInId, tenantId, accountId, amount, reference, description } = command;
  const account = ownAccount(view, tenantId, accountId);
  if (account === undefined) return refuse(NOT_FOUND, false);
  const move = {
    account,
    system: systemAccount(view, tenantId, command.systemAccountId),
    amount,
    direction: 'in',
  } as const;
  const refusal = closedRefusal(account) ?? rangeRefusal(move);
  if (refusal !== null) return refuse(refusal, false);
  const payIn: PayIn = {
    id: payInId,
    tenantId,
    accountId,
    asset: amount.asset,
    raw: amount.raw,
    reference,
    description,
    recordedBy: command.operator,
    createdAt: view.at,
  };
  const posting: Posting = {
    relatedType: 'payin',
    relatedId: payInId,
    description,
    entries: entriesOf(move, 'payin_in'),
  };
  return {
    outcome: { done: true, resource: payIn },
    writes: { postings: [posting], rows: [insertRow(payIns, payIn)] },
    bindsKey: true,
  };
}

/** Asks for a correction; nothing moves. (decisions.md, Operators: adjustments) */
export function decideProposal(command: ProposeAdjustment, view: View): Decision<Adjustment> {
  const { adjustmentId, tenantId, accountId, direction, amount, reference, reason } = command;
  const account = ownAccount(view, tenantId, accountId);
  if (account === undefined) return refuse(NOT_FOUND, false);
  const refusal = direction === 'in' ? closedRefusal(account) : null;
  if (refusal !== null) return refuse(refusal, false);
  const adjustment: Adjustment = {
    id: adjustmentId,
    tenantId,
    accountId,
    direction,
    asset: amount.asset,
    raw: amount.raw,
    reference,
    reason,
    status: 'proposed',
    proposedBy: command.operator,
    decidedBy: null,
    createdAt: view.at,
    decidedAt: null,
  };
  return {
    outcome: { done: true, resource: adjustment },
    writes: { rows: [insertRow(adjustments, adjustment)] },
    bindsKey: true,
  };
}

/** A second person posts the correction. A closed account can still be emptied, never filled. */
export function decideApproval(command: DecideAdjustment, view: View): Decision<Adjustment> {
  const { tenantId, accountId, operator } = command;
  const account = ownAccount(view, tenantId, accountId);
  const adjustment = view.row(adjustments, { id: command.adjustmentId });
  if (account === undefined || adjustment?.accountId !== accountId) return refuse(NOT_FOUND, false);
  const { asset, raw, direction, reason } = adjustment;
  const system = systemAccount(view, tenantId, command.systemAccountId);
  const move = { account, system, amount: { raw, asset }, direction };
  const refusal =
    (adjustment.status === 'proposed' ? null : settledRefusal(adjustment)) ??
    (isSamePerson(operator, adjustment.proposedBy) ? ONE_PERSON : null) ??
    (direction === 'in' ? closedRefusal(account) : fundsRefusal(move)) ??
    rangeRefusal(move);
  if (refusal !== null) return refuse(refusal, false);
  const posted: Adjustment = { ...adjustment, status: 'posted', decidedBy: operator, decidedAt: view.at };
  const posting: Posting = {
    relatedType: 'adjustment',
    relatedId: adjustment.id,
    description: reason,
    entries: entriesOf(move, direction === 'in' ? 'adjustment_in' : 'adjustment_out'),
  };
  return {
    outcome: { done: true, resource: posted },
    writes: { postings: [posting], rows: [changeRow(adjustments, posted)] },
    bindsKey: true,
  };
}

/** Ends the proposal without moving anything; whoever made it may take it back so. */
export function decideRejection(command: DecideAdjustment, view: View): Decision<Adjustment> {
  const adjustment = view.row(adjustments, { id: command.adjustmentId });
  if (adjustment?.tenantId !== command.tenantId) return refuse(NOT_FOUND, false);
  if (adjustment.status !== 'proposed') return refuse(settledRefusal(adjustment), false);
  const rejected: Adjustment = { ...adjustment, status: 'rejected', decidedBy: command.operator, decidedAt: view.at };
  return {
    outcome: { done: true, resource: rejected },
    writes: { rows: [changeRow(adjustments, rejected)] },
    bindsKey: true,
  };
}

const ONE_PERSON: Refusal = {
  code: 'authority_insufficient',
  message: 'an adjustment is posted by another operator than the one who proposed it',
};

/** People write their own name in more than one way. */
function isSamePerson(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function settledRefusal({ status, decidedBy }: Adjustment): Refusal {
  return {
    code: 'invalid_state',
    message: `the adjustment is already ${status}, by ${decidedBy ?? 'nobody'}`,
    details: { current: status, allowed: ['proposed'] },
  };
}

function closedRefusal({ account }: LockedAccount): Refusal | null {
  return account.status === 'closed' ? ACCOUNT_CLOSED : null;
}

interface Move {
  readonly account: LockedAccount;
  readonly system: LockedAccount;
  readonly amount: Amount;
  /** As the account sees it. */
  readonly direction: 'in' | 'out';
}

function ownAccount(view: View, tenantId: Uuid, id: Uuid): LockedAccount | undefined {
  const found = view.account(id);
  return found?.account.tenantId === tenantId && found.account.type !== 'system' ? found : undefined;
}

function systemAccount(view: View, tenantId: Uuid, id: Uuid): LockedAccount {
  const found = view.account(id);
  if (found?.account.tenantId !== tenantId || !found.overdraft) throw new Error('not a system account of the tenant');
  return found;
}

function fundsRefusal({ account, amount }: Move): Refusal | null {
  const { available } = account.balances[amount.asset];
  if (available >= amount.raw) return null;
  return {
    code: 'insufficient_funds',
    message: `${formatAmount(amount)} were requested, ${formatAmount({ raw: available, asset: amount.asset })} are available`,
    details: { available: available.toString(), requested: amount.raw.toString() },
  };
}

/** Either side's balance must stay within the 64 bits of its column. */
function rangeRefusal({ account, system, amount, direction }: Move): Refusal | null {
  const gained = direction === 'in' ? amount.raw : -amount.raw;
  const fits = (side: LockedAccount, change: bigint): boolean => {
    const { available, held } = side.balances[amount.asset];
    return fitsColumn(available + change) && fitsColumn(available + held + change);
  };
  if (fits(account, gained) && fits(system, -gained)) return null;
  return {
    ...invalidField('amount.raw', 'out_of_range'),
    message: `with ${formatAmount(amount)} more, a balance would be larger than the ledger can hold`,
  };
}

function entriesOf(move: Move, kind: 'payin_in' | 'adjustment_in' | 'adjustment_out'): readonly EntryDraft[] {
  const { raw, asset } = move.amount;
  const gained = move.direction === 'in' ? raw : -raw;
  const [own, system] = [move.account.account.id, move.system.account.id];
  return [
    { accountId: own, asset, raw: gained, kind, counterpartyAccountId: system },
    {
      accountId: system,
      asset,
      raw: -gained,
      kind: move.direction === 'in' ? 'system_out' : 'system_in',
      counterpartyAccountId: own,
    },
  ];
}
