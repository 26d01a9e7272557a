import type { ApprovalDeps } from '../../approvals/service.js';
import { type Cursors, respondWithPage } from '../../http/cursor.js';
import { type Api, pathId, creationResponse } from '../../http/route.js';
import { operationFilter } from '../../http/schemas.js';
import { listOperations, readOperation } from '../../operations/operation-list.js';
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
  readScheduleRoutes(api, deps, cursors);
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

function readScheduleRoutes(api: Api, { database }: ApprovalDeps, cursors: Cursors): void {
  api.get('/v1/schedules', {
    operationId: 'listSchedules',
    permits: 'readSchedules',
    query: ScheduleQuery,
    responses: { 200: SchedulePageSchema },
    summary: 'List schedules',
    description: 'Newest first.',
    handler: (request) => {
      const { caller, query } = request;
      const filter = { ...operationFilter(query), status: query.status };
      return respondWithPage(
        cursors,
        request,
        (before, limit) =>
          listOperations(scheduleList, database.readerFor(caller), caller, filter, before, limit),
        scheduleResource.present,
      );
    },
  });

  api.get('/v1/schedules/{id}', {
    operationId: 'getSchedule',
    permits: 'readSchedules',
    responses: { 200: ScheduleSchema },
    summary: 'Read a schedule',
    handler: async (request) => {
      const { caller } = request;
      const reader = database.readerFor(caller);
      const schedule = await readOperation(scheduleList, reader, caller, pathId(request, 'id'));
      return { status: 200, body: scheduleResource.present(schedule) };
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
