import { ASSETS, formatAmount, isAsset } from '../../core/amount.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { type Content, html, type Html } from '../html.js';
import {
  countWaiting,
  MAX_LISTED,
  readWaiting,
  WAITING_KINDS,
  type WaitingFilter,
  type WaitingKind,
} from '../reading/waiting.js';
import { readBusiest } from '../reading/totals.js';
import { parsePrinted } from '../units.js';
import { notice, options, type Page, pageLinks, section } from './layout.js';
import { tableOf } from './rows.js';
import { totalsSection } from './totals.js';

/** Start page with the most urgent resources, and one page per kind that lists all of them. */

interface Words {
  readonly title: string;
  /** Heading of the most urgent ones on the start page. */
  readonly urgent: string;
  readonly short: string;
}

export const WORDS: Readonly<Record<WaitingKind, Words>> = {
  transfers: {
    title: 'Transfers that need approval',
    urgent: 'Transfers that expire soonest',
    short: 'Transfers to approve',
  },
  payouts: {
    title: 'Payouts that need approval',
    urgent: 'Payouts that expire soonest',
    short: 'Payouts to approve',
  },
  stuck: { title: 'Stuck payouts', urgent: 'Payouts stuck longest', short: 'Stuck payouts' },
  proposals: {
    title: 'Payouts whose proposed outcome needs a second person',
    urgent: 'Oldest proposed outcomes',
    short: 'Proposed outcomes',
  },
  batches: { title: 'Batches in progress', urgent: 'Oldest batches', short: 'Batches in progress' },
  endpoints: {
    title: 'Webhook endpoints that fail or are paused',
    urgent: 'Failing and paused webhook endpoints',
    short: 'Failing endpoints',
  },
  adjustments: {
    title: 'Adjustments that need a second person',
    urgent: 'Oldest proposed adjustments',
    short: 'Adjustments to post',
  },
};

const FIRST_OF_EACH = 5;
const OF_A_PAGE = 25;
export const MAX_PAGES = Math.ceil(MAX_LISTED / OF_A_PAGE);

export async function startPage(reader: Reader, now: Instant): Promise<Page> {
  const [counts, totals, lists] = await Promise.all([
    countAll(reader, null),
    readBusiest(reader, now),
    Promise.all(
      WAITING_KINDS.map(async (kind) => {
        const place = { skip: 0, limit: FIRST_OF_EACH };
        const { items, hasMore } = await readTable(reader, now, kind, place);
        const all = hasMore && html`<p><a href="/waiting/${kind}">All ${WORDS[kind].title}</a></p>`;
        return items === null ? '' : section(kind, WORDS[kind].urgent, [items, all]);
      }),
    ),
  ]);
  const isQuiet = lists.every((list) => list === '');
  return {
    title: 'Needs attention',
    content: html`${counts}${lists}${isQuiet && html`<p class="card">Nothing needs attention.</p>`}${totalsSection(totals)}
      <p><a href="/tenants">All tenants</a></p>`,
  };
}

interface ListQuery {
  readonly page: number;
  readonly tenant: string;
  readonly least: string;
  readonly asset: string;
}

export async function waitingPage(
  reader: Reader,
  now: Instant,
  kind: WaitingKind,
  query: ListQuery,
): Promise<Page> {
  const { filter, fault } = await filterOf(reader, query);
  const place = { skip: (query.page - 1) * OF_A_PAGE, limit: OF_A_PAGE };
  const [counts, form, { items, hasMore }, count] = await Promise.all([
    countAll(reader, kind),
    filterForm(reader, kind, query),
    filter === null ? NONE : readTable(reader, now, kind, place, filter),
    filter === null ? 0 : countWaiting(reader, kind, filter),
  ]);
  const pageOf = (page: number): string => listPath(kind, { ...query, page });
  const content = html`${counts}${form}${fault !== null && notice('bad', fault)}
    <p class="soft">${countText(count)} in total, most urgent first</p>
    ${items ?? html`<p class="card">There are none here.</p>`}
    ${pageLinks(
      query.page > 1 ? ['Previous page', pageOf(query.page - 1)] : null,
      hasMore ? ['Next page', pageOf(query.page + 1)] : null,
    )}`;
  return { title: WORDS[kind].title, content };
}

