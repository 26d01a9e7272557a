import { auditRow } from '../access/audit-log.js';
import {
  AUTHORITY_INSUFFICIENT,
  capabilityRefusal,
  type Fee,
  fundsRefusal,
} from '../accounts/rules.js';
import { authorityKey, snapshotKind } from '../approvals/commands.js';
import { DEFAULT_EXPIRY_S } from '../approvals/policies.js';
import {
  type ApprovalActor,
  auditActor,
  requiredApprovals,
  type RequiredApprovals,
} from '../approvals/rules.js';
import { type Amount, formatAmount } from '../core/amount.js';
import { settlesKey } from '../core/error-table.js';
import { invalidField, missing, NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, monthOf } from '../core/instant.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { auditLog } from '../db/entities/identity.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { memberRoles } from '../db/entities/parties.js';
import { staff } from '../db/entities/staff.js';
import {
  accept,
  changeRow,
  type Command,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  rowKey,
  type RowWrite,
} from '../ledger/writer/types.js';
import { creditRefusal, findParties, findPayer } from '../operations/payments.js';
import { rowRefusal } from '../staff/rules.js';
import { creationWrites } from './decide.js';
import {
  countRefund,
  type Original,
  ORIGINALS,
  receiverOf,
  refundableRaw,
  refundRefusal,
  typeOf,
} from './originals.js';
import { newTransfer, type RefundRequest } from './rules.js';

export interface CreateRefund extends Command, RefundRequest {
  /** The original, read before the lock; null if the tenant received no such amount. */
  readonly snapshot: Original | null;
  readonly by: ApprovalActor;
  readonly transferId: Uuid;
  readonly outboxId: Uuid;
  readonly auditId: Uuid;
}

const PARTIES = {
  accountsOf: (original: Original) => [original.sourceAccountId, receiverOf(original)],
  destinationOf: receiverOf,
};

export const createRefund: CommandKind<CreateRefund, Transfer> = {
  name: 'create refund',
  resourceType: 'transfer',
  table: transfers,
  ...snapshotKind<Original, CreateRefund>(PARTIES, ({ by }, original) => [
    rowKey(ORIGINALS[typeOf(original)], { id: original.id }),
    authorityKey(by, receiverOf(original)),
    rowKey(approvalPolicies, { accountId: receiverOf(original), asset: original.asset }),
  ]),
  decide: decideRefund,
};

const NO_FEE: Fee = { raw: 0n, accountId: null };

/** Sends money back, or holds it for approval. (docs/contract.md, Refunds) */
export function decideRefund(command: CreateRefund, state: LockedState): Decision<Transfer> {
  const { tenantId, snapshot, by, amount: requested } = command;
  if (snapshot === null) return refuse(NOT_FOUND);
  const type = typeOf(snapshot);
  const original = state.row(ORIGINALS[type], { id: snapshot.id });
  if (original === undefined) return refuse(NOT_FOUND);
  const { sourceAccountId: destinationAccountId, asset } = original;
  const sourceAccountId = receiverOf(original);
  const source = { tenantId, sourceAccountId };
  const parties = findParties(state, source, destinationAccountId);
  if (parties === null)
    return refuse(findPayer(state, source) === null ? NOT_FOUND : missing('destination'));
  const denied = authorityRefusal(by, sourceAccountId, state);
  if (denied !== null) return refuse(denied);
  const amount = requested ?? { raw: refundableRaw(original), asset };
  if (amount.asset !== asset) return refuse(invalidField('amount.asset', 'another_asset'));

  const { tenant, recipient } = parties;
  const refusal =
    refundRefusal(original, requested?.raw ?? null) ??
    capabilityRefusal(parties.source.account) ??
    fundsRefusal({ source: parties.source, amount, feeRaw: 0n }) ??
    creditRefusal(state, recipient, NO_FEE, amount);
  if (refusal !== null) return { ...refuse(refusal), bindsKey: settlesKey(refusal.code) };

  const month = monthOf(state.at, tenant.timeZone).name;
  const approvals = approvalsFor(by, sourceAccountId, amount, state);
  const { transferId, description, metadata } = command;
  const request = { sourceAccountId, destinationAccountId, amount, captureWithinS: null };
  const refund: Transfer = {
    ...newTransfer(
      { tenantId, memberId: idOf(by), transferId, description, metadata, ...request },
      NO_FEE,
      month,
      state.at,
      approvals,
    ),
    refundOfType: type,
    refundOfId: original.id,
  };
  const counted = { ...original, ...countRefund(original, refund, false) };
  const { rows = [], ...writes } = creationWrites(command, refund, state.at);
  const changed = changeRow(ORIGINALS[type], counted);
  return accept(refund, { ...writes, rows: [...rows, changed, ...auditWrites(command, refund)] });
}

function idOf(by: ApprovalActor): Uuid {
  return by.by === 'member' ? by.memberId : by.staff.id;
}

function authorityRefusal(by: ApprovalActor, accountId: Uuid, state: LockedState): Refusal | null {
  if (by.by === 'staff')
    return rowRefusal('transfer.refund', by.staff, state.row(staff, { id: by.staff.id }));
  const role = state.row(memberRoles, { accountId, memberId: by.memberId })?.role;
  return roleAllows('createTransfer', role) ? null : AUTHORITY_INSUFFICIENT;
}

/** Returns the approvals that a refund needs: by staff at least one, even without a policy. */
function approvalsFor(
  by: ApprovalActor,
  accountId: Uuid,
  { raw, asset }: Amount,
  state: LockedState,
): RequiredApprovals | null {
  const policy = state.row(approvalPolicies, { accountId, asset });
  const required = requiredApprovals(policy, raw, state.at);
  if (required !== null || by.by === 'member') return required;
  return { required: 1, expiresAt: instant(state.at + DEFAULT_EXPIRY_S * 1_000) };
}

/** Records a proposal of staff with the original, whose page shows it. */
function auditWrites(
  { by, auditId }: CreateRefund,
  { id, tenantId, refundOfType, refundOfId, description, createdAt, ...amount }: Transfer,
): RowWrite[] {
  if (by.by === 'member') return [];
  const entry = {
    tenantId,
    action: 'transfer.refund',
    subjectType: String(refundOfType),
    subjectId: String(refundOfId),
    details: { refund: id, amount: formatAmount(amount), reason: description },
  } as const;
  return [insertRow(auditLog, auditRow(auditId, auditActor(by), createdAt, entry))];
}
