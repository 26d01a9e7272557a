import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { setVerbs } from '../actions/sets.js';
import type { SignedInPerson } from '../desk.js';
import { element, html, type Html } from '../html.js';
import { readBusiest } from '../reading/totals.js';
import {
  countWaiting,
  LISTS,
  MAX_COUNTED,
  readWaiting,
  WAITING_KINDS,
  type WaitingFilter,
  type WaitingKind,
} from '../reading/waiting.js';
import { NO_ROWS, type ReadRows } from './export.js';
import { type Fault, filterForm, AMOUNT_FIELDS, type ListField, rangesOf, TEXT } from './filter.js';
import { hiddenField, type Page, queryText, section } from './layout.js';
import { listContent } from './list.js';
import { parsePosition } from './position.js';
import { listRows, tableOf, type View } from './rows.js';
import { totalsSection } from './tenants.js';

/** Start page with the first resources of each list, and a page for each list. */

const FIRST_OF_EACH = 3;

export async function startPage(view: View): Promise<Page> {
  const { reader, now } = view;
  const [counts, totals, lists] = await Promise.all([
    countAll(reader, null),
    readBusiest(reader, now),
    Promise.all(
      WAITING_KINDS.map(async (kind) => {
        const { items: first, next } = await readWaiting(reader, kind, null, FIRST_OF_EACH);
        const items = await tableOf(view, LISTS[kind].rows, first, { isWaiting: true });
        const { title, about } = LISTS[kind];
        const all =
          next !== null && html`. <a href="/waiting/${kind}">All ${title.toLowerCase()}</a>`;
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

/** A list with its filter and page, as texts of the address. */
export interface ListQuery {
  readonly tenant: string;
  readonly text: string;
  readonly amount: string;
  readonly asset: string;
  /** `reversed`, or '' for the usual order. No index has the order of amounts. */
  readonly order: string;
  /** Position after which the page begins; '' for the first page. */
  readonly after: string;
}

export const NO_FILTER: ListQuery = {
  ...{ tenant: '', text: '', amount: '' },
  ...{ asset: '', order: '', after: '' },
};

const REVERSED = 'reversed';

/** The list from which a person came to a page. */
export interface ListPlace {
  readonly kind: WaitingKind;
  readonly query: ListQuery;
}

/** `areSelected`: all items of the page are selected. */
export async function waitingPage(
  view: View,
  kind: WaitingKind,
  query: ListQuery,
  person: SignedInPerson,
  { areSelected, isSummed }: { readonly areSelected: boolean; readonly isSummed: boolean },
): Promise<Page> {
  const { reader } = view;
  const by = person.identity;
  const verbs = setVerbs(kind, by);
  const selection = verbs.length === 0 ? undefined : areSelected ? 'all' : 'some';
  const filter = await filterOf(reader, query);
  const isReversed = query.order === REVERSED;
  const other = { ...query, order: isReversed ? '' : REVERSED, after: '' };
  const list = { path: `/waiting/${kind}`, filter: { ...query }, after: query.after, isSummed };
  const [counts, form, items, count] = await Promise.all([
    countAll(reader, kind),
    filterFormOf(reader, kind, query),
    listContent({ ...list, person, selection, now: view.now }, readRows(view, kind, query)),
    'fault' in filter ? 0 : countWaiting(reader, kind, filter),
  ]);
  const beside =
    count > 0 &&
    html`<p class="soft">
      ${LISTS[kind].about}${isReversed && ', reversed'}. ${countText(count)} in total.
      <a class="screen" href="${listPath(kind, other)}">Reverse the order</a>
    </p>`;
  const selected = count > 0 && verbs.length > 0 && setBar(kind, query, verbs);
  const content = html`${counts}
    <div class="bar">${form}${selected}</div>
    ${items}`;
  return { title: LISTS[kind].title, count: countText(count), beside, content };
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

/** Reads the rows of a list with its filter. */
export function readRows(view: View, kind: WaitingKind, query: ListQuery): ReadRows {
  return async (after, limit) => {
    const filter = await filterOf(view.reader, query);
    if ('fault' in filter) return { ...NO_ROWS, ...filter };
    const position = parsePosition(after);
    const page = await readWaiting<WaitingKind>(view.reader, kind, position, limit, filter);
    const options = { isWaiting: true, query: itemQuery(kind, query) };
    return listRows(view, LISTS[kind].rows, page.items, page.next, options);
  };
}

function countText(count: number): string {
  return count > MAX_COUNTED ? `${MAX_COUNTED}+` : String(count);
}

/** Shows the buttons for the selected items of a list. */
function setBar(kind: WaitingKind, query: ListQuery, verbs: readonly string[]): Html {
  const all = listPath(kind, query);
  const buttons = verbs.map((verb) =>
    element(
      'button',
      { class: 'quiet', formaction: `/waiting/${kind}/${verb}` },
      `${verb === 'approve' ? 'Approve' : 'Reject'} selected`,
    ),
  );
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  return html`<form class="set" id="set" method="get" action="/waiting/${kind}/approve">
    ${kept.map(([name, value]) => hiddenField(name, value))} ${buttons} <output></output>
    <a href="${all}${all.includes('?') ? '&' : '?'}select=all">Select all on this page</a>
  </form>`;
}

export function listPath(kind: WaitingKind, query: ListQuery): string {
  return `/waiting/${kind}${queryText({ ...query })}`;
}

/** Returns the query with which the page of a list's item leads on in the list. */
export function itemQuery(kind: WaitingKind, query: ListQuery): string {
  return queryText({ in: kind, ...query });
}

export async function filterOf(
  reader: Reader,
  { tenant, text, amount, asset, order }: ListQuery,
): Promise<WaitingFilter | Fault> {
  const owner = await findTenantId(reader, tenant);
  if ('fault' in owner) return owner;
  const ranges = rangesOf({ amount, asset }, 'UTC');
  if ('fault' in ranges) return ranges;
  return { ...ranges, ...owner, text, isReversed: order === REVERSED };
}

/** Finds a tenant by its name, if need be in another case. Returns null for ''. */
export async function findTenantId(
  reader: Reader,
  name: string,
): Promise<{ readonly tenantId: Uuid | null } | Fault> {
  if (name === '') return { tenantId: null };
  const folded = `name COLLATE utf8mb4_general_ci=${literal(tenants, 'name', name)}`;
  const found =
    (await reader.find(tenants, { name })) ??
    (await reader.list(tenants, `WHERE ${folded} ORDER BY name LIMIT 1`))[0];
  return found ? { tenantId: found.id } : { fault: `"${name}" is not the name of a tenant.` };
}

const MAX_SUGGESTED = 200;

export async function tenantField(reader: Reader): Promise<ListField> {
  const named = await reader.list(tenants, `ORDER BY name LIMIT ${MAX_SUGGESTED}`);
  return { name: 'tenant', label: 'Tenant', suggestions: named.map(({ name }) => name) };
}

async function filterFormOf(reader: Reader, kind: WaitingKind, query: ListQuery): Promise<Html> {
  const words: ListField = { ...TEXT, label: 'Words' };
  const amounts = LISTS[kind].amount === null ? [] : AMOUNT_FIELDS;
  const fields = [await tenantField(reader), words, ...amounts];
  return filterForm(`/waiting/${kind}`, fields, { ...query, after: '' });
}
