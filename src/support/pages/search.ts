import { isAsset } from '../../core/amount.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { instant } from '../../core/instant.js';
import { normaliseText } from '../../core/text.js';
import type { Account } from '../../db/entities/parties.js';
import type { Payout } from '../../db/entities/payouts.js';
import { filterWords } from '../../db/statements.js';
import { type Content, html, type Html } from '../html.js';
import {
  DATED_KINDS,
  findCreatedAfter,
  findCreatedWithin,
  RECENT_DAYS,
  recentWindow,
  windowsOf,
} from '../reading/operation-search.js';
import {
  countFound,
  creationTimeOf,
  findByText,
  KINDS,
  MAX_FOUND,
  type SearchResult,
} from '../reading/search.js';
import {
  aboutText,
  amountsBeginning,
  findAccountsNamed,
  findAnywhere,
  findByWords,
  mergeResults,
  MIN_PHONE_DIGITS,
  termsOf,
} from '../reading/term-search.js';
import { sentenceCase } from '../reading/timeline.js';
import { filterForm, type ListField, MAX_TEXT, RANGE_FIELDS, rangesOf } from './filter.js';
import { type Fact, notice, type Page, queryText, section, time } from './layout.js';
import { tableOf, type View } from './rows.js';

export const SEARCH_FIELDS = [
  ...(['text', 'amount', 'asset', 'day', 'until'] as const),
  ...(['from', 'after', 'kind'] as const),
] as const;

interface SearchQuery {
  readonly text: string;
  readonly amount: string;
  readonly asset: string;
  /** First and last day such as `2026-11-22`, in the time zone of each tenant. */
  readonly day: string;
  readonly until: string;
  /** Id of the operation after which an interrupted search continues. */
  readonly from: string;
  /** Id of the last result of the earlier page of a search by words. */
  readonly after: string;
  /** The only kind of operations of these days, or of results by words; '' for all. */
  readonly kind: string;
}

export async function searchPage(view: View, query: SearchQuery): Promise<Page> {
  const isAsked = query.text !== '' || isNarrowed(query);
  const content = html`${filterForm('/search', FIELDS, { ...query }, 'Search')}${isAsked ? await answer(view, query) : HELP}`;
  return { title: 'Search', content };
}

const FIELDS: readonly ListField[] = [
  {
    name: 'text',
    label: 'Id, name, alias, phone, reference, idempotency key or amount',
    type: 'search',
  },
  ...RANGE_FIELDS,
];

const RECENT = html`<p class="soft">
  Only the last ${RECENT_DAYS} days were searched for parts of words, ranges of amounts, totals of
  batches, and what an id or alias names. Choose a day to find earlier ones.
</p>`;

const HELP = html`<p class="soft">
  A complete id opens its page. Searches the beginnings of ids and references; aliases and
  idempotency keys; any words of names and descriptions, in any order; the last digits of a phone
  (at least four); and amounts, with other words or alone, such as Ana 25,000. The decimals of an
  amount may be left out. A range is 25,000..26,000, 25,000.. or ..26,000. Days are in each tenant's
  time zone. Parts of words are searched only in the last ${RECENT_DAYS} days. Numbers of bank
  accounts cannot be searched. The id of a request (Svc-Request-Id) finds what it created.
</p>`;

/** Whether the search is restricted by days or an amount. */
export function isNarrowed({ day, until, amount }: SearchQuery): boolean {
  return day !== '' || until !== '' || amount !== '';
}

/** Moves a range of amounts, such as `25,000..26,000`, from the text to the field that it belongs to. */
function withRange(query: SearchQuery): SearchQuery {
  const tokens = filterWords(query.text);
  const parts = tokens
    .flatMap((_, from) => tokens.slice(from).map((_, at) => tokens.slice(from, from + at + 1)))
    .sort((one, other) => other.length - one.length);
  const amount = parts
    .map((part) => part.join(' '))
    .find((part) => part.includes('..') && !('fault' in rangesOf({ amount: part }, 'UTC')));
  if (amount === undefined || query.amount !== '') return query;
  const text = tokens.join(' ').replace(amount, '').replace('  ', ' ').trim();
  return { ...query, text, amount };
}

