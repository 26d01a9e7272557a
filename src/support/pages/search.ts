import { type Asset, ASSETS, EXAMPLE_ASSET, formatAmount, isAsset } from '../../core/amount.js';
import { parseUuid } from '../../core/ids.js';
import { type Instant, maxInstant, parseRfc3339, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { displayName } from '../../accounts/display-name.js';
import { html, type Html } from '../html.js';
import { namesOf } from '../reading/names.js';
import {
  MAX_FOUND,
  countFound,
  findByText,
  findMadeAfter,
  findMadeWithin,
  type SearchResult,
  madeAt,
  windowsOf,
} from '../reading/search.js';
import { parsePrinted } from '../units.js';
import { cards, facts, notice, options, type Page, pathOf, section, tag, time } from './layout.js';
import { adjustmentCard, batchCard, endpointCard, payoutCard, transferCard } from './waiting.js';

/** Example of an amount as the desk prints it. */
const PRINTED = formatAmount({ raw: 150_000n, asset: EXAMPLE_ASSET });

/** Search by anything that a customer can name. */

interface SearchQuery {
  readonly text: string;
  readonly amount: string;
  readonly asset: string;
  /** Day such as `2026-11-22`, in the time zone of each tenant. */
  readonly day: string;
  /** Time in RFC 3339 at which an interrupted search of the day continues. */
  readonly from: string;
}

const MAX_TEXT = 255;

export async function searchPage(reader: Reader, query: SearchQuery): Promise<Page> {
  const isAsked = query.text !== '' || query.day !== '' || query.amount !== '';
  const content = html`${searchForm(query)}${isAsked ? await answer(reader, query) : ''}`;
  return { title: 'Search', content };
}

function searchForm({ text, amount, asset, day }: SearchQuery): Html {
  return html`<form class="stacked card" method="get" action="/search">
    <label
      >Id, alias, phone, idempotency key, reference<span class="hint"
        >A request's id (Svc-Request-Id) shows when it came and what was made then</span
      >
      <input
        name="text"
        type="search"
        value="${text}"
        maxlength="${MAX_TEXT}"
        autocapitalize="none"
        spellcheck="false"
    /></label>
    <label
      >Day<span class="hint">In the tenant's time zone</span
      ><input name="day" type="date" value="${day}"
    /></label>
    <label
      >Amount on that day<span class="hint">Exactly, such as 1,500.00 or ${PRINTED}</span
      ><input name="amount" value="${amount}" maxlength="32"
    /></label>
    <label
      >Asset<select name="asset">
        ${options(
          ASSETS.map((one) => [one, one]),
          asset,
        )}
      </select></label
    >
    <div><button>Search</button></div>
  </form>`;
}

async function answer(reader: Reader, query: SearchQuery): Promise<Html> {
  if (query.text.length > MAX_TEXT)
    return notice('bad', `Nothing has a name of more than ${MAX_TEXT} characters.`);
  if (query.text !== '') return byText(reader, query.text);
  const windows = await windowsOf(reader, query.day);
  if (windows.length === 0) return notice('bad', 'Choose the day on which to search.');
  const asset: Asset = isAsset(query.asset) ? query.asset : ASSETS[0];
  const amount = query.amount === '' ? null : parsePrinted(query.amount, asset);
  if (query.amount !== '' && amount === null)
    return notice('bad', `"${query.amount}" is not an amount. Write it as 1,500.00 or ${PRINTED}.`);
  const from = parseRfc3339(query.from);
  const { found, stoppedAt } = await findMadeWithin(
    reader,
    from === null ? windows : continuedAt(windows, from),
    amount,
  );
  const on = new URLSearchParams({ ...query, from: toRfc3339(stoppedAt) ?? '' });
  const more =
    stoppedAt !== null &&
    notice(
      'wait',
      html`There may be more. <a href="/search?${on.toString()}">Continue the search</a>`,
    );
  return html`${await results(reader, found)}${more}${NOT_SEARCHED}`;
}

/** Shown with every result of a search by amount. */
const NOT_SEARCHED = html`<p class="soft">
  Looked through by amount and day: transfers, payouts, batches by their total, adjustments. Single
  bonuses, pay-ins and the rows of batches are not: open the account that they belong to.
</p>`;

async function byText(reader: Reader, text: string): Promise<Html> {
  const found = await findByText(reader, text);
  if (countFound(found) > 0) {
    const isCut = found.accounts.length >= MAX_FOUND;
    return html`${await results(reader, found)}${isCut && html`<p class="soft">At most ${MAX_FOUND} accounts are shown.</p>`}`;
  }
  const id = parseUuid(text);
  const at = id === null ? null : madeAt(id);
  if (at === null)
    return html`${notice('wait', 'Nothing has this id, alias, phone, idempotency key or reference.')}
      <p class="soft">
        Not looked through: names, descriptions, bank account numbers, and the tenants' own
        references of bonuses.
      </p>`;
  const near = await findMadeAfter(reader, at);
  return html`${notice(
    'wait',
    html`Nothing has this id. If it is a request's, the request arrived at ${time(at, 'UTC')}. Any
    tenant's operations of the ten seconds after it:`,
  )}${await results(reader, near)}`;
}

/**
 * Cuts the windows to the time after `from`. Returns them unchanged if `from` is after their end.
 */
function continuedAt<Window extends { readonly from: Instant; readonly to: Instant }>(
  windows: readonly Window[],
  from: Instant,
): readonly Window[] {
  const left = windows.filter(({ to }) => from < to);
  return left.length === 0
    ? windows
    : left.map((window) => ({ ...window, from: maxInstant(window.from, from) }));
}

async function results(reader: Reader, found: SearchResult): Promise<Html> {
  const names = await namesOf(reader, Object.values(found).flat());
  const cardOf: {
    readonly [Kind in keyof SearchResult]: (one: SearchResult[Kind][number]) => Html;
  } = {
    accounts: ({ id, type, name, alias, status, tenantId }) =>
      html`<h3>
          <a href="${pathOf('accounts', id)}">Account of ${displayName(type, name)}</a>
        </h3>
        ${facts([
          ['Tenant', names.tenant(tenantId)],
          ['Alias', alias],
          ['Status', tag(status)],
        ])}`,
    transfers: (transfer) => transferCard(transfer, names),
    payouts: (payout) => payoutCard(payout, names),
    batches: (batch) => batchCard(batch, names),
    adjustments: (adjustment) => adjustmentCard(adjustment, names),
    endpoints: (endpoint) => endpointCard(endpoint, names),
  };
  const cardsOf = <Kind extends keyof SearchResult>(kind: Kind): Html[] =>
    found[kind].map((one: SearchResult[Kind][number]) => cardOf[kind](one));
  const all = (Object.keys(cardOf) as (keyof SearchResult)[]).flatMap((kind) => cardsOf(kind));
  return section(
    'found',
    `Found: ${all.length}`,
    all.length === 0 ? html`<p>Nothing.</p>` : cards(all),
  );
}
