import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { scheduleWorkflowId, webhookWorkflowId } from '../../temporal/contracts.js';
import { listNewest } from '../../operations/operation-list.js';
import { asDue } from '../../webhooks/endpoint-state.js';
import { readDeliveries } from '../../webhooks/endpoints.js';
import { transferList } from '../../transfers/service.js';
import { scheduleResource } from '../../transfers/schedules/schemas.js';
import { readDescribedEndpoint } from '../../webhooks/staff-actions.js';
import { ENDPOINT_ACTIONS, SCHEDULE_ACTIONS } from '../actions/controls.js';
import { deliveryRow } from '../pages/history.js';
import { link, metadataFact, money, publicFacts, section, tag } from '../pages/layout.js';
import { parsePosition, printPosition } from '../pages/position.js';
import { tableOf } from '../pages/rows.js';
import { endpointStatus } from '../pages/statuses.js';
import { inWords } from '../reading/payouts.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN_RUNS = 10;

export const scheduleKind: ResourceKind<Schedule> = {
  name: 'schedules',
  subjectType: 'schedule',
  actions: SCHEDULE_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(schedules, { id }),
  rowOf: (schedule) => schedule,
  titleOf: (schedule) => `Schedule of ${formatAmount(schedule)}`,
  async describe(schedule, context) {
    const { id, tenantId, sourceAccountId: from, destinationAccountId: to } = schedule;
    const { reader, names, time, since, tenant } = context;
    const { everyUnit: unit, everyCount: count } = schedule;
    const filter = { tenantId, scheduleId: id };
    const created = await listNewest(transferList, reader, filter, SHOWN_RUNS);
    const runs = await tableOf(context, 'transfers', created, { without: 'Tenant' });
    return {
      status: tag(schedule.status),
      facts: [
        ['Next run', since(schedule.nextRunAt)],
        ['Amount', money(schedule)],
        ['From', link('accounts', from, names.account(from))],
        ['To', link('accounts', to, names.account(to, tenantId))],
        ['First run', time(schedule.startsAt)],
        ['Every', unit !== null && count !== null && counted(count, unit)],
        ['Ends', time(schedule.endsAt)],
        ...publicFacts(scheduleResource.presentToStaff('desk', schedule)),
        ['Description', schedule.description],
        metadataFact(schedule.metadata),
        tenant,
        ['Requested', time(schedule.createdAt, `by ${names.person(schedule.createdBy)}`)],
      ],
      beforeLists: runs && section('runs', 'Newest runs', runs),
      workflowId: scheduleWorkflowId(id),
    };
  },
};

export const endpointKind: ResourceKind<WebhookEndpoint> = {
  name: 'endpoints',
  subjectType: 'webhook_endpoint',
  actions: ENDPOINT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(webhookEndpoints, { id }),
  rowOf: (endpoint) => endpoint,
  titleOf: ({ url }) => `Webhook endpoint ${url}`,
  lists: [
    {
      name: 'deliveries',
      async read(endpoint, context, after, limit) {
        const { reader } = context;
        const before = parsePosition(after);
        const { items, next } = await readDeliveries(reader, endpoint.id, before, limit);
        // Without a URL the table omits the endpoint, which is this page.
        const deliveries = asDue(endpoint, items).map((delivery) => ({
          url: '',
          delivery,
          waitsFor: null,
          ...delivery,
        }));
        const rows = deliveries.map((delivery) => deliveryRow(delivery, context));
        return { ids: items.map(({ id: one }) => one), rows, next: printPosition(next) };
      },
    },
  ],
  async describe(endpoint, { reader, now, timeZone, time, since, tenant }) {
    const { id, status, lostFrom, lostTo, failuresInRow, failingSince, pausedAt } = endpoint;
    const isDisabled = status === 'disabled' && endpoint.disabledReason !== 'by_tenant';
    const isFailing = failingSince !== null || pausedAt !== null || isDisabled;
    const { text, types } = await readDescribedEndpoint(reader, id, now, timeZone);
    return {
      status: endpointStatus(endpoint),
      facts: [
        ['Disabled', inWords(endpoint.disabledReason)],
        ['State', text],
        ['Paused by', endpoint.pausedBy],
        ['Failing since', since(failingSince)],
        ['Failures in a row', failuresInRow > 0 && failuresInRow],
        ['Last success', since(endpoint.lastSuccessAt)],
        ['Events', types.join(', ')],
        ['Lost', lostFrom !== null && lostTo !== null && `events ${lostFrom} to ${lostTo}`],
        tenant,
        ['Registered', time(endpoint.createdAt)],
      ],
      ...(isFailing && status !== 'deleted' && { list: 'endpoints' }),
      workflowId: webhookWorkflowId(id),
    };
  },
};
