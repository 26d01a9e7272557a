import { displayName } from '../../accounts/recipients.js';
import { isExpired, SUPPORT, waitingOf } from '../../approvals/rules.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import type { Transfer } from '../../db/entities/operations.js';
import { outbox, type OutboxRow } from '../../db/entities/outbox.js';
import { accounts, members, tenants } from '../../db/entities/parties.js';
import { transferWorkflowId } from '../../temporal/contracts.js';

/** Names for ids. Accounts have the names that other tenants see. */
export interface Names {
  tenant(id: Uuid): string;
  /** Returns the tenant's time zone, in which the desk shows times. */
  timeZone(tenantId: Uuid): string;
  account(id: Uuid): string;
  person(memberId: Uuid): string;
}

export interface Owned {
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly destinationAccountId?: Uuid;
  readonly accountId?: Uuid;
  readonly createdBy?: Uuid;
  readonly executedBy?: Uuid | null;
}

export async function namesOf(reader: Reader, owned: readonly Owned[]): Promise<Names> {
  const ids = [...new Set(owned.map(({ tenantId }) => tenantId))];
  const accountIds = owned.flatMap((one) => [
    one.sourceAccountId,
    one.destinationAccountId,
    one.accountId,
  ]);
  const memberIds = owned.flatMap((one) => [one.createdBy ?? [], one.executedBy ?? []].flat());
  const [accounts, found, people] = await Promise.all([
    readNames(
      reader,
      accountIds.filter((id) => id !== undefined),
    ),
    reader.select(tenants, { id: ids }),
    reader.select(members, { id: [...new Set(memberIds)] }),
  ]);
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const known = new Map(found.map((tenant) => [tenant.id, tenant]));
  return {
    tenant: (id) => known.get(id)?.name ?? id,
    timeZone: (id) => known.get(id)?.timeZone ?? 'UTC',
    account: (id) => accounts.get(id) ?? id,
    person: (id) => nameOf.get(id) ?? id,
  };
}

const AT_ONCE = 900;

/** Returns the names of the accounts that other tenants see, as a map by id. */
export async function readNames(
  reader: Reader,
  ids: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, string>> {
  const distinctIds = [...new Set(ids)];
  const names = new Map<Uuid, string>();
  for (let at = 0; at < distinctIds.length; at += AT_ONCE)
    for (const account of await reader.select(accounts, {
      id: distinctIds.slice(at, at + AT_ONCE),
    }))
      names.set(account.id, displayName(account.type, account.name));
  return names;
}

interface ApprovalGiven {
  /** Approver. `support` for any member of the staff. */
  readonly by: string;
  readonly channel: Approval['channel'];
  readonly at: Instant;
}

export interface TransferDetails {
  readonly transfer: Transfer;
  readonly tenant: string;
  readonly source: string;
  /** Name of the destination. Includes the tenant's name if it is another tenant. */
  readonly destination: string;
  readonly createdBy: string;
  readonly approvals: readonly ApprovalGiven[];
  readonly waitsFor: string;
  /** Null if the transfer never waited. */
  readonly workflowId: string | null;
  /** Entries that Temporal has not accepted yet. */
  readonly outbox: readonly OutboxRow[];
}

export async function readTransferDetails(
  reader: Reader,
  transfer: Transfer,
  at: Instant,
): Promise<TransferDetails> {
  const { id, tenantId, sourceAccountId, destinationAccountId, createdBy } = transfer;
  const [parties, given, waiting] = await Promise.all([
    reader.select(accounts, { id: [sourceAccountId, destinationAccountId] }),
    reader.select(approvals, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
    reader.select(outbox, { resourceId: id }, { orderBy: ['createdAt', 'id'] }),
  ]);
  const approvers = given.flatMap(({ memberId }) => memberId ?? []);
  const [people, owners] = await Promise.all([
    reader.select(members, { id: [createdBy, ...approvers] }),
    reader.select(tenants, { id: [tenantId, ...parties.map((account) => account.tenantId)] }),
  ]);
  const memberName = new Map(people.map((member) => [member.id, member.name]));
  const tenantName = new Map(owners.map((tenant) => [tenant.id, tenant.name]));
  const nameOf = (accountId: Uuid): string => {
    const account = parties.find((party) => party.id === accountId);
    if (account === undefined) throw new Error('an account of a transfer does not exist');
    const name = displayName(account.type, account.name);
    return account.tenantId === tenantId
      ? name
      : `${name} (${tenantName.get(account.tenantId) ?? account.tenantId})`;
  };
  const creator = memberName.get(createdBy) ?? createdBy;
  return {
    transfer,
    tenant: tenantName.get(tenantId) ?? tenantId,
    source: nameOf(sourceAccountId),
    destination: nameOf(destinationAccountId),
    createdBy: creator,
    approvals: given.map(({ memberId, actorClaimed, channel, createdAt }) => ({
      by: memberId === null ? `support: ${actorClaimed}` : (memberName.get(memberId) ?? memberId),
      channel,
      at: createdAt,
    })),
    waitsFor: waitsFor(transfer, given, at),
    workflowId: waitingOf(transfer) === null ? null : transferWorkflowId(id),
    outbox: waiting,
  };
}

/** Returns a text about what the transfer is waiting for, for a customer. */
function waitsFor(transfer: Transfer, given: readonly Approval[], at: Instant): string {
  const waiting = waitingOf(transfer);
  if (waiting === null || transfer.status !== 'pending_approval')
    return `nothing: it is ${transfer.status}`;
  if (isExpired(waiting, at)) return 'nothing: it has expired, and a worker ends it within seconds';
  const count = counted(waiting.required - waiting.received, 'more approval');
  const people = `by a member of its account who may approve and did not create it`;
  return given.some(({ approver }) => approver === SUPPORT)
    ? `${count}: ${people}; support has approved already`
    : `${count}: by support, or ${people}`;
}
