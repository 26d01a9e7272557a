import type { ApprovalDeps } from '../../approvals/service.js';
import type { Cursors } from '../../http/cursor.js';
import { type Api, pathId, creationResponse } from '../../http/route.js';
import { operationRoutes } from '../../operations/routes.js';
import { SCHEDULE_SIGNALS } from '../../temporal/contracts.js';
import { actAsMember } from './actions.js';
import type { ScheduleAction } from './rules.js';
import {
  CreateScheduleBody,
  SCHEDULE_EXAMPLES,
  SchedulePageSchema,
  ScheduleQuery,
  scheduleRequest,
  scheduleResource,
  ScheduleSchema,
} from './schemas.js';
import { createSchedule, scheduleList } from './service.js';

/** (docs/contract.md, Schedules) */
export function scheduleRoutes(api: Api, deps: ApprovalDeps, cursors: Cursors): void {
  createScheduleRoute(api, deps);
  operationRoutes(api, deps, cursors, {
    operations: scheduleList,
    nouns: 'schedules',
    list: { id: 'listSchedules', title: 'List schedules', order: 'Newest first.' },
    get: { id: 'getSchedule', title: 'Read a schedule' },
    permission: 'readSchedules',
    query: ScheduleQuery,
    page: SchedulePageSchema,
    schema: ScheduleSchema,
    filters: { status: 'status' },
    present: scheduleResource.present,
  });
  for (const action of SCHEDULE_SIGNALS) actionRoute(api, deps, action);
}

function createScheduleRoute(api: Api, deps: ApprovalDeps): void {
  api.post('/v1/schedules', {
    operationId: 'createSchedule',
    permits: 'createTransfer',
    idempotent: 'tenant',
    body: CreateScheduleBody,
    responses: { 201: ScheduleSchema, 200: ScheduleSchema },
    refusals: ['not_found', 'quota_exceeded'],
    summary: 'Schedule a transfer',
    description:
      "Each run creates one transfer, under the rules of its own moment; limits, funds and approvals are not checked before. Runs keep the time of day in the tenant's time zone; on a day that a month lacks, they are on its last day.",
    handler: async ({ caller, requestId, body, idempotency }) => {
      const request = scheduleRequest(body);
      const result = await createSchedule(deps, caller, requestId, request, idempotency);
      return creationResponse(result, scheduleResource.present);
    },
  });
}

const ACTION_DESCRIPTIONS: Readonly<Record<ScheduleAction, string>> = {
  pause: 'Stops its runs until it is resumed.',
  resume:
    'Continues with the next run after this moment: those that became due before are skipped. If none is left, the schedule is `completed`.',
  cancel: 'Ends it for good. Transfers that it has created stay as they are.',
};

function actionRoute(api: Api, deps: ApprovalDeps, action: ScheduleAction): void {
  api.post(`/v1/schedules/{id}/${action}`, {
    operationId: `${action}Schedule`,
    permits: 'manageSchedule',
    responses: { 200: ScheduleSchema },
    examples: { 200: SCHEDULE_EXAMPLES[action] },
    refusals: ['invalid_state'],
    summary: `${action.charAt(0).toUpperCase()}${action.slice(1)} a schedule`,
    description: ACTION_DESCRIPTIONS[action],
    handler: async (request) => {
      const schedule = await actAsMember(deps, request.caller, pathId(request, 'id'), action);
      return { status: 200, body: scheduleResource.present(schedule) };
    },
  });
}
