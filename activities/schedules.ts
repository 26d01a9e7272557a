import type { ApprovalDeps } from '../src/approvals/service.js';
import { asUuid } from '../src/core/ids.js';
import type { StaffSignals } from '../src/staff/verification.js';
import type { ScheduleActionSignal, ScheduleState } from '../src/temporal/contracts.js';
import { performSignal } from '../src/transfers/schedules/actions.js';
import { runIfDue } from '../src/transfers/schedules/run.js';
import { GONE, GONE_REASON, orGone } from './approvals.js';

const GONE_SCHEDULE: ScheduleState = {
  status: GONE,
  nextRunAt: null,
  dueInMs: null,
  runs: 0,
  lastResult: null,
};

/** Temporal may run each activity twice or late: the schedule's row decides what it does. */
export function scheduleActivities(deps: ApprovalDeps, signals: StaffSignals) {
  return {
    runSchedule: (id: string) => orGone(runIfDue(deps, asUuid(id)), () => GONE_SCHEDULE),
    /** Returns why the action was refused, or null. */
    actOnSchedule: (signal: ScheduleActionSignal) =>
      orGone(performSignal(deps, signal, signals), () => GONE_REASON),
  };
}
export type ScheduleActivities = ReturnType<typeof scheduleActivities>;
