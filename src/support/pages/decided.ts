import { parseUuid } from '../../core/ids.js';
import { events } from '../../db/entities/events.js';
import { countDecided, readDecided, readLocalDays } from '../../staff/decided.js';
import { type SignedInPerson, noSuchPage } from '../desk.js';
import { type Content, html, plainText, valuesOf, withValues } from '../html.js';
import { inWords } from '../reading/payouts.js';
import { actionLine } from '../reading/timeline.js';
import { namesOf } from '../reading/transfers.js';
import { NO_ROWS, type ReadRows } from './export.js';
import { dayFault } from './filter.js';
import { field, type Page, relatedLink, type Row, tenantFact, time } from './layout.js';
import { listContent, type PageOfList } from './list.js';
import { factsOfAll, type View } from './rows.js';

/** The staff's decisions of a day, by person. */

/** `day` is '' for today, and `person` is '' for all staff. */
export type DecidedQuery = Readonly<Record<'day' | 'person', string>>;

/** Reads the staff's actions of a day, which begins at midnight of each tenant. */
export function readDecidedRows(view: View, { day, person }: DecidedQuery): ReadRows {
  const { reader, now } = view;
  return async (after, limit) => {
    const before = parseUuid(after);
    if (before === null && after !== '') throw noSuchPage();
    const wrong = dayFault(day);
    if (wrong !== null) return { ...NO_ROWS, ...wrong };
    const days = await readLocalDays(reader, day, now);
    const found = await readDecided(reader, days, { name: person, before }, limit + 1);
    const items = found.slice(0, limit);
    const subjects = items.flatMap(({ subjectId }) => parseUuid(subjectId) ?? []);
    const resent = subjects.length === 0 ? [] : await reader.select(events, { id: subjects });
    const about = [...subjects, ...resent.map(({ resourceId }) => resourceId)];
    const [names, facts] = await Promise.all([namesOf(reader, items), factsOfAll(view, about)]);
    const rows = items.map((row): Row => {
      const { tenantId, subjectType, subjectId } = row;
      const timeZone = names.timeZone(tenantId);
      const { what, by, details, said } = actionLine(row, new Map(), timeZone);
      const event = resent.find(({ id }) => id === subjectId);
      const fact = (...labels: readonly string[]): Content =>
        facts.get(event?.resourceId ?? subjectId)?.find(([label]) => labels.includes(label))?.[1];
      const noun = event === undefined ? inWords(subjectType) : `event ${event.type}`;
      const item = [noun, plainText(fact('Amount'))].filter((text) => text);
      const shown = relatedLink(subjectType, subjectId, item.join(' of '));
      const [{ '': Amount = null, Asset = null } = {}] = valuesOf(fact('Amount'));
      const values = { '': subjectType, 'Item id': subjectId, Amount, Asset };
      return [
        ['Item', withValues(html`${shown}`, values)],
        ['From → to', fact('From → to', 'Account')],
        ['Description', fact('Description', 'Batch', 'Reason', 'Address')],
        ['Action', what],
        ['By', by && `${by.name} (${by.as})`],
        ['Time', time(row.at, timeZone)],
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Reason', withValues(html`${details}`, said)],
      ];
    });
    const ids = items.map(({ id }) => id);
    return { ids, rows, next: found.length > limit ? (ids.at(-1) ?? null) : null };
  };
}

export async function decidedPage(
  view: View,
  query: DecidedQuery,
  place: PageOfList,
  person: SignedInPerson,
): Promise<Page> {
  const { reader, now } = view;
  const list = { path: '/decided', filter: query, ...place, person, now };
  const [shown, counts] = await Promise.all([
    listContent(list, readDecidedRows(view, query)),
    readLocalDays(reader, query.day, now).then((days) => countDecided(reader, days)),
  ]);
  const named = new Map([...(query.person === '' ? [] : [[query.person, 0] as const]), ...counts]);
  const all = [...counts.values()].reduce((one, other) => one + other, 0);
  const people = [...named].map(([name, count]) => [name, `${name}: ${count}`] as const);
  const choices = [['', `Everybody: ${all}`] as const, ...people];
  const content = html`<form class="filter" method="get" action="/decided">
      ${field('Day', { name: 'day', type: 'date', value: query.day })}
      ${field('By', { name: 'person', value: query.person }, { choices })}
      <button class="quiet">Filter</button>
    </form>
    ${shown}`;
  const when = query.day === '' ? 'today' : dayFault(query.day) === null && `on ${query.day}`;
  return { title: `Decided ${when || ''}`.trim(), content };
}
