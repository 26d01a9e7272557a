import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { describe } from '../../webhooks/staff-actions.js';
import { readDeliveries, type ShownDelivery } from '../../webhooks/queries.js';
import { webhookWorkflowId } from '../../temporal/contracts.js';
import { ENDPOINT_ACTIONS } from '../actions/controls.js';
import { type Content, html } from '../html.js';
import { cards, facts, section, tag, time, timeOrNull } from '../pages/layout.js';
import { namesOf } from '../reading/names.js';
import { attemptLines, readStaffActions } from '../reading/timeline.js';
import { type ResourceKind, workflowLink } from './resource-kind.js';

const SHOWN_DELIVERIES = 20;

export const endpointKind: ResourceKind<WebhookEndpoint> = {
  name: 'endpoints',
  actions: ENDPOINT_ACTIONS,
  find: ({ database: { reader } }, id) => reader.find(webhookEndpoints, { id }),
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'webhook_endpoint' }),
  async show(site, endpoint) {
    const { reader } = site.database;
    const { id, tenantId, url, pausedAt, lostFrom, lostTo } = endpoint;
    const names = await namesOf(reader, [endpoint]);
    const timeZone = names.timeZone(tenantId);
    const [described, { items }, acts] = await Promise.all([
      describe(reader, id, site.clock(), timeZone),
      readDeliveries(reader, id, null, SHOWN_DELIVERIES),
      readStaffActions(reader, id, timeZone),
    ]);
    const tried = items.flatMap(({ delivery, attempts }) =>
      attemptLines({ url: '', delivery, attempts }),
    );
    return {
      title: `Webhook endpoint ${url}`,
      facts: [
        ['Status', [tag(endpoint.status), pausedAt === null ? '' : html` ${tag('paused')}`]],
        ['Disabled', endpoint.disabledReason?.replaceAll('_', ' ') ?? null],
        ['Waits for', described.text],
        ['Paused by', endpoint.pausedBy],
        ['Failing since', timeOrNull(endpoint.failingSince, timeZone)],
        ['Failures in a row', endpoint.failuresInRow === 0 ? null : endpoint.failuresInRow],
        ['Last success', timeOrNull(endpoint.lastSuccessAt, timeZone)],
        ['Next probe', timeOrNull(endpoint.probeAt, timeZone)],
        ['Events', described.types.join(', ')],
        ['Lost', lostFrom === null || lostTo === null ? null : `events ${lostFrom} to ${lostTo}`],
        ['Tenant', names.tenant(tenantId)],
        ['Registered', time(endpoint.createdAt, timeZone)],
        ['Id', id],
      ],
      more: deliveryList(items, timeZone),
      timeline: [...acts, ...tried].sort((one, other) => one.at - other.at),
      timeZone,
      workflow: workflowLink(site, webhookWorkflowId(id)),
    };
  },
};

function deliveryList(items: readonly ShownDelivery[], timeZone: string): Content {
  const shown = items.map(({ delivery, attempts }) => {
    const last = attempts.at(-1);
    return html`<h3>${delivery.eventType}</h3>
      ${facts([
        ['Status', tag(delivery.state)],
        ['Event', delivery.eventId],
        ['Attempts', attempts.length],
        ['Last answer', last === undefined ? null : (last.status ?? last.failure)],
        ['Next attempt', timeOrNull(delivery.nextAttemptAt, timeZone)],
      ])}`;
  });
  return (
    items.length > 0 && section('sent', `Deliveries, the newest ${items.length}`, cards(shown))
  );
}
