import { asUuid, parseUuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { TimePosition } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import { tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { noSuchPage } from '../failures.js';
import { type Content, html } from '../html.js';
import { namesOf } from '../reading/transfers.js';
import type { ListOfResource, PageContext, ResourceKind } from '../resources/resource-kind.js';
import type { Site } from '../site.js';
import { type Page, pageLinks, pathOf, section, tenantFact, time } from './layout.js';
import { tableOf } from './rows.js';

/** Lists in pages: those of a resource, of which its own page shows the beginning, and tenants. */

const OF_A_PAGE = 25;
const SHOWN_FIRST = 10;
const NONE = html`<p class="card">There are none here.</p>`;

export async function contextOf(
  { database: { reader }, clock }: Site,
  row: Parameters<typeof namesOf>[1][number],
): Promise<PageContext> {
  const names = await namesOf(reader, [row]);
  const timeZone = names.timeZone(row.tenantId);
  return {
    ...{ reader, now: clock(), names, timeZone },
    time: (at) => time(at, timeZone),
    tenant: tenantFact(row.tenantId, names.tenant(row.tenantId)),
  };
}

/** Returns a section for each list that has rows. */
export function listSections<Resource>(
  kind: ResourceKind<Resource>,
  resource: Resource,
  context: PageContext,
): Promise<Content> {
  const path = pathOf(kind.name, kind.rowOf(resource).id);
  const sections = (kind.lists ?? []).map(async ({ name, read }) => {
    const { rows, next } = await read(resource, context, '', SHOWN_FIRST);
    const all = next !== null && html`<p><a href="${path}/${name}">All ${name}</a></p>`;
    return rows && section(name, `Newest ${name}`, [rows, all]);
  });
  return Promise.all(sections);
}

export async function listPage<Resource>(
  site: Site,
  kind: ResourceKind<Resource>,
  resource: Resource,
  { name, read }: ListOfResource<Resource>,
  before: string,
): Promise<Page> {
  const row = kind.rowOf(resource);
  const { rows, next } = await read(resource, await contextOf(site, row), before, OF_A_PAGE);
  const title = kind.titleOf(resource);
  const path = pathOf(kind.name, row.id);
  const content = html`<p><a href="${path}">${title}</a></p>
    ${rows || NONE}
    ${pageLinks(
      before === '' ? null : ['Newest', `${path}/${name}`],
      next === null ? null : ['Older', `${path}/${name}?before=${next}`],
    )}`;
  return { title: `${title}: ${name}`, content };
}

/** Lists tenants by name, from the one after which the page before ends ('' for the first page). */
export async function tenantsPage(reader: Reader, now: Instant, after: string): Promise<Page> {
  const found = await reader.list(
    tenants,
    `WHERE name>${literal(tenants, 'name', after)} ORDER BY name LIMIT ${OF_A_PAGE + 1}`,
  );
  const items = found.slice(0, OF_A_PAGE);
  const next = new URLSearchParams({ after: items.at(-1)?.name ?? '' });
  const content = html`${items.length === 0 ? NONE : await tableOf(reader, now, 'tenants', 'Tenants', items)}
  ${pageLinks(
    after === '' ? null : ['First page', '/tenants'],
    found.length > items.length ? ['Next page', `/tenants?${next.toString()}`] : null,
  )}`;
  return { title: 'Tenants', content };
}

export function printPosition(position: TimePosition | null): string | null {
  return position && `${position.createdAt}.${position.id}`;
}

/** Returns null for ''. Throws `DeskError` for other text that `printPosition` does not print. */
export function parsePosition(text: string): TimePosition | null {
  if (text === '') return null;
  const [, at = '', id = ''] = /^([0-9]{1,15})\.(.*)$/.exec(text) ?? [];
  if (parseUuid(id) === null) throw noSuchPage();
  return { createdAt: instant(Number.parseInt(at, 10)), id: asUuid(id) };
}
