import { parseUuid } from '../../core/ids.js';
import { events } from '../../db/entities/events.js';
import {
  countDecided,
  type DecidedFilter,
  DECISIONS,
  readDecided,
  readLocalDays,
} from '../../staff/decided.js';
import { type SignedInPerson, noSuchPage } from '../desk.js';
import { type Content, html, plainText, valuesOf, withValues } from '../html.js';
import { inWords } from '../reading/payouts.js';
import { actionLine } from '../reading/timeline.js';
import { namesOf } from '../reading/transfers.js';
import { NO_ROWS, type ReadRows } from './export.js';
import { DAY_FIELDS, type Fault, filterForm, type ListField, rangesOf } from './filter.js';
import { type Page, relatedLink, type Row, tenantFact, time } from './layout.js';
import { listContent, type PageOfList } from './list.js';
import { factsOfAll, type View } from './rows.js';
import { findTenantId, tenantField } from './waiting.js';

/** The staff's decisions of some days, by person. */

export const DECIDED_FIELDS = ['day', 'until', 'person', 'tenant', 'action'] as const;
/** '' is any, and two days of '' are today. A day alone is the only one. */
export type DecidedQuery = Readonly<Record<(typeof DECIDED_FIELDS)[number], string>>;

const MAX_DAYS = 31;

function daysOf({ day, until }: DecidedQuery): readonly [from: string, to: string] {
  return [day || until, until || day];
}

async function filterOf(
  { reader, now }: View,
  query: DecidedQuery,
): Promise<DecidedFilter | Fault> {
  const { tenant, action } = query;
  const [from, to] = daysOf(query);
  const ranges = rangesOf({ day: from, until: to }, 'UTC');
  if ('fault' in ranges) return ranges;
  if ((ranges.to ?? 0) - (ranges.from ?? 0) >= MAX_DAYS * 86_400_000)
    return { fault: `Choose at most ${MAX_DAYS} days.` };
  const actions = DECISIONS.filter((one) => action === '' || one === action);
  if (actions.length === 0) return { fault: `"${action}" is not a decision.` };
  const owner = await findTenantId(reader, tenant);
  if ('fault' in owner) return owner;
  return { ...owner, actions, days: await readLocalDays(reader, from, to, now) };
}

/** Reads the staff's actions of days, which begin at midnight of each tenant. */
export function readDecidedRows(
  view: View,
  query: DecidedQuery,
  known?: DecidedFilter | Fault,
): ReadRows {
  const { reader } = view;
  return async (after, limit) => {
    const before = parseUuid(after);
    if (before === null && after !== '') throw noSuchPage();
    const filter = known ?? (await filterOf(view, query));
    if ('fault' in filter) return { ...NO_ROWS, ...filter };
    const found = await readDecided(reader, filter, { name: query.person, before }, limit + 1);
    const items = found.slice(0, limit);
    const subjects = items.flatMap(({ subjectId }) => parseUuid(subjectId) ?? []);
    const resent = subjects.length === 0 ? [] : await reader.select(events, { id: subjects });
    const about = [...subjects, ...resent.map(({ resourceId }) => resourceId)];
    const [names, facts] = await Promise.all([namesOf(reader, items), factsOfAll(view, about)]);
    const rows = items.map((row): Row => {
      const { tenantId, subjectType, subjectId } = row;
      const timeZone = names.timeZone(tenantId);
      const { what, by, details, said } = actionLine(row, names, timeZone);
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
  const filter = await filterOf(view, query);
  const [shown, tenant, counts] = await Promise.all([
    listContent(list, readDecidedRows(view, query, filter)),
    tenantField(reader),
    'fault' in filter ? new Map<string, number>() : countDecided(reader, filter),
  ]);
  const named = new Map([...(query.person === '' ? [] : [[query.person, 0] as const]), ...counts]);
  const all = [...counts.values()].reduce((one, other) => one + other, 0);
  const people = [...named].map(([name, count]) => [name, `${name}: ${count}`] as const);
  const fields: readonly ListField[] = [
    ...DAY_FIELDS,
    { name: 'person', label: 'By', options: [['', `Everybody: ${all}`], ...people] },
    { name: 'action', label: 'Action', choices: DECISIONS },
    tenant,
  ];
  const content = html`${filterForm('/decided', fields, query)}${shown}`;
  const [from, to] = daysOf(query);
  const when = from === '' ? 'today' : from === to ? `on ${from}` : `from ${from} to ${to}`;
  return { title: 'fault' in filter ? 'Decided' : `Decided ${when}`, content };
}
