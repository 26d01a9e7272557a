import { ApiError, assertFound, invalidState, NOT_FOUND, type Refusal } from '../../core/errors.js';
import { commandFingerprint } from '../../core/fingerprint.js';
import { formatAmount } from '../../core/amount.js';
import { newId, type Uuid } from '../../core/ids.js';
import { monthOf, toRfc3339 } from '../../core/instant.js';
import { type Transfer, transfers } from '../../db/entities/operations.js';
import { tenants } from '../../db/entities/parties.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { listNewest } from '../../operations/operation-list.js';
import { literals } from '../../db/statements.js';
import type { ApprovalDeps } from '../../approvals/service.js';
import {
  accept,
  changeRow,
  type CommandKind,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  rowKey,
} from '../../ledger/writer/types.js';
import {
  type ResourceInput,
  type ScheduleState,
  type ScheduleWorkflowInput,
  scheduleWorkflowId,
} from '../../temporal/contracts.js';
import { workflowResource } from '../../temporal/workflow-resources.js';
import { decideTransfer, endEvent } from '../decide.js';
import { type CreateTransfer, newTransfer, type ScheduleRun } from '../rules.js';
import { createTransfer, transferList } from '../service.js';
import { afterRun } from './rules.js';

export interface RunSchedule extends CreateTransfer {
  readonly schedule: ScheduleRun;
}

export const runSchedule: CommandKind<RunSchedule, Transfer> = {
  name: 'run schedule',
  resourceType: 'transfer',
  table: transfers,
  accounts: createTransfer.accounts,
  rowKeys: (command, at, ownerOf) => [
    ...createTransfer.rowKeys(command, at, ownerOf),
    rowKey(schedules, { id: command.schedule.id }),
  ],
  decide: decideRun,
};

const NOT_DUE = invalidState('this run of the schedule is not due, or not any more');

/**
 * Creates the transfer of a due run, and makes the next run due. A transfer that a rule refuses is
 * recorded as rejected. (docs/contract.md, Schedules)
 */
export function decideRun(command: RunSchedule, state: LockedState): Decision<Transfer> {
  const { id, run, dueAt } = command.schedule;
  const schedule = state.row(schedules, { id });
  const tenant = state.row(tenants, { id: command.tenantId });
  if (schedule === undefined || tenant === undefined) return refuse(NOT_FOUND);
  const isNext = schedule.nextRunAt === dueAt && schedule.runs + 1 === run;
  if (!isNext || dueAt > state.at) return refuse(NOT_DUE);
  const { timeZone } = tenant;
  const decided = decideTransfer(command, state);
  const { outcome, writes } = decided.outcome.done
    ? decided
    : recordRefusal(command, decided.outcome.refusal, timeZone, state);
  const rows = [...(writes.rows ?? []), changeRow(schedules, afterRun(schedule, dueAt, timeZone))];
  return { outcome, writes: { ...writes, rows }, bindsKey: true };
}

function recordRefusal(
  command: RunSchedule,
  { code, message }: Refusal,
  timeZone: string,
  { at }: LockedState,
): Decision<Transfer> {
  const noFee = { raw: 0n, accountId: null };
  const rejected: Transfer = {
    ...newTransfer(command, noFee, monthOf(at, timeZone).name, at, null),
    status: 'rejected',
    rejectionCode: code,
    rejectionReason: message,
  };
  return accept(rejected, {
    rows: [insertRow(transfers, rejected)],
    events: [endEvent('transfer.rejected', rejected)],
  });
}

/**
 * Runs the schedule's next occurrence if it is due. May be repeated and late. Throws not_found,
 * ledger_unavailable, DatabaseUnavailable.
 */
export async function runIfDue(deps: ApprovalDeps, id: Uuid): Promise<ScheduleState> {
  const { database, writer, notifier, clock } = deps;
  const schedule = assertFound(await database.reader.find(schedules, { id }));
  const { nextRunAt } = schedule;
  if (nextRunAt === null || nextRunAt > clock()) return stateOf(deps, schedule);
  const { tenantId, sourceAccountId, destinationAccountId, description, metadata } = schedule;
  const run = schedule.runs + 1;
  const outboxId = newId();
  const { outcome } = await writer.submit(runSchedule, {
    tenantId,
    memberId: schedule.createdBy,
    transferId: newId(),
    outboxId,
    key: `schedule/${id}/${run}`,
    fingerprint: commandFingerprint(['run', id, `${run}`]),
    sourceAccountId,
    destinationAccountId,
    amount: { raw: schedule.raw, asset: schedule.asset },
    description,
    metadata,
    captureWithinS: null,
    schedule: { id, run, dueAt: nextRunAt },
  });
  if (!outcome.done && outcome.refusal.code !== NOT_DUE.code) throw new ApiError(outcome.refusal);
  if (outcome.done && outcome.resource.status === 'pending_approval')
    notifier.notify({ id: outboxId, resourceType: 'transfer', resourceId: outcome.resource.id });
  return stateOf(deps, assertFound(await database.reader.find(schedules, { id })));
}

async function stateOf(
  { database, clock }: Pick<ApprovalDeps, 'database' | 'clock'>,
  { id: scheduleId, tenantId, status, nextRunAt, runs }: Schedule,
): Promise<ScheduleState> {
  const [last] = await listNewest(transferList, database.reader, { tenantId, scheduleId }, 1);
  return {
    status,
    nextRunAt: toRfc3339(nextRunAt),
    dueInMs: nextRunAt === null ? null : Math.max(0, nextRunAt - clock()),
    runs,
    lastResult: last === undefined ? null : describeRun(last),
  };
}

function describeRun({ scheduleRun, id, status, rejectionCode }: Transfer): string {
  const why = rejectionCode === null ? '' : ` (${rejectionCode})`;
  return `Run ${scheduleRun}: transfer ${id} is ${status}${why}`;
}

const WAITING = ['active', 'paused'] as const;

/**
 * A run that is a minute late shows as `overdue`, which no workflow does, so the reconciliation
 * notifies the schedule's workflow.
 */
export const scheduleWorkflowResource = workflowResource({
  resourceType: 'schedule',
  workflowType: 'schedule',
  taskQueue: 'approvals',
  workflowIdOf: scheduleWorkflowId,
  table: schedules,
  states: WAITING,
  from: `schedules t FORCE INDEX (due) WHERE t.status IN (${literals(schedules, 'status', WAITING)})`,
  shownStatus: `IF(t.next_run_at<UTC_TIMESTAMP(3)-INTERVAL 1 MINUTE, 'overdue', t.status)`,
  describe: (schedule) => ({
    amount: formatAmount(schedule),
    summary: `Schedule of transfers of ${formatAmount(schedule)}`,
    input: { scheduleId: schedule.id } satisfies ResourceInput<ScheduleWorkflowInput>,
  }),
});