const NONE = { items: null, hasMore: false };

async function countAll(reader: Reader, current: WaitingKind | null): Promise<Html> {
  const links = await Promise.all(
    WAITING_KINDS.map(async (kind) => {
      const count = countText(await countWaiting(reader, kind));
      const content = html`${WORDS[kind].short} <strong>${count}</strong>`;
      return kind === current
        ? html`<li><a aria-current="page" href="/waiting/${kind}">${content}</a></li>`
        : html`<li><a href="/waiting/${kind}">${content}</a></li>`;
    }),
  );
  return html`<nav aria-label="Lists">
    <ul class="counts">
      ${links}
    </ul>
  </nav>`;
}

async function readTable(
  reader: Reader,
  now: Instant,
  kind: WaitingKind,
  place: { readonly skip: number; readonly limit: number },
  filter?: WaitingFilter,
): Promise<{ readonly items: Html | null; readonly hasMore: boolean }> {
  const { rowKind, items, hasMore } = await readWaiting(reader, kind, place, filter);
  if (items.length === 0) return { items: null, hasMore };
  return { items: await tableOf(reader, now, rowKind, WORDS[kind].title, items), hasMore };
}

function countText(count: number): string {
  return count > MAX_LISTED ? `more than ${MAX_LISTED}` : String(count);
}

function listPath(kind: WaitingKind, { page, tenant, least, asset }: ListQuery): string {
  const given = { tenant, least, asset: least === '' ? '' : asset };
  const query = new URLSearchParams([
    ...Object.entries(given).filter(([, value]) => value !== ''),
    ['page', String(page)],
  ]);
  return `/waiting/${kind}?${query.toString()}`;
}

/** Without a filter, there is a fault, and nothing is shown. */
async function filterOf(
  reader: Reader,
  { tenant: name, least: text, asset }: ListQuery,
): Promise<{ readonly filter: WaitingFilter | null; readonly fault: string | null }> {
  const tenant = name === '' ? null : await reader.find(tenants, { name });
  if (tenant === undefined)
    return { filter: null, fault: `"${name}" is not the name of a tenant.` };
  const least = text === '' ? null : parsePrinted(text, isAsset(asset) ? asset : ASSETS[0]);
  if (text !== '' && least === null)
    return { filter: null, fault: `"${text}" is not an amount. Write it as ${EXAMPLE}.` };
  return { filter: { tenantId: tenant?.id ?? null, least }, fault: null };
}

const EXAMPLE = formatAmount({ raw: 150_000n, asset: ASSETS[0] }).split(' ')[0] ?? '';
const MAX_SUGGESTED = 200;

async function filterForm(reader: Reader, kind: WaitingKind, query: ListQuery): Promise<Content> {
  const named = await reader.list(tenants, `ORDER BY name LIMIT ${MAX_SUGGESTED}`);
  const amount = html`<label
      >At least<input name="least" value="${query.least}" placeholder="${EXAMPLE}" maxlength="32"
    /></label>
    <label
      >Asset<select name="asset">
        ${options(
          ASSETS.map((one) => [one, one]),
          query.asset,
        )}
      </select></label
    >`;
  return html`<form class="filter" method="get" action="/waiting/${kind}">
    <label
      >Tenant<input name="tenant" list="tenants" value="${query.tenant}" maxlength="80" /></label
    ><datalist id="tenants">
      ${named.map(({ name }) => html`<option value="${name}"></option>`)}
    </datalist>
    ${kind !== 'endpoints' && amount}
    <button class="quiet">Filter</button>
    ${(query.tenant !== '' || query.least !== '') && html`<a href="/waiting/${kind}">Show all</a>`}
  </form>`;
}