async function answer(view: View, given: SearchQuery): Promise<Html> {
  const { reader } = view;
  if (given.text.length > MAX_TEXT)
    return notice('bad', `Search for at most ${MAX_TEXT} characters.`);
  const query = withRange(given);
  const { text } = query;
  if (text === '') return withinDays(view, query, null);
  if (isNarrowed(query)) {
    // Ranges and days are searched without the index, which finds people by their names.
    const [exact, people] = await Promise.all([
      findByText(reader, text, view.now),
      findAccountsNamed(reader, text),
    ]);
    return withinDays(view, query, aboutText(text, [...idsIn(exact), ...people]));
  }
  const before = parseUuid(query.after);
  const isAmount = before === null && amountsBeginning(text, null).length > 0;
  if (isAmount && countFound(await findByText(reader, text, view.now)) === 0)
    return withinDays(view, { ...query, text: '', amount: text, asset: '' }, null);
  const kind = KINDS.find((one) => one === query.kind);
  const later = before && { before, kind };
  const all = await findAnywhere(reader, text, view.now, later, mostOf(query));
  if (before !== null || countFound(all.found) > 0) return wordResults(view, query, all);
  const id = parseUuid(text);
  const at = id === null ? null : creationTimeOf(id);
  if (at === null) return withinDays(view, query, aboutText(text));
  const near = await findCreatedAfter(reader, at);
  return html`${notice(
    'wait',
    html`Nothing has this id. If it belongs to a request, the request arrived at ${time(at, 'UTC')}.
    Operations of all tenants in the ten seconds after it:`,
  )}${await results(view, near, query)}`;
}

function idsIn(found: SearchResult): readonly Uuid[] {
  return Object.values(found).flatMap((rows) => rows.map(({ id }) => id));
}

/** Returns the number of results that a page needs of each kind: one more than it shows. Undefined for the page of one kind. */
function mostOf({ kind }: SearchQuery): number | undefined {
  return kind === '' ? MAX_FOUND + 1 : undefined;
}

/** Shows what the text names exactly, the newest results of each kind, and links to those that follow. */
async function wordResults(
  view: View,
  query: SearchQuery,
  { exact, named, next, isCut }: Awaited<ReturnType<typeof findAnywhere>>,
): Promise<Html> {
  const pathOn = (after: Uuid, kind: string): string =>
    `/search${queryText({ ...query, after, kind })}`;
  const newest = Object.entries(named).map(([kind, rows]) => [kind, rows.slice(0, MAX_FOUND)]);
  const shown = mergeResults(exact, Object.fromEntries(newest) as SearchResult);
  const moreOf = (kind: keyof SearchResult): Content => {
    const last = named[kind][MAX_FOUND - 1];
    const hasMore = named[kind].length > MAX_FOUND || isCut(kind);
    return last && hasMore && moreLink(kind, pathOn(last.id, kind));
  };
  const isFull = Object.values(exact).some((rows) => rows.length >= MAX_FOUND);
  const isOfMore = query.kind !== '' && KINDS.some((kind) => named[kind].length > MAX_FOUND);
  return html`${await results(view, shown, query, moreOf)}
  ${isFull && html`<p class="soft">At most ${MAX_FOUND} of each kind are found by the beginning of an id or reference.</p>`}
  ${next !== null && !isOfMore && continuation(pathOn(next, query.kind))}`;
}

function moreLink(kind: string, path: string): Html {
  return html`<p class="screen"><a href="${path}">More ${titleOf(kind).toLowerCase()}</a></p>`;
}

function continuation(path: string): Html {
  return notice('wait', html`There may be more. <a href="${path}">Continue the search</a>`);
}

