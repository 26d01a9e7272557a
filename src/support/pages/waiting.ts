import { ASSETS, EXAMPLE_ASSET, formatAmount, isAsset } from '../../core/amount.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { type Content, element, html, type Html } from '../html.js';
import { readBusiest } from '../reading/totals.js';
import {
  countWaiting,
  LISTS,
  MAX_LISTED,
  readWaiting,
  WAITING_KINDS,
  type WaitingFilter,
  type WaitingKind,
} from '../reading/waiting.js';
import { parsePrinted } from '../forms.js';
import { field, notice, type Page, pageLinks, section } from './layout.js';
import { NONE, tableOf, type View } from './rows.js';
import { totalsSection } from './tenants.js';

/** Start page with the first resources of each list, and a page for each list. */

const FIRST_OF_EACH = 3;
const ROWS_PER_PAGE = 25;
export const MAX_PAGES = Math.ceil(MAX_LISTED / ROWS_PER_PAGE);

export async function startPage(view: View): Promise<Page> {
  const { reader, now } = view;
  const [counts, totals, lists] = await Promise.all([
    countAll(reader, null),
    readBusiest(reader, now),
    Promise.all(
      WAITING_KINDS.map(async (kind) => {
        const place = { skip: 0, limit: FIRST_OF_EACH };
        const { items, hasMore } = await readTable(view, kind, place);
        const { title, about } = LISTS[kind];
        const all = hasMore && html`. <a href="/waiting/${kind}">All ${title.toLowerCase()}</a>`;
        return items && section(kind, title, [html`<p class="soft">${about}${all}</p>`, items]);
      }),
    ),
  ]);
  const isQuiet = lists.every((list) => list === null);
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

export async function waitingPage(view: View, kind: WaitingKind, query: ListQuery): Promise<Page> {
  const { reader } = view;
  const filter = await filterOf(reader, query);
  const place = { skip: (query.page - 1) * ROWS_PER_PAGE, limit: ROWS_PER_PAGE };
  const [counts, form, { items, hasMore }, count] = await Promise.all([
    countAll(reader, kind),
    filterForm(reader, kind, query),
    'fault' in filter ? { items: null, hasMore: false } : readTable(view, kind, place, filter),
    'fault' in filter ? 0 : countWaiting(reader, kind, filter),
  ]);
  const pageOf = (page: number): string => listPath(kind, { ...query, page });
  const content = html`${counts}${form}${'fault' in filter && notice('bad', filter.fault)}
  ${count > 0 && html`<p class="soft">${LISTS[kind].about}. ${countText(count)} in total.</p>`}
  ${items ?? NONE}
  ${pageLinks(
    query.page > 1 ? ['Previous page', pageOf(query.page - 1)] : null,
    hasMore ? ['Next page', pageOf(query.page + 1)] : null,
  )}`;
  return { title: LISTS[kind].title, content };
}

async function countAll(reader: Reader, current: WaitingKind | null): Promise<Html> {
  const links = await Promise.all(
    WAITING_KINDS.map(async (kind) => {
      const count = await countWaiting(reader, kind);
      const shown = element('strong', { class: count > 0 && 'some' }, countText(count));
      const content = html`${shown} ${LISTS[kind].title}`;
      const attributes = { href: `/waiting/${kind}`, 'aria-current': kind === current && 'page' };
      return html`<li>${element('a', attributes, content)}</li>`;
    }),
  );
  return html`<nav aria-label="Lists">
    <ul class="counts">
      ${links}
    </ul>
  </nav>`;
}

async function readTable(
  view: View,
  kind: WaitingKind,
  place: { readonly skip: number; readonly limit: number },
  filter?: WaitingFilter,
): Promise<{ readonly items: Html | null; readonly hasMore: boolean }> {
  const { items, hasMore } = await readWaiting(view.reader, kind, place, filter);
  return { items: await tableOf(view, LISTS[kind].rows, items), hasMore };
}

function countText(count: number): string {
  return count > MAX_LISTED ? `${MAX_LISTED}+` : String(count);
}

function listPath(kind: WaitingKind, { page, tenant, least, asset }: ListQuery): string {
  const given = { tenant, least, asset: least === '' ? '' : asset };
  const query = new URLSearchParams([
    ...Object.entries(given).filter(([, value]) => value !== ''),
    ['page', String(page)],
  ]);
  return `/waiting/${kind}?${query.toString()}`;
}

async function filterOf(
  reader: Reader,
  { tenant: name, least: text, asset }: ListQuery,
): Promise<WaitingFilter | { readonly fault: string }> {
  const tenant = name === '' ? null : await reader.find(tenants, { name });
  if (tenant === undefined) return { fault: `"${name}" is not the name of a tenant.` };
  const least = text === '' ? null : parsePrinted(text, isAsset(asset) ? asset : EXAMPLE_ASSET);
  if (text !== '' && least === null)
    return { fault: `"${text}" is not an amount. Write it as ${EXAMPLE}.` };
  return { tenantId: tenant?.id ?? null, least };
}

const EXAMPLE = formatAmount({ raw: 150_000n, asset: EXAMPLE_ASSET }).split(' ')[0] ?? '';
const MAX_SUGGESTED = 200;

async function filterForm(reader: Reader, kind: WaitingKind, query: ListQuery): Promise<Content> {
  const named = await reader.list(tenants, `ORDER BY name LIMIT ${MAX_SUGGESTED}`);
  const amount = [
    field('At least', {
      name: 'least',
      value: query.least,
      placeholder: EXAMPLE,
      maxlength: 32,
    }),
    field(
      'Asset',
      { name: 'asset', value: query.asset },
      { choices: ASSETS.map((one) => [one, one]) },
    ),
  ];
  return html`<form class="filter" method="get" action="/waiting/${kind}">
    ${field('Tenant', { name: 'tenant', list: 'tenants', value: query.tenant, maxlength: 80 })}
    <datalist id="tenants">${named.map(({ name }) => element('option', { value: name }))}</datalist>
    ${LISTS[kind].amount !== null && amount}
    <button class="quiet">Filter</button>
    ${(query.tenant !== '' || query.least !== '') && html`<a href="/waiting/${kind}">Show all</a>`}
  </form>`;
}
