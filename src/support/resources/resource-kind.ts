import type { Asset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { DeskAction } from '../actions/action.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, html } from '../html.js';
import { downloadForm, type ListRows, type ReadRows } from '../pages/export.js';
import {
  type Fact,
  type Page,
  pageLinks,
  pathOf,
  relative,
  type ResourcePath,
  section,
  table,
  tenantFact,
  time,
} from '../pages/layout.js';
import { NONE } from '../pages/rows.js';
import type { HistorySource } from '../reading/timeline.js';
import { namesOf, type Owned } from '../reading/transfers.js';
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
  /**
   * Returns rows, newest first, from the position after which the page before ends ('' for the
   * first page), and the position of the next page.
   */
  read(resource: Resource, context: PageContext, before: string, limit: number): Promise<ListRows>;
}

const ROWS_PER_PAGE = 25;
const SHOWN_FIRST = 10;

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
    return rows.length > 0 && section(name, `Newest ${name}`, [table(rows, (row) => row), all]);
  });
  return Promise.all(sections);
}

export function readRowsOf<Resource>(
  site: Site,
  kind: ResourceKind<Resource>,
  resource: Resource,
  { read }: ListOfResource<Resource>,
): ReadRows {
  return async (before, limit) =>
    read(resource, await contextOf(site, kind.rowOf(resource)), before, limit);
}

export async function listPage<Resource>(
  site: Site,
  kind: ResourceKind<Resource>,
  resource: Resource,
  list: ListOfResource<Resource>,
  before: string,
  person: SignedInPerson,
): Promise<Page> {
  const { name } = list;
  const { rows, next } = await readRowsOf(site, kind, resource, list)(before, ROWS_PER_PAGE);
  const title = kind.titleOf(resource);
  const path = pathOf(kind.name, kind.rowOf(resource).id);
  const content = html`<p><a href="${path}">${title}</a></p>
    ${rows.length > 0 ? table(rows, (row) => row) : NONE}
    ${pageLinks(
      before === '' ? null : ['Newest', `${path}/${name}`],
      next === null ? null : ['Older', `${path}/${name}?before=${next}`],
    )}
    ${rows.length > 0 && downloadForm(`${path}/${name}/csv`, person)}`;
  return { title: `${title}: ${name}`, content };
}
