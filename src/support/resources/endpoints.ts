import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { describe } from '../../webhooks/staff-actions.js';
import { readDeliveries, type ShownDelivery } from '../../webhooks/queries.js';
import { webhookWorkflowId } from '../../temporal/contracts.js';
import { ENDPOINT_ACTIONS } from '../actions/controls.js';
import { type Content, html } from '../html.js';
import { attemptTable } from '../pages/history.js';
import { idText, section, tenantFact, time, timeOrNull } from '../pages/layout.js';
import { endpointStatus } from '../pages/rows.js';
import { namesOf } from '../reading/names.js';
import { readStaffActions } from '../reading/timeline.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

const SHOWN_DELIVERIES = 20;

export const endpointKind: ResourceKind<WebhookEndpoint> = {
  name: 'endpoints',
  actions: ENDPOINT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(webhookEndpoints, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'webhook_endpoint' }),
  async show(site, endpoint) {
    const { reader } = site.database;
    const { id, tenantId, url, lostFrom, lostTo } = endpoint;
    const names = await namesOf(reader, [endpoint]);
    const timeZone = names.timeZone(tenantId);
    const [described, { items }, acts] = await Promise.all([
      describe(reader, id, site.clock(), timeZone),
      readDeliveries(reader, id, null, SHOWN_DELIVERIES),
      readStaffActions(reader, id, timeZone),
    ]);
    return {
      title: `Webhook endpoint ${url}`,
      status: endpointStatus(endpoint),
      facts: [
        ['Disabled', endpoint.disabledReason?.replaceAll('_', ' ') ?? null],
        ['State', described.text],
        ['Paused by', endpoint.pausedBy],
        ['Failing since', timeOrNull(endpoint.failingSince, timeZone)],
        ['Failures in a row', endpoint.failuresInRow === 0 ? null : endpoint.failuresInRow],
        ['Last success', timeOrNull(endpoint.lastSuccessAt, timeZone)],
        ['Next probe', timeOrNull(endpoint.probeAt, timeZone)],
        ['Events', described.types.join(', ')],
        ['Lost', lostFrom === null || lostTo === null ? null : `events ${lostFrom} to ${lostTo}`],
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Registered', time(endpoint.createdAt, timeZone)],
        ['Id', idText(id)],
      ],
      more: deliveryList(items, timeZone),
      timeline: acts,
      timeZone,
      workflow: workflowLink(site, webhookWorkflowId(id)),
    };
  },
};

function deliveryList(items: readonly ShownDelivery[], timeZone: string): Content {
  const shown = items.map((delivery) => [
    html`<h3>${delivery.eventType}</h3>
      <p>Event ${idText(delivery.eventId)}</p>`,
    attemptTable({ url: '', delivery, attempts: delivery.attempts }, timeZone),
  ]);
  return items.length > 0 && section('sent', `Deliveries, the newest ${items.length}`, shown);
}
