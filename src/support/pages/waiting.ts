import { formatAmount } from '../../core/amount.js';
import type { BonusBatch } from '../../db/entities/bonuses.js';
import type { Adjustment, Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import type { Reader } from '../../db/database.js';
import { isPaused, pendingRows } from '../../batches/rules.js';
import { listResolutions } from '../../payouts/resolutions.js';
import { html, type Html } from '../html.js';
import { type Names, namesOf } from '../reading/names.js';
import { resolutionLine, stuckText } from '../reading/payouts.js';
import {
  countWaiting,
  MAX_LISTED,
  readWaiting,
  WAITING_KINDS,
  type WaitingKind,
  type WaitingRows,
} from '../reading/waiting.js';
import {
  cards,
  type Fact,
  facts,
  type Page,
  pathOf,
  section,
  tag,
  time,
  timeOrNull,
} from './layout.js';

/**
 * Start page with the resources that wait for people, and one page per kind that lists them all.
 */

const TITLES: Readonly<Record<WaitingKind, { readonly title: string; readonly short: string }>> = {
  transfers: { title: 'Transfers that wait for approval', short: 'transfers wait for approval' },
  payouts: { title: 'Payouts that wait for approval', short: 'payouts wait for approval' },
  stuck: { title: 'Stuck payouts', short: 'payouts are stuck' },
  adjustments: { title: 'Adjustments that wait for a second person', short: 'adjustments wait' },
  batches: { title: 'Batches in progress', short: 'batches in progress' },
  endpoints: {
    title: 'Webhook endpoints that fail or are paused',
    short: 'endpoints fail or are paused',
  },
};

const FIRST_OF_EACH = 5;
const OF_A_PAGE = 25;

export async function startPage(reader: Reader): Promise<Page> {
  const sections = await Promise.all(
    WAITING_KINDS.map(async (kind) => {
      const [count, items] = await Promise.all([
        countWaiting(reader, kind),
        readCards(reader, kind, { skip: 0, limit: FIRST_OF_EACH }),
      ]);
      return { kind, count, items: items.items };
    }),
  );
  const counts = sections.map(
    ({ kind, count }) =>
      html`<li class="card">
        <a href="/waiting/${kind}"><strong>${countText(count)}</strong> ${TITLES[kind].short}</a>
      </li>`,
  );
  const lists = sections
    .filter(({ count }) => count > 0)
    .map(({ kind, count, items }) => {
      const all =
        count > items.length && html`<p><a href="/waiting/${kind}">All ${countText(count)}</a></p>`;
      return section(kind, TITLES[kind].title, [cards(items), all]);
    });
  const nothing = lists.length === 0 ? html`<p>Nothing waits for anybody.</p>` : '';
  return {
    title: 'What waits',
    content: html`<ul class="counts">
        ${counts}
      </ul>
      ${lists}${nothing}`,
  };
}

export async function waitingPage(
  reader: Reader,
  kind: WaitingKind,
  number: number,
): Promise<Page> {
  const skip = (number - 1) * OF_A_PAGE;
  const [count, { items, hasMore }] = await Promise.all([
    countWaiting(reader, kind),
    readCards(reader, kind, { skip, limit: OF_A_PAGE }),
  ]);
  const before =
    number > 1
      ? html`<a rel="prev" href="/waiting/${kind}?page=${number - 1}">Earlier page</a>`
      : '';
  const after = hasMore
    ? html`<a rel="next" href="/waiting/${kind}?page=${number + 1}">Next page</a>`
    : '';
  const content = html`<h2>${countText(count)} in all</h2>
    <p class="soft">Oldest first; items about to expire come first.</p>
    ${items.length === 0 ? html`<p>There are none here.</p>` : cards(items)}
    <nav class="pages" aria-label="Pages">${before}${after}</nav>`;
  return { title: TITLES[kind].title, content };
}

export const MAX_PAGES = Math.ceil(MAX_LISTED / OF_A_PAGE);

function countText(count: number): string {
  return count > MAX_LISTED ? `more than ${MAX_LISTED}` : String(count);
}

async function readCards<K extends WaitingKind>(
  reader: Reader,
  kind: K,
  place: { readonly skip: number; readonly limit: number },
): Promise<{ readonly items: readonly Html[]; readonly hasMore: boolean }> {
  const { items, hasMore } = await readWaiting(reader, kind, place);
  const names = await namesOf(reader, items);
  const card: CardOf<K> = CARDS[kind];
  return {
    items: await Promise.all(items.map(async (item) => card(item, names, reader))),
    hasMore,
  };
}

type CardOf<K extends WaitingKind> = (
  row: WaitingRows[K],
  names: Names,
  reader: Reader,
) => Html | Promise<Html>;

const CARDS: { readonly [K in WaitingKind]: CardOf<K> } = {
  transfers: transferCard,
  payouts: waitingPayoutCard,
  stuck: waitingPayoutCard,
  batches: batchCard,
  endpoints: endpointCard,
  adjustments: adjustmentCard,
};

async function waitingPayoutCard(payout: Payout, names: Names, reader: Reader): Promise<Html> {
  return payoutCard(payout, names, await proposedFor(reader, payout));
}

async function proposedFor(reader: Reader, { id, stuckSince }: Payout): Promise<readonly string[]> {
  if (stuckSince === null) return [];
  return (await listResolutions(reader, id))
    .filter(({ status }) => status === 'proposed')
    .map(resolutionLine);
}

/** The heading is the link, so that a list of links is meaningful. */
function card(path: string, heading: string, rows: Parameters<typeof facts>[0]): Html {
  return html`<h3><a href="${path}">${heading}</a></h3>
    ${facts(rows)}`;
}

export function transferCard(transfer: Transfer, names: Names): Html {
  const { id, sourceAccountId: from, destinationAccountId: to } = transfer;
  return card(
    pathOf('transfers', id),
    `${formatAmount(transfer)} from ${names.account(from)} to ${names.account(to)}`,
    [
      ['Tenant', names.tenant(transfer.tenantId)],
      ['Status', tag(transfer.status)],
      ['Asked for', time(transfer.createdAt, names.timeZone(transfer.tenantId))],
      ...approvalFacts(transfer, names),
    ],
  );
}

export function payoutCard(payout: Payout, names: Names, proposed: readonly string[] = []): Html {
  const { id, holderName, country, bankCode, accountEnd } = payout;
  const to = `${holderName}, ${country} ${bankCode} ****${accountEnd}`;
  const zone = names.timeZone(payout.tenantId);
  return card(
    pathOf('payouts', id),
    `${formatAmount(payout)} from ${names.account(payout.sourceAccountId)} to ${to}`,
    [
      ['Tenant', names.tenant(payout.tenantId)],
      ['Status', tag(payout.status)],
      ['Asked for', time(payout.createdAt, zone)],
      ['Stuck since', timeOrNull(payout.stuckSince, zone)],
      ['Why', stuckText(payout)],
      ['Proposed', proposed.length === 0 ? null : proposed.map((line) => html`<p>${line}</p>`)],
      ...approvalFacts(payout, names),
    ],
  );
}

function approvalFacts(row: Transfer | Payout, names: Names): readonly Fact[] {
  if (row.status !== 'pending_approval') return [];
  return [
    ['Approvals', `${row.approvalsReceived ?? 0} of ${row.approvalsRequired ?? 0}`],
    ['Expires', timeOrNull(row.approvalExpiresAt, names.timeZone(row.tenantId))],
  ];
}

export function batchTitle({ status, rowCount }: BonusBatch): string {
  if (status === 'validating') return 'Batch of bonuses that are being checked';
  return `Batch of ${rowCount} ${rowCount === 1 ? 'bonus' : 'bonuses'}`;
}

export function batchCard(batch: BonusBatch, names: Names): Html {
  const { id, asset, totalRaw: raw, rowsPaid, rowsFailed } = batch;
  const sum = asset === null ? '' : `, ${formatAmount({ raw, asset })},`;
  return card(
    pathOf('batches', id),
    `${batchTitle(batch)}${sum} from ${names.account(batch.sourceAccountId)}`,
    [
      ['Tenant', names.tenant(batch.tenantId)],
      ['Status', [tag(batch.status), isPaused(batch) ? html` ${tag('paused')}` : '']],
      ['Uploaded', time(batch.createdAt, names.timeZone(batch.tenantId))],
      [
        'Rows',
        batch.status === 'executing'
          ? `${rowsPaid} paid, ${rowsFailed} failed, ${pendingRows(batch)} to come`
          : null,
      ],
    ],
  );
}

export function endpointCard(endpoint: WebhookEndpoint, names: Names): Html {
  const { id, url, status, disabledReason, failingSince, pausedAt } = endpoint;
  const zone = names.timeZone(endpoint.tenantId);
  return card(pathOf('endpoints', id), url, [
    ['Tenant', names.tenant(endpoint.tenantId)],
    ['Status', [tag(status), pausedAt === null ? '' : html` ${tag('paused')}`]],
    ['Disabled', disabledReason?.replaceAll('_', ' ') ?? null],
    ['Failing since', timeOrNull(failingSince, zone)],
    ['Last success', timeOrNull(endpoint.lastSuccessAt, zone)],
  ]);
}

export function adjustmentCard(adjustment: Adjustment, names: Names): Html {
  const { id, direction, accountId, reason, proposedBy } = adjustment;
  const way = direction === 'in' ? 'into' : 'out of';
  return card(
    pathOf('adjustments', id),
    `${formatAmount(adjustment)} ${way} ${names.account(accountId)}`,
    [
      ['Tenant', names.tenant(adjustment.tenantId)],
      ['Status', tag(adjustment.status)],
      ['Reason', reason],
      ['Proposed by', proposedBy],
      ['Proposed', time(adjustment.createdAt, names.timeZone(adjustment.tenantId))],
    ],
  );
}
