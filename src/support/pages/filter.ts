import {
  type AmountRange,
  type Asset,
  ASSETS,
  EXAMPLE_ASSET,
  formatAmount,
  isAsset,
  MAX_RAW,
} from '../../core/amount.js';
import { type Instant, instant, parseDay } from '../../core/instant.js';
import { element, html, type Html } from '../html.js';
import { inWords } from '../reading/payouts.js';
import { amountsBeginning } from '../reading/term-search.js';
import { type Choices, field, queryText } from './layout.js';

/** Fields by which lists and the search are restricted. */

/** Values of fields by their names. '' or no value restricts nothing. */
export type ListFilter = Readonly<Record<string, string>>;

/** A field of a filter. With choices or options it is a select, and with suggestions any text. */
export interface ListField {
  readonly name: string;
  readonly label: string;
  readonly type?: 'number' | 'date' | 'search';
  readonly choices?: readonly string[];
  /** The choices as people read them, with that of any value. */
  readonly options?: Choices;
  readonly suggestions?: readonly string[];
  readonly placeholder?: string;
}

/** Example of an amount as the desk prints it. */
const PRINTED = formatAmount({ raw: 150_000n, asset: EXAMPLE_ASSET });
const AMOUNT: ListField = { name: 'amount', label: 'Amount or from..to', placeholder: PRINTED };
const ASSET: ListField = { name: 'asset', label: 'Asset', choices: ASSETS };
export const AMOUNT_FIELDS: readonly ListField[] = [AMOUNT, ASSET];
export const DAY_FIELDS: readonly ListField[] = [
  { name: 'day', label: 'From day', type: 'date' },
  { name: 'until', label: 'To day', type: 'date' },
];
export const RANGE_FIELDS: readonly ListField[] = [...DAY_FIELDS, ...AMOUNT_FIELDS];
export const TEXT: ListField = { name: 'text', label: 'Part of a description or name' };
export const MAX_TEXT = 255;

export function filterForm(
  path: string,
  fields: readonly ListField[],
  filter: ListFilter,
  button: 'Filter' | 'Search' = 'Filter',
): Html {
  const inputs = fields.map(
    ({ name, label, type, choices, suggestions, placeholder, ...given }) => {
      const named = choices?.map((one) => [one, inWords(one) ?? one] as const);
      const options = given.options ?? (named && [['', 'Any'], ...named]);
      const list = suggestions && `${name}-list`;
      const text = { type, placeholder, list, maxlength: MAX_TEXT, autocapitalize: 'none' };
      const attributes = { name, ...(options === undefined && text), value: filter[name] };
      return html`${field(label, attributes, options && { choices: options })}${
        suggestions &&
        element(
          'datalist',
          { id: list },
          suggestions.map((value) => element('option', { value })),
        )
      }`;
    },
  );
  return html`<form class="filter" method="get" action="${path}">
    ${inputs} ${element('button', { class: button === 'Filter' && 'quiet' }, button)}
    ${button === 'Filter' && queryText(filter) !== '' && html`<a href="${path}">Show all</a>`}
  </form>`;
}

export function notAnAmount(text: string): string {
  return `"${text}" is not an amount. Write it as 1,500.00 or ${PRINTED}.`;
}

export interface Fault {
  readonly fault: string;
}

/** Returns a message unless the text is a day or ''. */
function dayFault(day: string): Fault | null {
  return day === '' || parseDay(day, 'UTC') !== null ? null : { fault: `"${day}" is not a day.` };
}

interface Ranges {
  /** Null for any amount. */
  readonly amounts: readonly AmountRange[] | null;
  readonly from?: Instant;
  /** Inclusive. */
  readonly to?: Instant;
}

const EVERY_AMOUNT = ASSETS.map((asset): AmountRange => ({ asset, least: 0n, most: MAX_RAW }));

/** Returns the amounts that begin with the text, or those between the two of `1,000..2,500`. */
function amountsOf(text: string, asset: Asset | null): readonly AmountRange[] {
  const [from = '', to = from, ...others] = text.split('..').map((one) => one.trim());
  const startingWith = (bound: string): readonly AmountRange[] =>
    bound === '' && from !== to ? EVERY_AMOUNT : amountsBeginning(bound, asset);
  const highest = others.length > 0 ? [] : startingWith(to);
  return startingWith(from).flatMap((low) =>
    highest
      .filter((high) => high.asset === low.asset && high.most >= low.least)
      .map(({ most }) => ({ ...low, most })),
  );
}

/** Returns the amounts that `amount` names, or all of `asset`, and the days in the time zone. */
export function rangesOf(
  { amount = '', asset: name = '', day = '', until = '' }: ListFilter,
  timeZone: string,
): Ranges | Fault {
  const asset = isAsset(name) ? name : null;
  const amounts = amountsOf(amount, asset);
  if (amount !== '' && amounts.length === 0) return { fault: notAnAmount(amount) };
  const wrong = dayFault(day) ?? dayFault(until);
  if (wrong !== null) return wrong;
  const [first, last] = [parseDay(day, timeZone), parseDay(until, timeZone)];
  if (first !== null && last !== null && last.to <= first.from)
    return { fault: `"${until}" is before "${day}".` };
  const whole = asset && [{ asset, least: 0n, most: MAX_RAW }];
  return {
    amounts: amount === '' ? whole : amounts,
    ...(first && { from: first.from }),
    ...(last && { to: instant(last.to - 1) }),
  };
}
