import { counted } from '../../core/collections.js';
import { type EventRow, events, type EventType, isSubscribable } from '../../db/entities/events.js';
import { redeliverByStaff } from '../../webhooks/staff-actions.js';
import { type Content, element, html, plainText, valuesOf } from '../html.js';
import { deliveryRow } from '../pages/history.js';
import { type Fact, link, type Row, section, tableSection, tag } from '../pages/layout.js';
import { factsOfAll } from '../pages/rows.js';
import { deliveriesOf, type DeliveryHistory } from '../reading/ledger.js';
import { findOnly } from '../reading/search.js';
import { sentenceCase } from '../reading/timeline.js';
import type { PageContext, ResourceKind } from './resource-kind.js';

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
      done: 'It is being sent again. The outcome so far is below; reload the page for the latest.',
      isOffered: ({ type }) => isSubscribable(type),
      run: async (deps, { id }, { by, reason, actionId }) =>
        void (await redeliverByStaff(deps, id, by, { reason }, actionId)),
    },
  ],
  find: ({ database: { reader } }, id) => reader.find(events, { id }),
  rowOf: (event) => event,
  titleOf: ({ type }) => `Event ${type}`,
  async describe(event, context) {
    const { reader, time, tenant } = context;
    const { id, tenantId, resourceId, type, sequence, createdAt } = event;
    const [about, facts, deliveries] = await Promise.all([
      findOnly(reader, id),
      factsOfAll(context, [resourceId]),
      deliveriesOf(reader, tenantId, [event]),
    ]);
    return {
      status: '',
      facts: [
        ['Type', type],
        ["Number in the tenant's log", sequence],
        ['About', about && link(...about, nameOf(type, facts.get(resourceId)))],
        tenant,
        ['Recorded', time(createdAt)],
        ...resentFacts(deliveries, time),
      ],
      beforeLists: tableSection('deliveries', 'Webhook deliveries', deliveries, (one) =>
        deliveryRow(one, context),
      ),
      afterLists: payloadSection(event),
    };
  },
};

/** Returns the name of the event's resource, such as "Transfer of (amount) to Bruno". */
function nameOf(type: EventType, [first, second]: Row = []): string {
  if (first?.[0] !== 'Amount') return plainText(first?.[1]) || 'its resource';
  const [{ To } = {}] = valuesOf(second?.[1]);
  return `${sentenceCase(type.replace(/\..*$/, ''))} of ${plainText(first[1])}${To ? ` to ${To}` : ''}`;
}

/** Shows when the event was last sent again, and the state of each delivery since. */
function resentFacts(
  deliveries: readonly DeliveryHistory[],
  time: PageContext['time'],
): readonly Fact[] {
  const resent = deliveries.filter(({ delivery: { cause } }) => cause === 'redeliver');
  const times = resent.map(({ delivery }) => delivery.createdAt).sort((one, other) => one - other);
  const last = times.at(-1) ?? null;
  const newest = resent.filter(({ delivery }) => delivery.createdAt === last);
  return [
    ['Sent again', time(last)],
    [
      'Outcome so far',
      newest.length > 0 &&
        newest.map(({ url, delivery }) => html`<p>${tag(delivery.state)} ${url}</p>`),
    ],
  ];
}

/** Shows the body of the event, which webhooks and the event log carry unchanged. */
function payloadSection({ body }: EventRow): Content {
  const lines = JSON.stringify(JSON.parse(body), null, 2);
  const size = counted(Buffer.byteLength(body), 'byte');
  return section(
    'payload',
    'Payload',
    html`<div>
      ${element('pre', { class: 'card' }, lines)}
      <details>
        <summary>As it is sent: ${size}</summary>
        ${element('pre', {}, body)}
      </details>
    </div>`,
  );
}
