import { type EventRow, events, isSubscribable } from '../../db/entities/events.js';
import { redeliverByStaff } from '../../webhooks/staff-actions.js';
import { deliveryRow } from '../pages/history.js';
import { link, tableSection } from '../pages/layout.js';
import { deliveriesOf } from '../reading/ledger.js';
import { findOnly } from '../reading/search.js';
import type { ResourceKind } from './resource-kind.js';

/** An event of a tenant's log, with its deliveries to each endpoint. */
export const eventKind: ResourceKind<EventRow> = {
  name: 'events',
  subjectType: 'event',
  actions: [
    {
      verb: 'resend',
      name: 'webhook.redeliver',
      label: 'Resend this event',
      explanation:
        'Sends it again, with the same id, to each enabled endpoint that is subscribed to its type. An endpoint that has not come to it yet is left out. One that is still retrying it may get it twice, with the same id.',
      done: 'It is being sent again. Reload the page to see the result.',
      isOffered: ({ type }) => isSubscribable(type),
      run: (deps, { id }, { by, reason, actionId }) =>
        redeliverByStaff(deps, id, by, { reason }, actionId),
    },
  ],
  find: ({ database: { reader } }, id) => reader.find(events, { id }),
  rowOf: (event) => event,
  titleOf: ({ type }) => `Event ${type}`,
  async describe(event, context) {
    const { reader, time, tenant } = context;
    const { id, tenantId, type, sequence, createdAt } = event;
    const [about, deliveries] = await Promise.all([
      findOnly(reader, id),
      deliveriesOf(reader, tenantId, [event]),
    ]);
    return {
      status: '',
      facts: [
        ['Type', type],
        ["Number in the tenant's log", sequence],
        ['About', about && link(...about, 'its resource')],
        tenant,
        ['Recorded', time(createdAt)],
      ],
      beforeLists: tableSection('deliveries', 'Webhook deliveries', deliveries, (one) =>
        deliveryRow(one, context),
      ),
    };
  },
};
