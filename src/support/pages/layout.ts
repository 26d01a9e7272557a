import { type Amount, type Asset, decimalText, formatAmount } from '../../core/amount.js';
import { type Instant, localTime, toRfc3339 } from '../../core/instant.js';
import type { Metadata } from '../../core/metadata.js';
import type { StaffValue } from '../../http/resource.js';
import { ICON_PATH, SCRIPT_PATH, STYLE_PATH } from '../assets.js';
import type { SignedInPerson } from '../desk.js';
import { formToken, TOKEN_FIELD } from '../forms.js';
import { RESOURCE_PATHS, type ResourcePath } from '../reading/search.js';
import { relative } from '../reading/timeline.js';
import {
  type Attributes,
  type Content,
  element,
  html,
  type Html,
  type Values,
  valuesOf,
  withValues,
} from '../html.js';

export interface Page {
  readonly title: string;
  /** Number of items, which the title of the window shows. */
  readonly count?: string | null;
  readonly beside?: Content;
  readonly content: Html;
  readonly status?: number;
}

/** `path` is marked in the navigation. */
export function documentOf(
  { title, count = null, beside, content }: Page,
  person: SignedInPerson | null,
  path: string,
): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        ${element('title', {}, `${count === null ? '' : `(${count}) `}${title} – Support desk`)}
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <link rel="icon" href="${ICON_PATH}" type="image/svg+xml" />
        <script defer src="${SCRIPT_PATH}"></script>
      </head>
      <body>
        <a class="skip" href="#main">To the content</a>
        <header>
          <a class="brand" href="/">Support desk</a>${person === null ? '' : bar(person, path)}
        </header>
        <main id="main">
          <div class="title">
            <h1>${title}</h1>
            ${beside}
          </div>
          ${content}
        </main>
        ${
          person !== null &&
          html`<footer class="soft">
            <span
              >Keys: A approves or applies, N opens the next item, / searches, Escape leaves a
              field.</span
            >
            <button class="quiet" type="button"></button>
          </footer>`
        }
      </body>
    </html> `.text;
}

const NAVIGATION = {
  '/': 'Needs attention',
  '/decided': 'Decided today',
  '/tenants': 'Tenants',
  '/search': 'Search',
};

function bar(person: SignedInPerson, path: string): Html {
  const links = Object.entries(NAVIGATION).map(([href, text]) =>
    element('a', { href, 'aria-current': href === path && 'page' }, text),
  );
  return html`<nav aria-label="Desk">${links}</nav>
    <form class="find" role="search" method="get" action="/search">
      ${element('input', { ...SEARCH_BOX, 'aria-label': 'Search', maxlength: 255 })}
      <button class="quiet">Find</button>
    </form>
    <form method="post" action="/sign-out">
      ${tokenField(person.secret)}<span class="who">${person.identity.name}</span
      ><button class="quiet">Sign out</button>
    </form>`;
}

const SEARCH_BOX = { name: 'text', type: 'search', placeholder: 'Id, name, reference, amount' };

export function tokenField(secret: string): Html {
  return hiddenField(TOKEN_FIELD, formToken(secret));
}

export function hiddenField(name: string, value: string): Html {
  return element('input', { type: 'hidden', name, value });
}

export type Choices = readonly (readonly [value: string, text: string])[];

/** Shows a labelled input, a field of several lines, or a select of which `value` is selected. */
export function field(
  label: string,
  attributes: Attributes,
  {
    hint,
    choices,
    isLong = false,
  }: { readonly hint?: string; readonly choices?: Choices; readonly isLong?: boolean } = {},
): Html {
  const { value: chosen, ...others } = attributes;
  const control = isLong
    ? element('textarea', others, String(chosen ?? '').replaceAll('\r', ''))
    : choices === undefined
      ? element('input', attributes)
      : element(
          'select',
          others,
          choices.map(([value, text]) =>
            element('option', { value, selected: value === chosen }, text),
          ),
        );
  return html`<label
    >${label}${hint !== undefined && html`<span class="hint">${hint}</span>`}${control}</label
  >`;
}

/** Shows the field for a code, which may be typed with a space. */
export function codeField(hint: string): Html {
  const attributes = { name: 'code', required: true, autocomplete: 'one-time-code' };
  const digits = { inputmode: 'numeric', pattern: '[0-9 ]{6,7}', maxlength: 7 };
  return field('Code', { ...attributes, ...digits, title: 'Six digits' }, { hint });
}

export function notice(kind: 'good' | 'bad' | 'wait', content: Content): Html {
  // Screen readers announce role `alert` at once.
  const role = kind === 'good' ? 'status' : 'alert';
  return html`<div class="notice ${kind}" role="${role}">${content}</div>`;
}

/** A label with its value. Tables align numbers to the right. Files keep a phone that is a `party`. */
export type Fact = readonly [label: string, value: Content, kind?: 'number' | 'party' | undefined];

/** Shows facts as a list. Omits facts without a value. */
export function facts(all: readonly Fact[]): Html {
  const nonEmpty = all.filter(([, value]) => !isEmpty(value));
  return element(
    'dl',
    {},
    nonEmpty.map(([label, value]) => [element('dt', {}, label), element('dd', {}, value)]),
  );
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

export function metadataFact(metadata: Metadata | null): Fact {
  const pairs = Object.entries(metadata ?? {});
  return [
    'Metadata',
    pairs.length > 0 && pairs.map(([key, value]) => html`<p>${key}: ${value}</p>`),
  ];
}

/** A time with its offset from UTC, and without it for columns whose heading has the offset. */
type Time = Html & { readonly offset: string; readonly timeZone: string; readonly short: Html };

/** Shows a time in its tenant's time zone, after a text. Returns null for null. */
export function time(
  at: Instant | null,
  timeZone: string,
  text: Content = null,
  others: Values = {},
): Time | null {
  if (at === null) return null;
  const [day = '', clock = '', offset = ''] = localTime(at, timeZone).split(' ');
  const shown = (shownTime: string): Html => {
    const own = html`<time datetime="${toRfc3339(at)}">${shownTime}</time>`;
    return text === null
      ? own
      : html`<span class="due">${text}</span> <span class="soft">${own}</span>`;
  };
  const values = { '': toRfc3339(at), ...others };
  return Object.assign(withValues(shown(`${day} ${clock} ${offset}`), values), {
    offset,
    timeZone,
    short: shown(`${day} ${clock}`),
  });
}

/** Shows an amount after a sign. */
export function money(amount: Amount, sign: '' | '+' = ''): Html {
  const values = { '': decimalText(amount), Asset: amount.asset };
  return withValues(html`<span class="amount">${sign + formatAmount(amount)}</span>`, values);
}

/** Returns a cell with an amount. */
export function sumFact(label: string, raw: bigint, asset: Asset): Fact {
  return [label, money({ raw, asset }), 'number'];
}

/** Shows the distance of an instant from `now`. Files have the instant. */
export function distance(at: Instant, now: Instant): Html {
  return html`<time datetime="${toRfc3339(at)}">${relative(at, now)}</time>`;
}

/** Shows an id. The script adds a button that copies it. */
export function idText(id: string): Html {
  return html`<code class="id">${id}</code>`;
}

const TAG_KINDS = Object.entries({
  good: ['completed', 'posted', 'applied', 'enabled', 'active', 'delivered'],
  busy: ['approved', 'in_progress', 'validating', 'ready', 'executing', 'pending'],
  wait: ['pending_approval', 'held', 'proposed', 'paused', 'retrying', 'expires soon'],
  bad: [
    'rejected',
    'failed',
    'expired',
    'returned',
    'stuck',
    'disabled',
    'partially_failed',
    'frozen',
    'failing',
  ],
});

/**
 * Shows a status, or `text` in its place. The colour only repeats the text: yellow needs a person,
 * and blue does not yet.
 */
export function tag(status: string, text = status): Html {
  const [kind] = TAG_KINDS.find(([, statuses]) => statuses.includes(text)) ?? ['none'];
  const shown = html`<span class="tag ${kind}">${text.replaceAll('_', ' ')}</span>`;
  return withValues(shown, { '': status });
}

export type Row = readonly Fact[];

/**
 * Shows a row for each item, all with the same columns, without empty columns. The first cell of a
 * row is its heading. A column whose cells have several labels is headed by all of them.
 */
export function table<Item>(items: readonly Item[], rowOf: (item: Item) => Row): Html {
  const all = items.map(rowOf);
  const isUsed = (index: number): boolean => all.some((row) => !isEmpty(row[index]?.[1]));
  const used = (all[0] ?? []).map((_, index) => index === 0 || isUsed(index));
  const rows = all.map((row) => row.filter((_, index) => used[index]));
  const columns = (rows[0] ?? []).map(([, , kind], index) => {
    const cells = rows.flatMap((row) => (isEmpty(row[index]?.[1]) ? [] : [row[index]]));
    const heading = [...new Set(cells.map((cell) => cell?.[0]))].join(' / ');
    const common = commonTime(cells.map((cell) => cell?.[1]));
    return { heading, suffix: common === null ? '' : `, ${common.offset}`, kind };
  });
  const cellOf = ([label, value, kind]: Fact, index: number): Html => {
    const suffix = columns[index]?.suffix ?? '';
    const shown = isTime(value) && suffix !== '' ? value.short : value;
    if (index === 0) return element('th', { scope: 'row', class: kind }, shown);
    if (isEmpty(value)) return element('td', { class: 'none' });
    const attributes = { 'data-label': label + suffix, class: kind };
    return element('td', attributes, html`<div>${shown}</div>`);
  };
  const headingOf = ({ heading, suffix, kind }: (typeof columns)[number]): Html =>
    element('th', { scope: 'col', class: kind }, heading + suffix);
  return element('table', {}, [
    element('thead', {}, element('tr', {}, columns.map(headingOf))),
    element(
      'tbody',
      {},
      rows.map((row) => element('tr', {}, row.map(cellOf))),
    ),
  ]);
}

function isTime(value: Content): value is Time {
  return typeof value === 'object' && value !== null && 'offset' in value;
}

/** Returns a time of a column whose times all have one offset. Null without times, or with several. */
export function commonTime(values: readonly Content[]): Time | null {
  const [first, ...others] = values.filter(isTime);
  return others.every(({ offset }) => offset === first?.offset) ? (first ?? null) : null;
}

export function section(id: string, heading: string, content: Content): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${heading}</h2>
    ${content}
  </section>`;
}

/** Shows items in a section with a table, or nothing without items. */
export function tableSection<Item>(
  id: string,
  heading: string,
  items: readonly Item[],
  rowOf: (item: Item) => Row,
): Content {
  return items.length > 0 && section(id, heading, table(items, rowOf));
}

/** Returns the query of an address, without empty parts. */
export function queryText(parts: Readonly<Record<string, string>>): string {
  const given = Object.entries(parts).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

export function link(path: ResourcePath, id: string, content: Content, query = ''): Html {
  const shown = html`<a href="${pathOf(path, id)}${query}">${content}</a>`;
  return withValues(shown, valuesOf(content)[0]);
}

/** Links the text to the resource if it has a page. */
export function relatedLink(type: string, id: string, text: string | null): Content {
  const path = RESOURCE_PATHS[type];
  return path === undefined ? text : link(path, id, text);
}

/** Returns the fact that names a resource's tenant. */
export function tenantFact(id: string, name: string): Fact {
  return ['Tenant', link('tenants', id, name)];
}

export function pathOf(path: ResourcePath, id: string): string {
  return `/${path}/${id}`;
}
