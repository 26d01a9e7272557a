import {
  type Actor,
  type AuditEntry,
  memberActor,
  recordAction,
  recordOnce,
  wasPerformed,
} from '../../access/audit-log.js';
import { lockAccount } from '../../accounts/access.js';
import { AUTHORITY_INSUFFICIENT } from '../../accounts/rules.js';
import { ApiError, assertFound } from '../../core/errors.js';
import { asUuid, newId, type Uuid } from '../../core/ids.js';
import { type Instant, maxInstant } from '../../core/instant.js';
import { type Caller, roleAllows } from '../../core/permissions.js';
import type { DatabaseDeps, Transaction } from '../../db/database.js';
import { outbox } from '../../db/entities/outbox.js';
import { memberRoles, tenants } from '../../db/entities/parties.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { staff } from '../../db/entities/staff.js';
import { transact, transactFor } from '../../db/reader.js';
import { insertSql, updateSql, type Where } from '../../db/statements.js';
import { rowRefusal, type StaffIdentity } from '../../staff/rules.js';
import type { StaffSignals } from '../../staff/verification.js';
import type { ScheduleActionSignal } from '../../temporal/contracts.js';
import { outboxEntry } from '../../temporal/outbox.js';
import { listNewest } from '../../operations/operation-list.js';
import { transferList } from '../service.js';
import { afterAction, pastRun, type ScheduleAction, stateRefusal } from './rules.js';

/** Performs a member's action. Throws not_found, authority_insufficient, invalid_state. */
export function actAsMember(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  id: Uuid,
  action: ScheduleAction,
): Promise<Schedule> {
  const { tenantId, memberId } = caller;
  return transactFor(caller, database, async (transaction) => {
    const schedule = await lockSchedule(transaction, { id, tenantId });
    const { sourceAccountId: accountId, createdBy } = schedule;
    const role = (await transaction.find(memberRoles, { accountId, memberId }))?.role;
    const isCreator = createdBy === memberId && role !== undefined;
    if (!roleAllows('manageSchedule', role) && !isCreator)
      throw new ApiError(AUTHORITY_INSUFFICIENT);
    const record = { by: memberActor(caller), reason: null, actionId: newId() };
    return change(transaction, schedule, action, clock(), record);
  });
}

interface ActionRecord {
  readonly by: Actor;
  readonly reason: string | null;
  /** Equal for all retries. An action that was performed or refused is not repeated. */
  readonly actionId: Uuid;
}

/**
 * Performs an action of staff, with a reason of 1 to 140 characters; a refusal is recorded. Throws
 * not_found, authority_insufficient, invalid_state.
 */
export async function actAsStaff(
  deps: DatabaseDeps,
  id: Uuid,
  action: ScheduleAction,
  by: StaffIdentity,
  reason: string,
  actionId = newId(),
): Promise<Schedule> {
  const { database } = deps;
  const record = { by, reason, actionId };
  try {
    return await transact(database, async (transaction) => {
      const schedule = await lockSchedule(transaction, { id });
      if (await wasPerformed(transaction, actionId)) return schedule;
      const person = await transaction.find(staff, { id: by.id });
      const refusal = rowRefusal(`schedule.${action}`, by, person);
      if (refusal !== null) throw new ApiError(refusal);
      return change(transaction, schedule, action, deps.clock(), record);
    });
  } catch (failure) {
    if (!isFinal(failure)) throw failure;
    const schedule = assertFound(await database.reader.find(schedules, { id }));
    const details = { reason, refused: failure.message };
    await recordOnce(deps, actionId, by, scheduleAudit(schedule, `${action}_refused`, details));
    throw failure;
  }
}

/** Performs a signal's action. Returns why it was refused, or null. Throws not_found. */
export async function performSignal(
  deps: DatabaseDeps,
  signal: ScheduleActionSignal,
  signals: Pick<StaffSignals, 'verify'>,
): Promise<string | null> {
  const { action } = signal;
  const [id, actionId] = [asUuid(signal.scheduleId), asUuid(signal.actionId)];
  const { tenantId } = assertFound(await deps.database.reader.find(schedules, { id }));
  const subject = { tenantId, subjectType: 'schedule', subjectId: id } as const;
  const signed = await signals.verify(`schedule.${action}`, signal, subject);
  if ('refused' in signed) return signed.refused;
  try {
    await actAsStaff(deps, id, action, signed.by, signed.reason, actionId);
    return null;
  } catch (failure) {
    if (!isFinal(failure)) throw failure;
    return failure.message;
  }
}

/** Returns whether a failure is a refusal that a repetition would not change. */
function isFinal(failure: unknown): failure is ApiError {
  return (
    failure instanceof ApiError &&
    ['authority_insufficient', 'invalid_state'].includes(failure.refusal.code)
  );
}

/** While the source account's row is locked, no run of its schedules is decided. */
async function lockSchedule(transaction: Transaction, where: Where<Schedule>): Promise<Schedule> {
  const { id, sourceAccountId } = assertFound(await transaction.find(schedules, where));
  await lockAccount(transaction, sourceAccountId);
  return assertFound(await transaction.find(schedules, { id }));
}

async function change(
  transaction: Transaction,
  schedule: Schedule,
  action: ScheduleAction,
  now: Instant,
  { by, reason, actionId }: ActionRecord,
): Promise<Schedule> {
  const refusal = stateRefusal(schedule, action);
  if (refusal !== null) throw new ApiError(refusal);
  const { id, tenantId } = schedule;
  const tenant = assertFound(await transaction.find(tenants, { id: tenantId }));
  // By a clock that is behind, the last run would be due again.
  const [last] = await listNewest(transferList, transaction, { tenantId, scheduleId: id }, 1);
  const dueAt = last?.scheduleDueAt ?? null;
  const from = dueAt === null ? now : maxInstant(now, pastRun(dueAt));
  const changed = afterAction(schedule, action, from, tenant.timeZone);
  const { status, nextRunAt } = changed;
  const notice = { outboxId: newId(), tenantId, resourceType: 'schedule', resourceId: id } as const;
  await transaction.all([
    updateSql(schedules, { status, nextRunAt }, { id }),
    insertSql(outbox, [outboxEntry(notice, now)]),
  ]);
  const entry = scheduleAudit(schedule, action, { status, runs: schedule.runs, reason });
  await recordAction(transaction, by, now, entry, actionId);
  return changed;
}

function scheduleAudit(
  { id: subjectId, tenantId }: Schedule,
  action: ScheduleAction | `${ScheduleAction}_refused`,
  details: AuditEntry['details'] = {},
): AuditEntry {
  return { tenantId, subjectType: 'schedule', subjectId, action: `schedule.${action}`, details };
}
