import { type Amount, type Asset, formatAmount } from '../../core/amount.js';
import { type Instant, localTime, toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { StaffValue } from '../../http/resource.js';
import { formToken, TOKEN_FIELD } from '../forms.js';
import { type Content, html, type Html } from '../html.js';
import type { SignedInPerson } from '../deps.js';
import { ICON_PATH, SCRIPT_PATH, STYLE_PATH } from '../assets.js';

export interface Page {
  readonly title: string;
  readonly beside?: Content;
  readonly content: Html;
  readonly status?: number;
}

export function documentOf(
  { title, beside, content }: Page,
  person: SignedInPerson | null,
): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Support desk</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <link rel="icon" href="${ICON_PATH}" type="image/svg+xml" />
        <script defer src="${SCRIPT_PATH}"></script>
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header>
          <a class="brand" href="/">Support desk</a>${person === null ? '' : bar(person)}
        </header>
        <main id="main">
          <div class="title">
            <h1>${title}</h1>
            ${beside}
          </div>
          ${content}
        </main>
        ${person !== null && html`<footer class="soft">Keys: A approves or applies, N opens the next item, / searches.</footer>`}
      </body>
    </html> `.text;
}

function bar(person: SignedInPerson): Html {
  return html`<nav aria-label="Desk">
      <a href="/">Needs attention</a><a href="/waiting/transfers">To approve</a>
      <a href="/tenants">Tenants</a><a href="/search">Search</a>
    </nav>
    <form class="find" role="search" method="get" action="/search">
      <input
        name="text"
        type="search"
        aria-label="Search"
        placeholder="Id, name, reference, amount"
        maxlength="255"
      />
      <button class="quiet">Find</button>
    </form>
    <form method="post" action="/sign-out">
      ${tokenField(person.secret)}<span class="who">${person.identity.name}</span
      ><button class="quiet">Sign out</button>
    </form>`;
}

export function tokenField(secret: string): Html {
  return hiddenField(TOKEN_FIELD, formToken(secret));
}

export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

export function notice(kind: 'good' | 'bad' | 'wait', content: Content): Html {
  // Screen readers announce role `alert` at once.
  return kind === 'good'
    ? html`<div class="notice good" role="status">${content}</div>`
    : html`<div class="notice ${kind}" role="alert">${content}</div>`;
}

/** Returns the options of a `<select>`, with `chosen` selected. */
export function options(
  offered: readonly (readonly [value: string, text: string])[],
  chosen: string | null,
): Content {
  return offered.map(([value, text]) =>
    value === chosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`,
  );
}

export type Fact = readonly [label: string, value: Content];

/** Shows facts as a list. Omits facts without a value. */
export function facts(all: readonly Fact[]): Html {
  const nonEmpty = all.filter(([, value]) => !isEmpty(value));
  return html`<dl>
    ${nonEmpty.map(
      ([label, value]) =>
        html`<dt>${label}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function isEmpty(value: Content): boolean {
  return value === null || value === undefined || value === false || value === '';
}

export function publicFacts(fields: Readonly<Record<string, StaffValue>>): readonly Fact[] {
  return Object.entries(fields).map(([label, value]) => [
    label,
    typeof value === 'object' && value !== null ? formatAmount(value) : String(value ?? ''),
  ]);
}

/** Shows a time in its tenant's time zone. Returns null for null. */
export function time(at: Instant | null, timeZone: string): Html | null {
  return at === null
    ? null
    : html`<time datetime="${toRfc3339(at)}">${localTime(at, timeZone)}</time>`;
}

export function amount(of: Amount): Html {
  return html`<strong class="amount">${formatAmount(of)}</strong>`;
}

export function money(raw: bigint, asset: Asset): Html {
  return html`<span class="amount">${formatAmount({ raw, asset })}</span>`;
}

const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** Formats the distance between two instants in its largest unit, such as "12 min" or "3 days". */
export function distance(one: Instant, other: Instant): string {
  const ms = Math.abs(one - other);
  const [unit, size] = UNITS.find(([, least]) => ms >= least) ?? ['s', 1_000];
  const count = Math.floor(ms / size);
  return unit === 'day' ? counted(count, unit) : `${count} ${unit}`;
}

/** Shows what happens or happened, such as "Expires in 12 min", with its time. */
export function dated(text: string, at: Instant, timeZone: string): Html {
  return html`<span class="due">${text}</span> <span class="soft">${time(at, timeZone)}</span>`;
}

/** Shows an id. The script adds a button that copies it. */
export function idText(id: string): Html {
  return html`<code class="id">${id}</code>`;
}

const TAG_KINDS = Object.entries({
  good: ['completed', 'posted', 'applied', 'enabled', 'active', 'delivered', 'ready'],
  wait: [
    ...['pending_approval', 'approved', 'in_progress', 'executing', 'validating'],
    ...['proposed', 'paused', 'pending', 'retrying'],
  ],
  bad: [
    ...['rejected', 'failed', 'expired', 'returned', 'stuck', 'disabled', 'partially_failed'],
    ...['frozen', 'canceled', 'failing'],
  ],
});

/** Shows a status. The colour adds no information. */
export function tag(status: string): Html {
  const [kind] = TAG_KINDS.find(([, statuses]) => statuses.includes(status)) ?? ['none'];
  return html`<span class="tag ${kind}">${status.replaceAll('_', ' ')}</span>`;
}

/** Shows rows with the same columns. The first cell of a row is its heading. */
export function table(label: string, rows: readonly (readonly Fact[])[]): Html {
  const headings = (rows[0] ?? []).map(([heading]) => html`<th scope="col">${heading}</th>`);
  const lines = rows.map(([first, ...cells]) => {
    const rest = cells.map(([heading, value]) =>
      isEmpty(value)
        ? html`<td class="none"></td>`
        : html`<td data-label="${heading}"><div>${value}</div></td>`,
    );
    return html`<tr>
      <th scope="row">${first?.[1]}</th>
      ${rest}
    </tr>`;
  });
  return html`<table>
    <caption class="hidden">
      ${label}
    </caption>
    <thead>
      <tr>
        ${headings}
      </tr>
    </thead>
    <tbody>
      ${lines}
    </tbody>
  </table>`;
}

export function section(id: string, heading: string, content: Content): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${content}
  </section>`;
}

/** Shows rows in a section with a table, or nothing without rows. */
export function tableSection(
  id: string,
  heading: string,
  rows: readonly (readonly Fact[])[],
  label = heading,
): Content {
  return rows.length > 0 && section(id, heading, table(label, rows));
}

/** Links with their text and address to the pages before and after, as far as there are any. */
export function pageLinks(
  previous: readonly [text: string, href: string] | null,
  next: readonly [text: string, href: string] | null,
): Html {
  return html`<nav class="pages" aria-label="Pages">
    ${previous && html`<a class="button" rel="prev" href="${previous[1]}">${previous[0]}</a>`}
    ${next && html`<a class="button" rel="next" href="${next[1]}">${next[0]}</a>`}
  </nav>`;
}

export function link(path: ResourcePath, id: string, text: string): Html {
  return html`<a href="${pathOf(path, id)}">${text}</a>`;
}

export type ResourcePath =
  'transfers' | 'payouts' | 'batches' | 'endpoints' | 'adjustments' | 'accounts' | 'tenants';

/** Returns the fact that names a resource's tenant. */
export function tenantFact(id: string, name: string): Fact {
  return ['Tenant', html`<a class="plain" href="${pathOf('tenants', id)}">${name}</a>`];
}

export function pathOf(path: ResourcePath, id: string): string {
  return `/${path}/${id}`;
}
