import { formatAmount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { EventRow } from '../../db/entities/events.js';
import type { PayoutRailEvent } from '../../db/entities/payouts.js';
import { type Content, html } from '../html.js';
import type { DeliveryHistory } from '../reading/ledger.js';
import { CHANNELS, type History } from '../reading/timeline.js';
import { type Fact, idText, pathOf, section, table, tag, time, timeOrNull } from './layout.js';

/** Sections about the money, approvals, events and deliveries of a resource. */
export function historySections(history: History, timeZone: string): Content {
  return [
    moneySection(history, timeZone),
    approvalSection(history, timeZone),
    eventSection(history, timeZone),
  ];
}

function moneySection({ entries, hold, nameOf }: History, timeZone: string): Content {
  if (entries.length === 0 && hold === undefined) return '';
  const of = (raw: bigint, { asset }: Pick<History['entries'][number], 'asset'>): string =>
    formatAmount({ raw, asset });
  const rows = entries.map((entry): readonly Fact[] => [
    ['Account', accountLink(entry.accountId, nameOf(entry.accountId))],
    ['Entry', entry.kind.replaceAll('_', ' ')],
    ['Amount', html`<span class="amount">${of(entry.raw, entry)}</span>`],
    ['Balance after', html`<span class="amount">${of(entry.totalAfter, entry)}</span>`],
    ['Time', time(entry.createdAt, timeZone)],
    ['Transaction', idText(entry.transactionId)],
  ]);
  const held =
    hold === undefined
      ? ''
      : html`<p>
          Hold: ${of(hold.raw, hold)} placed ${time(hold.createdAt, timeZone)}, of which
          ${of(hold.remaining, hold)} is still held.
        </p>`;
  return section('money', 'Money', [held, rows.length > 0 && table('Entries', rows)]);
}

function accountLink(id: Uuid, name: string): Content {
  return html`<a href="${pathOf('accounts', id)}">${name}</a>`;
}

function approvalSection({ approvals, nameOf }: History, timeZone: string): Content {
  const rows = approvals.map(({ memberId, actorClaimed, channel, createdAt }): readonly Fact[] => [
    ['Approver', memberId === null ? `support: ${actorClaimed}` : nameOf(memberId)],
    ['Through', CHANNELS[channel]],
    ['Time', time(createdAt, timeZone)],
  ]);
  return rows.length > 0 && section('approvals', 'Approvals', table('Approvals', rows));
}

function eventSection({ events, deliveries }: History, timeZone: string): Content {
  const shown = events.map((event) => [
    eventHeading(event, timeZone),
    deliveries
      .filter(({ delivery }) => delivery.eventId === event.id)
      .map((delivery) => attemptTable(delivery, timeZone)),
  ]);
  return shown.length > 0 && section('events', 'Events and webhook deliveries', shown);
}

function eventHeading({ type, id, sequence, createdAt }: EventRow, timeZone: string): Content {
  return html`<h3>${type}</h3>
    <p>Event ${sequence} of the tenant, recorded ${time(createdAt, timeZone)}, ${idText(id)}</p>`;
}

const MAX_RESPONSE = 200;

/** Shows each attempt of a delivery. */
export function attemptTable(
  { url, delivery, attempts }: DeliveryHistory,
  timeZone: string,
): Content {
  const next = timeOrNull(delivery.nextAttemptAt, timeZone);
  const heading = html`<p>
    ${url === '' ? '' : html`<a href="${pathOf('endpoints', delivery.endpointId)}">${url}</a> `}
    ${tag(delivery.state)}${next !== null && html` next attempt ${next}`}
  </p>`;
  if (attempts.length === 0) return heading;
  const rows = attempts.map(
    ({ at, status, failure, message, response, durationMs }, index): readonly Fact[] => [
      ['Attempt', `${index + 1}`],
      ['Result', status ?? failure?.replaceAll('_', ' ') ?? 'no answer'],
      ['Time', time(at, timeZone)],
      ['Duration', `${durationMs} ms`],
      ['Response', [message ?? '', ' ', (response ?? '').slice(0, MAX_RESPONSE)]],
    ],
  );
  return [heading, table(`Attempts of ${delivery.eventType}`, rows)];
}

/** Shows the messages between the service and a payout's rail. */
export function railSection(reports: readonly PayoutRailEvent[], timeZone: string): Content {
  const rows = reports.map(
    ({ at, kind, said, effect, railReference, attempt, callbackId }): readonly Fact[] => [
      ['Message', kind],
      ['Reported', said ?? 'nothing'],
      ['Effect', effect.replaceAll('_', ' ')],
      ['Attempt', attempt],
      ["Rail's reference", railReference],
      ['Callback', callbackId],
      ['Time', time(at, timeZone)],
    ],
  );
  return rows.length > 0 && section('rail', "Rail's reports", table("Rail's reports", rows));
}
