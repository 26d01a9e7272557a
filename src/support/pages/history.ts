import { formatAmount } from '../../core/amount.js';
import type { PayoutRailEvent } from '../../db/entities/payouts.js';
import { type Content, html } from '../html.js';
import type { DeliveryHistory } from '../reading/ledger.js';
import { endText } from '../reading/payouts.js';
import type { History } from '../reading/timeline.js';
import {
  type Fact,
  idText,
  link,
  pathOf,
  section,
  sumFact,
  table,
  tableSection,
  tag,
  time,
} from './layout.js';

export function historySections(history: History, timeZone: string): Content {
  return [moneySection(history, timeZone), eventSection(history, timeZone)];
}

function moneySection({ entries, hold, nameOf }: History, timeZone: string): Content {
  if (entries.length === 0 && hold === undefined) return '';
  const rows = entries.map((entry): readonly Fact[] => [
    ['Account', link('accounts', entry.accountId, nameOf(entry.accountId))],
    ['Entry', endText(entry.kind)],
    sumFact('Amount', entry.raw, entry.asset),
    sumFact('Balance after', entry.totalAfter, entry.asset),
    ['Time', time(entry.createdAt, timeZone)],
    ['Transaction', idText(entry.transactionId)],
  ]);
  const held =
    hold &&
    html`<p>
      Hold: ${formatAmount(hold)} placed ${time(hold.createdAt, timeZone)}, of which
      ${formatAmount({ raw: hold.remaining, asset: hold.asset })} is still held.
    </p>`;
  return section('money', 'Money', [held, rows.length > 0 && table('Entries', rows)]);
}

function eventSection({ events, deliveries }: History, timeZone: string): Content {
  const tableRows = events.map(({ id, type, sequence, createdAt }) => [
    html`<h3>${type}</h3>
      <p>Event ${sequence} of the tenant, recorded ${time(createdAt, timeZone)}, ${idText(id)}</p>`,
    deliveries
      .filter(({ delivery }) => delivery.eventId === id)
      .map((delivery) => attemptTable(delivery, timeZone)),
  ]);
  return tableRows.length > 0 && section('events', 'Events and webhook deliveries', tableRows);
}

const MAX_RESPONSE = 200;

export function attemptTable(
  { url, delivery, attempts }: DeliveryHistory,
  timeZone: string,
): Content {
  const next = time(delivery.nextAttemptAt, timeZone);
  const endpoint = pathOf('endpoints', delivery.endpointId);
  const retryNow = html`<a href="${endpoint}#acts">Retry now, among the endpoint's actions</a>`;
  const heading = html`<p>
    ${url === '' ? '' : html`${link('endpoints', delivery.endpointId, url)} `}
    ${tag(delivery.state)}${next !== null && html` next attempt ${next}`}
    ${delivery.state === 'retrying' && retryNow}
    ${delivery.state === 'failed' && 'It is not retried. The tenant can have the event sent again.'}
  </p>`;
  if (attempts.length === 0) return heading;
  const rows = attempts.map(
    ({ at, status, failure, message, response, durationMs }, index): readonly Fact[] => [
      ['Attempt', `${index + 1}`],
      ['Result', status ?? endText(failure) ?? 'no answer'],
      ['Time', time(at, timeZone)],
      ['Duration', `${durationMs} ms`, 'number'],
      ['Response', [message ?? '', ' ', (response ?? '').slice(0, MAX_RESPONSE)]],
    ],
  );
  return [heading, table(`Attempts of ${delivery.eventType}`, rows)];
}

export function railSection(reports: readonly PayoutRailEvent[], timeZone: string): Content {
  const rows = reports.map(
    ({ at, kind, reported, effect, railReference, attempt, callbackId }): readonly Fact[] => [
      ['Message', kind],
      ['Reported', reported ?? 'nothing'],
      ['Effect', endText(effect)],
      ['Attempt', attempt],
      ["Rail's reference", railReference],
      ['Callback', callbackId],
      ['Time', time(at, timeZone)],
    ],
  );
  return tableSection('rail', "Rail's reports", rows);
}
