import { type Asset, ASSETS, isAsset } from '../../core/amount.js';
import { parseUuid } from '../../core/ids.js';
import { type Instant, instant, parseRfc3339, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { displayName } from '../../accounts/display-name.js';
import { html, type Html } from '../html.js';
import { namesOf } from '../reading/names.js';
import { countFound, findByText, findMadeAfter, findMadeWithin, type Found, madeAt } from '../reading/search.js';
import { parseUnits } from '../units.js';
import { cards, facts, notice, options, type Page, pathOf, section, tag, time } from './layout.js';
import { adjustmentCard, batchCard, endpointCard, payoutCard, transferCard } from './waiting.js';

/** Search by whatever a customer can name. */

interface Wanted {
  readonly text: string;
  readonly amount: string;
  readonly asset: string;
  /** `2026-11-22`, in UTC. */
  readonly day: string;
  /** The time, in RFC 3339, at which an interrupted search of that day continues. */
  readonly from: string;
}

const MAX_TEXT = 255;
const DAY_MS = 86_400_000;

export async function searchPage(reader: Reader, wanted: Wanted): Promise<Page> {
  const isAsked = wanted.text !== '' || wanted.day !== '' || wanted.amount !== '';
  const content = html`${searchForm(wanted)}${isAsked ? await answer(reader, wanted) : ''}`;
  return { title: 'Search', content };
}

function searchForm({ text, amount, asset, day }: Wanted): Html {
  return html`<form class="stacked card" method="get" action="/search">
    <label
      >Id, alias, phone, idempotency key, reference<span class="hint"
        >A request's id (Svc-Request-Id) shows when it came and what was made then</span
      >
      <input name="text" type="search" value="${text}" maxlength="${MAX_TEXT}" autocapitalize="none" spellcheck="false"
    /></label>
    <label
      >Day<span class="hint">In UTC, such as 2026-11-22</span
      ><input name="day" value="${day}" pattern="[0-9]{4}-[0-9]{2}-[0-9]{2}" maxlength="10"
    /></label>
    <label
      >Amount on that day<span class="hint">As 1500.00, exactly</span
      ><input name="amount" value="${amount}" inputmode="decimal" maxlength="24"
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

async function answer(reader: Reader, wanted: Wanted): Promise<Html> {
  if (wanted.text.length > MAX_TEXT) return notice('bad', `Nothing has a name of more than ${MAX_TEXT} characters.`);
  if (wanted.text !== '') return byText(reader, wanted.text);
  const day = dayOf(wanted);
  if (day === null) return notice('bad', 'An amount is looked for on a day: name one, as 2026-11-22.');
  const asset: Asset = isAsset(wanted.asset) ? wanted.asset : ASSETS[0];
  const raw = wanted.amount === '' ? null : parseUnits(wanted.amount, asset);
  if (wanted.amount !== '' && raw === null) return notice('bad', 'The amount is written as 1500.00.');
  const { found, stoppedAt } = await findMadeWithin(reader, day, raw === null ? null : { raw, asset });
  const on = new URLSearchParams({ ...wanted, from: stoppedAt === null ? '' : toRfc3339(stoppedAt) });
  const more =
    stoppedAt === null
      ? ''
      : notice(
          'wait',
          html`Shown is what was made until ${time(stoppedAt)}.
            <a href="/search?${on.toString()}">Search on from there</a>`,
        );
  return html`${await results(reader, found)}${more}${NOT_SEARCHED}`;
}

/** Shown with every result of a search by amount: what is missing may be here. */
const NOT_SEARCHED = html`<p class="soft">
  Looked through by amount and day: transfers, payouts, batches by their total, adjustments. Single bonuses, pay-ins and
  the rows of batches are not: open the account that they belong to.
</p>`;

async function byText(reader: Reader, text: string): Promise<Html> {
  const found = await findByText(reader, text);
  if (countFound(found) > 0) return results(reader, found);
  const id = parseUuid(text);
  const at = id === null ? null : madeAt(id);
  if (at === null)
    return html`${notice('wait', 'Nothing has this id, alias, phone, idempotency key or reference.')}
      <p class="soft">
        Not looked through: names, descriptions, bank account numbers, and the tenants' own references of bonuses.
      </p>`;
  const near = await findMadeAfter(reader, at);
  return html`${notice(
    'wait',
    html`Nothing has this id. If it is a request's, the request came ${time(at)}; requests are written down in the log
    of the API alone, by this id. Made within the ten seconds after it, by any tenant:`,
  )}${await results(reader, near)}`;
}

function dayOf({ day, from }: Wanted): { readonly from: Instant; readonly to: Instant } | null {
  const begins = /^\d{4}-\d{2}-\d{2}$/.test(day) ? parseRfc3339(`${day}T00:00:00Z`) : null;
  if (begins === null) return null;
  const on = parseRfc3339(from) ?? begins;
  const isWithin = on >= begins && on < begins + DAY_MS;
  return { from: isWithin ? on : begins, to: instant(begins + DAY_MS) };
}

async function results(reader: Reader, found: Found): Promise<Html> {
  const names = await namesOf(reader, Object.values(found).flat());
  const cardOf: { readonly [Kind in keyof Found]: (one: Found[Kind][number]) => Html } = {
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
  const cardsOf = <Kind extends keyof Found>(kind: Kind): Html[] =>
    found[kind].map((one: Found[Kind][number]) => cardOf[kind](one));
  const all = (Object.keys(cardOf) as (keyof Found)[]).flatMap((kind) => cardsOf(kind));
  return section('found', `Found: ${all.length}`, all.length === 0 ? html`<p>Nothing.</p>` : cards(all));
}
