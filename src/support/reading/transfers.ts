import { displayName } from '../../accounts/recipients.js';
import { approvalProgress, HELD, isExpired, SUPPORT } from '../../approvals/rules.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import type { Transfer } from '../../db/entities/operations.js';
import { outbox } from '../../db/entities/outbox.js';
import { accounts, members, tenants } from '../../db/entities/parties.js';
import { staff } from '../../db/entities/staff.js';
import { transferWorkflowId } from '../../temporal/contracts.js';

/** Names for ids. Accounts have the names that other tenants see. */
export interface Names {
  tenant(id: Uuid): string;
  /** Returns the tenant's time zone, in which the desk shows times. */
  timeZone(tenantId: Uuid): string;
  /** Returns the account's name, with its tenant's name if that is not `ofTenant`. */
  account(id: Uuid, ofTenant?: Uuid): string;
  person(memberId: Uuid): string;
}

export interface Owned {
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly destinationAccountId?: Uuid;
  readonly recipientAccountId?: Uuid;
  readonly accountId?: Uuid;
  readonly createdBy?: Uuid;
  readonly executedBy?: Uuid | null;
}

export async function namesOf(reader: Reader, owned: readonly Owned[]): Promise<Names> {
  const accountIds = owned.flatMap((one) =>
    [
      ...[one.sourceAccountId ?? [], one.destinationAccountId ?? []],
      ...[one.recipientAccountId ?? [], one.accountId ?? []],
    ].flat(),
  );
  const memberIds = owned.flatMap((one) => [one.createdBy ?? [], one.executedBy ?? []].flat());
  const id = [...new Set(memberIds)];
  const [named, people, proposers] = await Promise.all([
    reader.select(accounts, { id: [...new Set(accountIds)] }),
    reader.select(members, { id }),
    // Refunds may be proposed by support.
    reader.select(staff, { id }),
  ]);
  const tenantIds = [...owned, ...named].map(({ tenantId }) => tenantId);
  const found = await reader.select(tenants, { id: [...new Set(tenantIds)] });
  const accountOf = new Map(named.map((account) => [account.id, account]));
  const nameOf = new Map([...people, ...found].map(({ id: of, name }) => [of, name]));
  for (const { id: of, name } of proposers) nameOf.set(of, `support: ${name}`);
  const zoneOf = new Map(found.map(({ id, timeZone }) => [id, timeZone]));
  return {
    tenant: (id) => nameOf.get(id) ?? id,
    timeZone: (id) => zoneOf.get(id) ?? 'UTC',
    account(id, ofTenant) {
      const account = accountOf.get(id);
      if (account === undefined) return id;
      const { type, name, tenantId } = account;
      const isOther = ofTenant !== undefined && tenantId !== ofTenant;
      return `${displayName(type, name)}${isOther ? ` (${nameOf.get(tenantId) ?? tenantId})` : ''}`;
    },
    person: (id) => nameOf.get(id) ?? id,
  };
}

export type TransferDetails = Awaited<ReturnType<typeof readTransferDetails>>;

export async function readTransferDetails(reader: Reader, transfer: Transfer, at: Instant) {
  const { id, tenantId } = transfer;
  const [given, waiting] = await Promise.all([
    reader.select(approvals, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
    reader.select(outbox, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
  ]);
  const approvers = given.flatMap(({ memberId }) => memberId ?? []);
  const names = await namesOf(reader, [
    transfer,
    ...approvers.map((createdBy) => ({ tenantId, createdBy })),
  ]);
  return {
    transfer,
    tenant: names.tenant(tenantId),
    source: names.account(transfer.sourceAccountId),
    destination: names.account(transfer.destinationAccountId, tenantId),
    createdBy: names.person(transfer.createdBy),
    approvals: given.map(({ memberId, actorClaimed, channel, createdAt }) => ({
      by: memberId === null ? `support: ${actorClaimed}` : names.person(memberId),
      channel,
      at: createdAt,
    })),
    waitsFor: waitsFor(transfer, given, at),
    /** Null if the transfer never waited. */
    workflowId:
      approvalProgress(transfer) === null && transfer.captureWithinS === null
        ? null
        : transferWorkflowId(id),
    /** Entries that Temporal has not accepted yet. */
    outbox: waiting,
  };
}

/** Returns a text about what the transfer is waiting for, for a customer. */
function waitsFor(transfer: Transfer, given: readonly Approval[], at: Instant): string {
  if (transfer.status === HELD) return 'its capture by a member of its account, or a cancel';
  const waiting = approvalProgress(transfer);
  if (waiting === null || transfer.status !== 'pending_approval')
    return `nothing: it is ${transfer.status}`;
  if (isExpired(waiting, at)) return 'nothing: it has expired, and a worker ends it within seconds';
  const count = counted(waiting.required - waiting.received, 'more approval');
  const people = `by a member of its account who may approve and did not create it`;
  return given.some(({ approver }) => approver === SUPPORT)
    ? `${count}: ${people}; support has approved already`
    : `${count}: by support, or ${people}`;
}
