import { counted } from '../../core/collections.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { type Names, namesOf } from '../../support/reading/transfers.js';
import { scheduleWorkflowId } from '../../temporal/contracts.js';
import { actAsStaff } from '../../transfers/schedules/actions.js';
import type { ScheduleAction } from '../../transfers/schedules/rules.js';
import { scheduleResource } from '../../transfers/schedules/schemas.js';
import { scheduleList } from '../../transfers/schedules/service.js';
import { command, type CommandDefinition, type Ops, query } from '../command.js';
import { readLastAction } from '../history.js';
import { reason } from '../inputs.js';
import { named } from '../lookups.js';
import { beginningWith, type Fields, rowFields } from '../fields.js';
import { EXAMPLE_ID } from './approvals.js';
import { operationListCommand } from './operation-list.js';

function lineOf(schedule: Schedule, names: Names): Fields {
  const { tenantId, everyUnit: unit, everyCount } = schedule;
  return {
    ...scheduleResource.presentToStaff('ops', schedule),
    tenant: names.tenant(tenantId),
    from: names.account(schedule.sourceAccountId),
    to: names.account(schedule.destinationAccountId, tenantId),
    amount: { raw: schedule.raw, asset: schedule.asset },
    every: unit && counted(everyCount ?? 1, unit),
    description: schedule.description,
    created_by: names.person(schedule.createdBy),
    ...rowFields(schedules, schedule, 'tenantId sourceAccountId destinationAccountId'),
    workflow_id: scheduleWorkflowId(schedule.id),
  };
}

async function show({ database: { reader }, output }: Ops, schedule: Schedule): Promise<void> {
  const [names, status_set] = await Promise.all([
    namesOf(reader, [schedule]),
    readLastAction(reader, schedule.id, ['schedule.pause', 'schedule.resume', 'schedule.cancel']),
  ]);
  output.one(beginningWith('id status status_set', { ...lineOf(schedule, names), status_set }));
}

function controlCommand(
  action: ScheduleAction,
  summary: string,
  question?: readonly [what: string, follows?: string],
): CommandDefinition {
  return command({
    summary,
    examples: [`schedules ${action} ${EXAMPLE_ID} --reason 'asked for in ticket 118'`],
    input: {
      schedule: named.schedule,
      reason: reason(),
    },
    needs: `schedule.${action}`,
    run: async (ops, { schedule, reason }) => {
      if (question !== undefined) await ops.output.confirm(...question);
      const changed = await actAsStaff(ops, schedule.id, action, await ops.by(), reason);
      await ops.output.done(`The schedule ${changed.id} is ${changed.status}.`, () =>
        show(ops, changed),
      );
    },
  });
}

export const scheduleCommands = {
  list: operationListCommand('schedules', {
    list: scheduleList,
    examples: ['schedules list --status active', 'schedules list --tenant acme --json'],
    present: (schedule, names) =>
      beginningWith('id status amount next_run_at from to every runs', lineOf(schedule, names)),
    detailsOnly: [
      ...['starts_at', 'ends_at', 'max_runs', 'created_by', 'tenant_id', 'source_account_id'],
      ...['destination_account_id', 'workflow_id'],
    ],
  }),
  'show <schedule>': query({
    summary: 'one schedule: its parties, its next run, how often it ran, and its workflow',
    examples: [`schedules show ${EXAMPLE_ID}`],
    input: { schedule: named.schedule },
    run: (ops, { schedule }) => show(ops, schedule),
  }),
  'pause <schedule>': controlCommand('pause', 'create no transfers until it is resumed', [
    'Pause the schedule',
    'it creates no transfers until it is resumed',
  ]),
  'resume <schedule>': controlCommand(
    'resume',
    'continue a paused schedule; runs that were due before are skipped',
  ),
  'cancel <schedule>': controlCommand(
    'cancel',
    'end a schedule; transfers that it has created stay as they are',
    ['Cancel the schedule: it creates no further transfers'],
  ),
};
