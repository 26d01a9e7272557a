import { formatAmount, type Amount } from '../../core/amount.js';
import { localTime } from '../../core/calendar.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { StaffValue } from '../../http/resource.js';
import { formToken, TOKEN_FIELD } from '../forms.js';
import { type Content, html, type Html } from '../html.js';
import type { SignedInPerson } from '../deps.js';
import { ICON_PATH, STYLE_PATH } from '../style.js';

export interface Page {
  readonly title: string;
  readonly content: Html;
  readonly status?: number;
}

export function documentOf({ title, content }: Page, person: SignedInPerson | null): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Support desk</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <link rel="icon" href="${ICON_PATH}" type="image/svg+xml" />
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header>${person === null ? html`<p class="who">Support desk</p>` : bar(person)}</header>
        <main id="main">
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.text;
}

function bar(person: SignedInPerson): Html {
  return html`<nav aria-label="Desk"><a href="/">What waits</a><a href="/search">Search</a></nav>
    <form method="post" action="/sign-out">
      ${tokenField(person.secret)}<span class="who">${person.identity.name}</span
      ><button class="quiet">Sign out</button>
    </form>`;
}

export function tokenField(secret: string): Html {
  return html`<input type="hidden" name="${TOKEN_FIELD}" value="${formToken(secret)}" />`;
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
  const shown = all.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl>
    ${shown.map(
      ([label, value]) =>
        html`<dt>${label}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Returns the facts of a resource that its definition shows on the support desk. */
export function publicFacts(shown: Readonly<Record<string, StaffValue>>): readonly Fact[] {
  return Object.entries(shown).map(([label, value]) => [
    label,
    typeof value === 'object' && value !== null ? formatAmount(value) : String(value ?? ''),
  ]);
}

/** Shows a time in its tenant's time zone. */
export function time(at: Instant, timeZone: string): Html {
  return html`<time datetime="${toRfc3339(at)}">${localTime(at, timeZone)}</time>`;
}

export function timeOrNull(at: Instant | null, timeZone: string): Html | null {
  return at === null ? null : time(at, timeZone);
}

export function amount(of: Amount): Html {
  return html`<strong>${formatAmount(of)}</strong>`;
}

const GOOD = new Set(['completed', 'posted', 'applied', 'enabled', 'active', 'delivered', 'ready']);
const WAITING = new Set([
  'pending_approval',
  'approved',
  'in_progress',
  'executing',
  'validating',
  'proposed',
  'paused',
]);

/** Shows a status. The colour adds no information. */
export function tag(status: string): Html {
  const kind = GOOD.has(status) ? 'good' : WAITING.has(status) ? 'wait' : 'bad';
  return html`<span class="tag ${kind}">${status.replaceAll('_', ' ')}</span>`;
}

export function cards(items: readonly Html[]): Html {
  return html`<ul class="cards">
    ${items.map((item) => html`<li class="card">${item}</li>`)}
  </ul>`;
}

export function section(id: string, heading: string, content: Content): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${content}
  </section>`;
}

export type ResourcePath =
  'transfers' | 'payouts' | 'batches' | 'endpoints' | 'adjustments' | 'accounts';

export function pathOf(path: ResourcePath, id: string): string {
  return `/${path}/${id}`;
}
