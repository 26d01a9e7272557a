import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { DeskAction } from '../actions/action.js';
import type { Content } from '../html.js';
import { historySections } from '../pages/history.js';
import { type Fact, idText, pathOf, type ResourcePath, tenantFact, time } from '../pages/layout.js';
import type { Shown } from '../pages/resource.js';
import { type Names, namesOf, type Owned } from '../reading/names.js';
import { readHistory, readStaffActions, type Subject } from '../reading/timeline.js';
import { nextWaiting, type WaitingKind } from '../reading/waiting.js';
import type { Site } from '../site.js';

export interface PageContext {
  readonly site: Site;
  readonly reader: Reader;
  readonly now: Instant;
  readonly names: Names;
  readonly timeZone: string;
  /** Shows a time in the tenant's time zone. Returns null for null. */
  readonly time: (at: Instant | null) => Content;
  readonly tenant: Fact;
}

/** Content of a page besides the id, the history and the links. */
export interface Described {
  readonly title: string;
  readonly status: Content;
  readonly facts: readonly Fact[];
  /** Where the resource has its postings and events. Without it, only staff actions are shown. */
  readonly history?: Pick<Subject, 'accountIds' | 'instants' | 'lines'>;
  readonly before?: Content;
  readonly after?: Content;
  readonly workflowId?: string | null;
  readonly hidesEmptyTimeline?: true;
  /** The list to which the resource belongs, for the link to the next one. */
  readonly list?: WaitingKind;
}

export interface ResourceKind<Resource> {
  readonly name: ResourcePath;
  /** The type of the resource in the audit log. */
  readonly subjectType: string;
  readonly actions: readonly DeskAction<Resource>[];
  /** Returns undefined if no resource of this kind has the id. */
  find(site: Site, id: Uuid): Promise<Resource | undefined>;
  rowOf(resource: Resource): Owned & { readonly id: Uuid };
  describe(resource: Resource, context: PageContext): Described | Promise<Described>;
}

export async function readShown<Resource>(
  site: Site,
  kind: ResourceKind<Resource>,
  resource: Resource,
): Promise<Shown> {
  const { reader } = site.database;
  const row = kind.rowOf(resource);
  const { id, tenantId } = row;
  const names = await namesOf(reader, [row]);
  const timeZone = names.timeZone(tenantId);
  const described = await kind.describe(resource, {
    ...{ site, reader, now: site.clock(), names, timeZone },
    time: (at) => time(at, timeZone),
    tenant: tenantFact(tenantId, names.tenant(tenantId)),
  });
  const { title, status, facts, list, workflowId = null } = described;
  const [history, next] = await Promise.all([
    described.history && readHistory(reader, { id, tenantId, timeZone, ...described.history }),
    list === undefined ? null : nextWaiting(reader, list, id),
  ]);
  const sections = history && historySections(history, timeZone);
  const timeline = history?.timeline ?? (await readStaffActions(reader, id, timeZone));
  const isHidden = described.hidesEmptyTimeline === true && timeline.length === 0;
  return {
    ...{ title, status, timeZone },
    facts: [...facts, ['Id', idText(id)]],
    more: [described.before, sections, described.after],
    timeline: isHidden ? null : timeline,
    workflow: workflowId === null ? null : (site.settings.workflowUrl?.(workflowId) ?? null),
    next: next === null ? null : pathOf(kind.name, next),
  };
}
