import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities } from '../activities/schedules.js';
import {
  SCHEDULE_SIGNALS,
  type ScheduleState,
  type ScheduleWorkflowInput,
} from '../src/temporal/contracts.js';
import { ATTEMPT, clockTime, describedActivities, Notice, setHandlers, View } from './common.js';

const { runSchedule, actOnSchedule } = describedActivities<ScheduleActivities>(ATTEMPT, {
  runSchedule: 'Read the schedule, and run its next occurrence if it is due',
  actOnSchedule: 'Apply an action of the staff to the schedule',
});

/** A schedule of transfers, `schedule/{id}`, until its last run or its cancellation. */
export async function schedule(input: ScheduleWorkflowInput): Promise<ScheduleState> {
  const { scheduleId, lookAgainMs } = input;
  const inbox = { isWoken: true };
  const notice = new Notice(input);
  const view = new View<ScheduleState>(notice, ({ status }) => status, detailsOf);
  setHandlers({
    actions: SCHEDULE_SIGNALS,
    onAction: async (signal) => {
      view.recordResult(signal, await actOnSchedule({ scheduleId, ...signal }));
      inbox.isWoken = true;
    },
    onChanged: () => void (inbox.isWoken = true),
    stateOf: () => view.state,
    describe: (action) => `${action} the schedule`,
    changed: "The schedule's state has changed: read it again.",
    state: 'Its state, its next run and the result of the last.',
  });

  const wasWoken = (): boolean => inbox.isWoken;
  for (;;) {
    inbox.isWoken = false;
    const state = await runSchedule(scheduleId);
    view.update(state);
    await condition(() => wasWoken() || allHandlersFinished());
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof schedule>(notice.nextInput(input));
    }
    if (wasWoken()) continue;
    const { status, dueInMs } = state;
    if (status !== 'active' && status !== 'paused') return state;
    // Limited, because notifications may be lost in a restore of Temporal.
    const pauseMs = Math.min(lookAgainMs, dueInMs ?? lookAgainMs);
    const summary = pauseMs === dueInMs ? 'Next run of the schedule' : 'Regular check for changes';
    if (pauseMs > 0) await condition(wasWoken, pauseMs, { summary });
  }
}

function detailsOf({ status, nextRunAt, runs, lastResult }: ScheduleState): string {
  const next =
    nextRunAt === null
      ? `The schedule is ${status}.`
      : `Waiting for run ${runs + 1}, due ${clockTime(new Date(nextRunAt))}.`;
  return lastResult === null ? next : `${next} ${lastResult}.`;
}
