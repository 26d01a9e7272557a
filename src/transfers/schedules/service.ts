import { assertScheduleQuota } from '../../access/quotas.js';
import { readReach } from '../../accounts/access.js';
import { AUTHORITY_INSUFFICIENT } from '../../accounts/rules.js';
import type { ApprovalDeps } from '../../approvals/service.js';
import { ApiError, type CommandResult, invalidField, notFound } from '../../core/errors.js';
import type { RequestKey } from '../../core/fingerprint.js';
import { newId, type Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import { type Caller, roleAllows } from '../../core/permissions.js';
import type { Transaction } from '../../db/database.js';
import { outbox } from '../../db/entities/outbox.js';
import { accounts, memberRoles, tenants } from '../../db/entities/parties.js';
import { type Schedule, SCHEDULE_STATUSES, schedules } from '../../db/entities/schedules.js';
import { insertSql } from '../../db/statements.js';
import { writeKeyed } from '../../ledger/keyed-writes.js';
import type { OperationList } from '../../operations/operation-list.js';
import { outboxEntry } from '../../temporal/outbox.js';
import type { TransferRequest } from '../rules.js';
import { MAX_AHEAD_MS } from './rules.js';

export interface ScheduleRequest extends Pick<
  Schedule,
  'startsAt' | 'everyUnit' | 'everyCount' | 'endsAt' | 'maxRuns'
> {
  readonly transfer: Omit<TransferRequest, 'captureWithinS'>;
}

export const scheduleList: OperationList<Schedule> = {
  table: schedules,
  statuses: SCHEDULE_STATUSES,
  resourceType: 'schedule',
  visibleToRolesIn: ['source_account_id'],
};

/**
 * Creates a schedule. Returns refusals: not_found, authority_insufficient, invalid_field (`starts_at`),
 * quota_exceeded, and those of the key. (docs/contract.md, Schedules)
 */
export async function createSchedule(
  { database, clock, notifier }: ApprovalDeps,
  caller: Caller,
  id: Uuid,
  request: ScheduleRequest,
  idempotency: RequestKey,
): Promise<CommandResult<Schedule>> {
  const { tenantId, deadline } = caller;
  const keyed = {
    kind: { resourceType: 'schedule', table: schedules },
    command: { ...idempotency, tenantId },
  } as const;
  const notice = { outboxId: newId(), tenantId, resourceType: 'schedule', resourceId: id } as const;
  const result = await writeKeyed(database, keyed, deadline, async (transaction) => {
    const now = clock();
    assertStart(request.startsAt, now);
    await assertParties(transaction, caller, request.transfer);
    // Locks the tenant, so that concurrent requests cannot exceed its quota.
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    await assertScheduleQuota(transaction, tenantId);
    await transaction.execute(insertSql(outbox, [outboxEntry(notice, now)]));
    return { row: newSchedule(id, caller, request, now) };
  });
  if (result.outcome.done && !result.replayed)
    notifier.notify({ id: notice.outboxId, resourceType: 'schedule', resourceId: id });
  return result;
}

function assertStart(startsAt: Instant, now: Instant): void {
  if (startsAt <= now) throw new ApiError(invalidField('starts_at', 'not_in_the_future'));
  if (startsAt > now + MAX_AHEAD_MS) throw new ApiError(invalidField('starts_at', 'out_of_range'));
}

/** Checks 404 and 403 as a transfer does; each run checks them again. */
async function assertParties(
  transaction: Transaction,
  { tenantId, memberId }: Caller,
  { sourceAccountId, destinationAccountId }: ScheduleRequest['transfer'],
): Promise<void> {
  const ids = [sourceAccountId, destinationAccountId];
  const named = ids.map((accountId) => ({ tenantId, accountId }));
  const reach = await readReach(transaction, named);
  const rows = await transaction.select(accounts, { id: ids });
  const [source, destination] = ids.map((accountId) =>
    rows.find(({ id, type }) => id === accountId && type !== 'system'),
  );
  if (source === undefined || !reach.owns(tenantId, source.id))
    throw notFound('transfer.source_account');
  if (
    destination === undefined ||
    !reach.reaches(tenantId, destination.id) ||
    destination.status === 'closed'
  )
    throw notFound('transfer.destination');
  const role = await transaction.find(memberRoles, { accountId: sourceAccountId, memberId });
  if (!roleAllows('createTransfer', role?.role)) throw new ApiError(AUTHORITY_INSUFFICIENT);
}

function newSchedule(
  id: Uuid,
  { tenantId, memberId }: Caller,
  { transfer: { amount, ...transfer }, ...recurrence }: ScheduleRequest,
  createdAt: Instant,
): Schedule {
  return {
    id,
    tenantId,
    ...transfer,
    ...amount,
    createdBy: memberId,
    createdAt,
    status: 'active',
    ...recurrence,
    nextRunAt: recurrence.startsAt,
    runs: 0,
  };
}
