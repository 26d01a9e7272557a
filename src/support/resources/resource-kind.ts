import type { Asset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { Decision } from '../../operations/decision-context.js';
import type { DeskAction } from '../actions/action.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, html } from '../html.js';
import type { ListRows, ReadRows } from '../pages/export.js';
import { filterForm, type ListField, type ListFilter } from '../pages/filter.js';
import { type Fact, type Page, pathOf, section, table, tenantFact, time } from '../pages/layout.js';
import { listContent, type PageOfList } from '../pages/list.js';
import { type HistorySource, relative } from '../reading/timeline.js';
import { namesOf, type Owned } from '../reading/transfers.js';
import type { ResourcePath } from '../reading/search.js';
import type { WaitingKind } from '../reading/waiting.js';
import type { Site } from '../site.js';

export interface ResourceKind<Resource> {
  readonly name: ResourcePath;
  /** The type of the resource in the audit log. */
  readonly subjectType: string;
  readonly actions: readonly DeskAction<Resource>[];
  readonly lists?: readonly ListOfResource<Resource>[];
  /** Returns undefined if no resource of this kind has the id. */
  find(site: Site, id: Uuid): Promise<Resource | undefined>;
  rowOf(resource: Resource): Owned & {
    readonly id: Uuid;
    readonly raw?: bigint;
    readonly asset?: Asset | null;
  };
  titleOf(resource: Resource): string;
  /** Returns the decision that the resource waits for while it is in a list. */
  decisionOf?(resource: Resource): Decision | null;
  describe(resource: Resource, context: PageContext): Described | Promise<Described>;
}

/**
 * Content of a resource's page, without the title, the id, the history, the lists and the links.
 */
export interface Described {
  readonly status: Content;
  readonly facts: readonly Fact[];
  /** Where the resource has its postings and events. Without it, only staff actions are shown. */
  readonly history?: HistorySource;
  readonly beforeLists?: Content;
  readonly afterLists?: Content;
  readonly workflowId?: string | null;
  /** A link to what an action of the resource has made last. */
  readonly made?: Content;
  /** The list to which the resource belongs or belonged, for the link to the next one. */
  readonly list?: WaitingKind;
  readonly hasLeftList?: boolean;
}

export type PageContext = Awaited<ReturnType<typeof contextOf>>;

export async function contextOf({ database: { reader }, clock }: Site, row: Owned) {
  const names = await namesOf(reader, [row]);
  const timeZone = names.timeZone(row.tenantId);
  const now = clock();
  return {
    reader,
    now,
    names,
    timeZone,
    /** Shows a time in the tenant's time zone, after a text. Returns null for null. */
    time: (at: Instant | null, text?: string) => time(at, timeZone, text),
    /** Shows a time with its distance from now, such as "in 12 min". Returns null for null. */
    since: (at: Instant | null) => time(at, timeZone, at && relative(at, now)),
    tenant: tenantFact(row.tenantId, names.tenant(row.tenantId)),
  };
}

/** A list of which the resource's page shows the beginning. The complete list has its own page. */
export interface ListOfResource<Resource> {
  /** Noun in the plural, which is also the last part of the list's path. */
  readonly name: string;
  readonly fields?: readonly ListField[];
  /** Returns the fields with the choices that this resource has. */
  readonly fieldsOf?: (reader: Reader, resource: Resource) => Promise<readonly ListField[]>;
  /** The rows that the resource's page shows: by default, the newest. */
  readonly beginning?: (resource: Resource) => {
    readonly heading: string;
    readonly filter: ListFilter;
  };
  /** Returns rows after the position at which the page before ends ('' for the first page). */
  read(
    resource: Resource,
    context: PageContext,
    after: string,
    limit: number,
    filter: ListFilter,
  ): Promise<ListRows>;
}

const SHOWN_FIRST = 10;

/** Returns a section for each list that has rows. */
export function listSections<Resource>(
  kind: ResourceKind<Resource>,
  resource: Resource,
  context: PageContext,
): Promise<Content> {
  const path = pathOf(kind.name, kind.rowOf(resource).id);
  const sections = (kind.lists ?? []).map(async ({ name, beginning, read }) => {
    const { heading, filter } = beginning?.(resource) ?? { heading: `Newest ${name}`, filter: {} };
    const { rows, next } = await read(resource, context, '', SHOWN_FIRST, filter);
    const isWhole = next === null && beginning === undefined;
    const all = !isWhole && html`<p class="screen"><a href="${path}/${name}">All ${name}</a></p>`;
    return rows.length > 0 && section(name, heading, [table(rows, (row) => row), all]);
  });
  return Promise.all(sections);
}

/** A list of a resource, restricted to the rows that match `filter`. */
export interface ShownList<Resource> {
  readonly kind: ResourceKind<Resource>;
  readonly resource: Resource;
  readonly list: ListOfResource<Resource>;
  readonly filter: ListFilter;
}

export function readRowsOf<Resource>(
  site: Site,
  { kind, resource, list, filter }: ShownList<Resource>,
): ReadRows {
  return async (after, limit) =>
    list.read(resource, await contextOf(site, kind.rowOf(resource)), after, limit, filter);
}

export async function listPage<Resource>(
  site: Site,
  shown: ShownList<Resource>,
  place: PageOfList,
  person: SignedInPerson,
): Promise<Page> {
  const { kind, resource, list, filter } = shown;
  const title = kind.titleOf(resource);
  const owner = pathOf(kind.name, kind.rowOf(resource).id);
  const path = `${owner}/${list.name}`;
  const fields = (await list.fieldsOf?.(site.database.reader, resource)) ?? list.fields;
  const content = html`<p><a href="${owner}">${title}</a></p>
    ${fields && filterForm(path, fields, filter)}
    ${await listContent({ path, filter, ...place, person, now: site.clock() }, readRowsOf(site, shown))}`;
  return { title: `${title}: ${list.name}`, content };
}
