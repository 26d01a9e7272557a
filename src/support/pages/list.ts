import { counted } from '../../core/collections.js';
import type { Instant } from '../../core/instant.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, element, html, type Html } from '../html.js';
import { downloadForm, type ReadRows, summaryOf } from './export.js';
import type { ListFilter } from './filter.js';
import { type Fact, notice, queryText, table, time, commonTime } from './layout.js';
import { NONE } from './rows.js';

const ROWS_PER_PAGE = 25;
/** Number of earlier pages that an address keeps. Between their positions is a sign that none has. */
const MAX_BACK = 20;
const BETWEEN = '~';
const MORE = 'Only a part of the list was searched. The search continues on the next page.';

export interface PageOfList {
  /** Position after which the page begins; '' for the first page. */
  readonly after: string;
  /** Whether all rows of a filtered list are counted and summed, and not only those of a list with one page. */
  readonly isSummed: boolean;
}

interface List extends PageOfList {
  readonly path: string;
  readonly filter: ListFilter;
  readonly person: SignedInPerson;
  readonly now: Instant;
  /** Set if rows can be selected for the form `set`; `all` if all are selected. */
  readonly selection?: 'some' | 'all' | undefined;
}

/** Shows a page of a list, with links to the other pages and its download. */
export async function listContent(
  { path, filter, after, isSummed, person, now, selection }: List,
  read: ReadRows,
): Promise<Content> {
  const part = await read(after.split(BETWEEN).at(-1) ?? '', ROWS_PER_PAGE);
  const { ids, rows, next, fault } = part;
  const given = Object.entries(filter).filter(([name, value]) => name !== 'after' && value !== '');
  const isFirst = after === '' && (rows.length > 0 || next !== null);
  const hasSummary = isFirst && given.length > 0;
  const summary =
    hasSummary && (next === null || isSummed ? await summaryOf(part, read) : sumLink(path, filter));
  const pathAfter = (position: string): string => path + queryText({ ...filter, after: position });
  const zone = commonTime(rows.flatMap((row) => row.map(([, at]) => at)))?.timeZone ?? 'UTC';
  const shown = table([...rows.entries()], ([index, row]) => {
    const [first, ...others] = row;
    if (selection === undefined || first === undefined) return row;
    const [heading, content, kind] = first;
    const box = checkbox(ids[index] ?? '', index, selection === 'all');
    return [[heading, [box, content], kind] satisfies Fact, ...others];
  });
  return html`<p class="print">
      Printed by ${person.identity.name} at ${time(now, zone)}. Filter:
      ${given.map((pair) => pair.join(' ')).join('; ') || 'none'}. ${counted(rows.length, 'row')} on
      this page.
    </p>
    ${summary && html`<p class="soft">${summary}</p>`}
    ${rows.length > 0 ? shown : fault === undefined ? NONE : notice('bad', fault)}
    ${next !== null && rows.length < ROWS_PER_PAGE && notice('wait', MORE)}
    ${pageLinks(pathAfter, after, next)} ${rows.length > 0 && downloadForm(pathAfter(''), person)}`;
}

function sumLink(path: string, filter: ListFilter): Html {
  const href = path + queryText({ ...filter, after: '', sum: 'all' });
  return html`<a class="screen" href="${href}">Count and sum all</a>`;
}

function checkbox(id: string, index: number, checked: boolean): Html {
  const attributes = { type: 'checkbox', name: 'item', value: id, form: 'set', checked };
  return element('input', { ...attributes, 'aria-label': `Select row ${index + 1}` });
}

/** Shows links to the first, previous and next page of a list, if they lead to other pages. */
function pageLinks(
  pathAfter: (position: string) => string,
  after: string,
  next: string | null,
): Html {
  const linkTo = (rel: string, text: string, position: string): Html =>
    element('a', { class: 'button', rel, href: pathAfter(position) }, text);
  const passed = after === '' ? [] : after.split(BETWEEN);
  const earlier = passed.slice(0, -1);
  const kept = next === null ? [] : [...passed, next];
  // An empty position stands for pages that the address has lost.
  const on = kept.length > MAX_BACK ? ['', ...kept.slice(-MAX_BACK)] : kept;
  const isKnown = after !== '' && earlier.at(-1) !== '';
  return html`<nav class="pages" aria-label="Pages">
    ${earlier.length > 0 && linkTo('first', 'First page', '')}
    ${isKnown && linkTo('prev', 'Previous page', earlier.join(BETWEEN))}
    ${next !== null && linkTo('next', 'Next page', on.join(BETWEEN))}
  </nav>`;
}
