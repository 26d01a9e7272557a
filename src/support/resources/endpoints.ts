import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { webhookWorkflowId } from '../../temporal/contracts.js';
import { readDeliveries } from '../../webhooks/endpoints.js';
import { describe } from '../../webhooks/staff-actions.js';
import { ENDPOINT_ACTIONS } from '../actions/controls.js';
import { html } from '../html.js';
import { attemptTable } from '../pages/history.js';
import { idText, section } from '../pages/layout.js';
import { endpointStatus } from '../pages/rows.js';
import { endText } from '../reading/payouts.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN_DELIVERIES = 20;

export const endpointKind: ResourceKind<WebhookEndpoint> = {
  name: 'endpoints',
  subjectType: 'webhook_endpoint',
  actions: ENDPOINT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(webhookEndpoints, { id }),
  rowOf: (endpoint) => endpoint,
  async describe(endpoint, { reader, now, timeZone, time, tenant }) {
    const { id, url, lostFrom, lostTo, failuresInRow } = endpoint;
    const [{ text, types }, { items }] = await Promise.all([
      describe(reader, id, now, timeZone),
      readDeliveries(reader, id, null, SHOWN_DELIVERIES),
    ]);
    const deliveries = items.map((delivery) => [
      html`<h3>${delivery.eventType}</h3>
        <p>Event ${idText(delivery.eventId)}</p>`,
      attemptTable({ url: '', delivery, attempts: delivery.attempts }, timeZone),
    ]);
    return {
      title: `Webhook endpoint ${url}`,
      status: endpointStatus(endpoint),
      facts: [
        ['Disabled', endText(endpoint.disabledReason)],
        ['State', text],
        ['Paused by', endpoint.pausedBy],
        ['Failing since', time(endpoint.failingSince)],
        ['Failures in a row', failuresInRow > 0 && failuresInRow],
        ['Last success', time(endpoint.lastSuccessAt)],
        ['Next probe', time(endpoint.probeAt)],
        ['Events', types.join(', ')],
        ['Lost', lostFrom !== null && lostTo !== null && `events ${lostFrom} to ${lostTo}`],
        tenant,
        ['Registered', time(endpoint.createdAt)],
      ],
      before:
        items.length > 0 && section('sent', `Deliveries, the newest ${items.length}`, deliveries),
      workflowId: webhookWorkflowId(id),
    };
  },
};
