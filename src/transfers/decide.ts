import type { Instant } from '../core/instant.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import type { EventType } from '../db/entities/events.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { memberRoles } from '../db/entities/parties.js';
import { feeOf } from '../operations/fees.js';
import { creditRefusal, findParties, checkSpending, missingParty } from '../operations/payments.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import { requiredApprovals } from '../approvals/rules.js';
import {
  accept,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type Writes,
} from '../ledger/writer/types.js';
import type { EventDraft } from '../ledger/event-log.js';
import { outboxWrite } from '../temporal/outbox.js';
import { type CreateTransfer, newTransfer, transferPosting } from './rules.js';
import { transferResource } from './schemas.js';

/** Checks 404 and 403, then the spending rules. (docs/contract.md, Order of checks) */
export function decideTransfer(command: CreateTransfer, state: LockedState): Decision<Transfer> {
  const { tenantId, memberId, amount, sourceAccountId: accountId } = command;
  const parties = findParties(state, command, command.destinationAccountId);
  if (parties === null) return refuse(missingParty(state, command, 'destination'));
  const role = state.row(memberRoles, { accountId, memberId })?.role;
  if (!roleAllows('createTransfer', role)) return refuse(AUTHORITY_INSUFFICIENT);

  const { asset, raw } = amount;
  const fee = feeOf(state, { tenantId, operation: 'transfer', asset }, accountId, raw);
  const { month, refusal } = checkSpending(state, { amount, fee, ...parties });
  if (refusal !== null) return { ...refuse(refusal), bindsKey: true };
  const overflow = creditRefusal(state, parties.recipient, fee, amount);
  if (overflow !== null) return refuse(overflow);

  const policy = state.row(approvalPolicies, { accountId, asset });
  const approvals = requiredApprovals(policy, raw, state.at);
  const transfer = newTransfer(command, fee, month.name, state.at, approvals);
  return accept(transfer, {
    months: [{ accountId, asset, month: month.name, raw }],
    ...creationWrites(command, transfer, state.at),
  });
}

/** Returns the new row, and either moves the money or holds it. */
export function creationWrites(command: Waits, transfer: Transfer, at: Instant): Writes {
  const { rows = [], ...writes } =
    transfer.status === 'completed'
      ? completionWrites(transfer)
      : holdWrites(command, transfer, at);
  return { rows: [insertRow(transfers, transfer), ...rows], ...writes };
}

type Waits = Pick<CreateTransfer, 'outboxId'>;

export function completionWrites(transfer: Transfer): Writes {
  return {
    postings: [transferPosting(transfer)],
    events: [endEvent('transfer.completed', transfer)],
  };
}

export function endEvent(
  type: Extract<EventType, `transfer.${string}`>,
  transfer: Transfer,
): EventDraft {
  const { tenantId, id: resourceId } = transfer;
  return { tenantId, type, resourceId, object: () => transferResource.present(transfer) };
}

/** Holds amount and fee, and starts the workflow that waits for approval or capture. */
function holdWrites({ outboxId }: Waits, transfer: Transfer, at: Instant): Writes {
  const { id: resourceId, tenantId, sourceAccountId: accountId, asset } = transfer;
  const resource = { resourceType: 'transfer', resourceId } as const;
  const raw = transfer.raw + transfer.feeRaw;
  const expiresAt = transfer.captureExpiresAt ?? transfer.approvalExpiresAt;
  return {
    holds: [{ change: 'place', ...resource, accountId, asset, raw, expiresAt }],
    rows: [outboxWrite({ outboxId, tenantId, ...resource }, at)],
  };
}