/** Searches operations of a day, or of the last days, by amount and what `about` names. */
async function withinDays(
  view: View,
  query: SearchQuery,
  about: Parameters<typeof findCreatedWithin>[2]['about'],
): Promise<Html> {
  const { reader, now } = view;
  const isOpen = query.day === '' && query.until === '';
  // A first day alone is the only one.
  const filter = { ...query, until: query.until || query.day };
  const ranges = rangesOf(filter, 'UTC');
  if ('fault' in ranges) return notice('bad', ranges.fault);
  const allTime = { from: instant(0), to: now };
  const windows = isOpen
    ? [recentWindow(now)]
    : await windowsOf(reader, (timeZone) => ({ ...allTime, ...rangesOf(filter, timeZone) }));
  const asset = isAsset(query.asset) ? query.asset : null;
  const terms = termsOf(`${query.text} ${query.amount}`);
  const isOfDays = query.text === '' && query.amount === '';
  const only = DATED_KINDS.filter((kind) => kind === query.kind);
  // No index has the order of amounts.
  const isExamined = isOfDays || query.amount.includes('..');
  const kinds = isExamined ? { kinds: only.length > 0 ? only : DATED_KINDS } : {};
  const [{ found: examined, next, nextOf }, indexed] = await Promise.all([
    findCreatedWithin(
      reader,
      windows,
      { amounts: ranges.amounts, about, ...kinds },
      parseUuid(query.from),
    ),
    isExamined || query.from !== ''
      ? null
      : findByWords(
          reader,
          { ...terms, asset: asset ?? terms.asset },
          isOpen ? null : windows,
          null,
          mostOf(query),
        ),
  ]);
  const found = mergeResults(examined, indexed?.found ?? examined);
  const pathOn = (from: Uuid, kind: string): string =>
    `/search${queryText({ ...query, from, kind })}`;
  const more =
    next !== null &&
    (!isOfDays || countFound(found) === 0) &&
    continuation(pathOn(next, query.kind));
  const moreOf = (kind: keyof SearchResult): Content => {
    const from = isOfDays && nextOf.get(kind);
    return from && moreLink(kind, pathOn(from, kind));
  };
  return html`${isOpen && RECENT}${await results(view, found, query, moreOf)}${more}`;
}

const TITLES = new Map([
  ['payIns', 'Pay-ins'],
  ['endpoints', 'Webhook endpoints'],
]);
const titleOf = (kind: string): string => TITLES.get(kind) ?? sentenceCase(kind);

type HiddenColumns = Partial<Pick<Payout, 'railReference' | 'metadata'> & Pick<Account, 'phone'>>;

/** Shows the columns with the text that the tables do not have, and of a phone only its end. */
function foundIn({ railReference, metadata, phone }: HiddenColumns, text: string): Fact {
  const wanted = normaliseText(text).toLowerCase();
  const digits = text.replace(/\D/g, '');
  const end = digits.length >= MIN_PHONE_DIGITS && phone?.endsWith(digits) && digits.slice(-4);
  const columns = [
    ...[...Object.entries(metadata ?? {}), ['rail reference', railReference ?? '']].filter(
      ([, value]) => wanted !== '' && value?.toLowerCase().includes(wanted),
    ),
    ...(end ? [['phone', `****${end}`]] : []),
  ];
  return [
    'Found in',
    columns.length > 0 && columns.map((column) => html`<p>${column.join(': ')}</p>`),
  ];
}

async function results(
  view: View,
  found: SearchResult,
  query: SearchQuery,
  moreOf: (kind: keyof SearchResult) => Content = () => null,
): Promise<Html> {
  if (countFound(found) === 0)
    return html`<p class="card soft">No results. A new account's phone is found after a minute.</p>
      ${HELP}`;
  const text = query.text || query.amount;
  const which = query.after === '' && query.from === '' ? 'newest ' : 'next ';
  const sectionOf = async <Kind extends keyof SearchResult>(kind: Kind): Promise<Content> => {
    // A page of one kind has all that was found.
    const items = query.kind === '' ? found[kind].slice(0, MAX_FOUND) : found[kind];
    const rows = await tableOf(view, kind, items, { more: (row) => foundIn(row, text) });
    const all = `/search${queryText({ ...query, kind })}`;
    const more = moreOf(kind) || (items.length < found[kind].length && moreLink(kind, all));
    const heading = `${titleOf(kind)}: ${more ? which : ''}${items.length}`;
    return (rows ?? more) && section(kind, heading, [rows, more]);
  };
  const kinds = KINDS.filter((one) => query.kind === '' || query.kind === one);
  return html`${await Promise.all(kinds.map((kind) => sectionOf(kind)))}`;
}
