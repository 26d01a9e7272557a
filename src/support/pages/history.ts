import { formatAmount } from '../../core/amount.js';
import { isSubscribable } from '../../db/entities/events.js';
import { type Content, html, type Html, withValues } from '../html.js';
import type { DeliveryHistory } from '../reading/ledger.js';
import { inWords } from '../reading/payouts.js';
import { type History, relative } from '../reading/timeline.js';
import type { PageContext } from '../resources/resource-kind.js';
import {
  idText,
  link,
  pathOf,
  type Row,
  section,
  sumFact,
  table,
  tableSection,
  tag,
  time,
} from './layout.js';

type Zone = Pick<PageContext, 'timeZone' | 'now'>;

export function historySections(history: History, context: Zone): Content {
  const { events, deliveries } = history;
  const { timeZone } = context;
  return [
    moneySection(history, timeZone),
    tableSection('events', 'Events', events, ({ id, type, sequence, createdAt }) => [
      ['Event', link('events', id, type)],
      ["Number in the tenant's log", sequence],
      ['Recorded', time(createdAt, timeZone)],
      ['Id', [idText(id), isSubscribable(type) && resendLink(id)]],
    ]),
    tableSection('deliveries', 'Webhook deliveries', deliveries, (delivery) =>
      deliveryRow(delivery, context),
    ),
  ];
}

function resendLink(id: string): Html {
  return html`<div><a class="screen" href="/events/${id}/resend">Resend this event</a></div>`;
}

function moneySection({ entries, hold, names }: History, timeZone: string): Content {
  if (entries.length === 0 && hold === undefined) return '';
  const stillHeld = hold && formatAmount({ raw: hold.remaining, asset: hold.asset });
  const held =
    hold &&
    html`<p>
      Hold of ${formatAmount(hold)}, placed ${time(hold.createdAt, timeZone)}:
      ${hold.remaining === 0n ? 'released' : `${stillHeld} still held`}.
    </p>`;
  const rows = table(entries, (entry) => [
    ['Account', link('accounts', entry.accountId, names.account(entry.accountId))],
    ['Entry', entry.text],
    sumFact('Amount', entry.raw, entry.asset),
    sumFact('Balance after', entry.totalAfter, entry.asset),
    ['Time', time(entry.createdAt, timeZone)],
    ['Transaction', idText(entry.transactionId)],
  ]);
  return section('money', 'Money', [held, entries.length > 0 && rows]);
}

const MAX_RESPONSE = 200;

/** Shows a delivery with its attempts. On the page of its endpoint, `url` is ''. */
export function deliveryRow(
  { url, delivery, attempts, waitsFor }: DeliveryHistory,
  { timeZone, now }: Zone,
): Row {
  const { eventId, endpointId, eventType, cause, state, nextAttemptAt: next } = delivery;
  const retryNow = html`<a class="screen" href="${pathOf('endpoints', endpointId)}#acts"
    >Retry now</a
  >`;
  const tried = attempts.map(({ at, status, failure, message, response, durationMs }) => {
    const result = [status, message ?? inWords(failure)].filter((one) => one !== null).join(': ');
    const parts = [result || 'no answer', `${durationMs} ms`, response?.slice(0, MAX_RESPONSE)];
    return html`<li>${time(at, timeZone)} · ${parts.filter((part) => part).join(' · ')}</li>`;
  });
  return [
    ['Event', cause === 'test' ? eventType : link('events', eventId, eventType)],
    ['Event id', url === '' && idText(eventId)],
    ['Endpoint', url !== '' && link('endpoints', endpointId, url)],
    ['Cause', withValues(html`${CAUSES[cause]}`, { '': cause })],
    [
      'State',
      [
        tag(state),
        html`<div>
          ${state === 'retrying' && url !== '' && retryNow}${state === 'failed' && ENDED}
          ${delivery.finishedAt === null && waitsFor}
        </div>`,
      ],
    ],
    [
      'Next attempt',
      time(next, timeZone, next && (next > now ? relative(next, now) : 'due since')),
    ],
    [
      'Attempts',
      tried.length > 0 &&
        html`<ol>
          ${tried}
        </ol>`,
    ],
  ];
}

const ENDED = 'It is not retried. The event can be sent again.';

const CAUSES: Readonly<Record<DeliveryHistory['delivery']['cause'], string>> = {
  event: 'recorded',
  recover: 'recovery',
  redeliver: 'sent again',
  test: 'test',
};
