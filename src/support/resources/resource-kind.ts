import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { DeskAction } from '../actions/action.js';
import type { Content } from '../html.js';
import type { Fact, ResourcePath } from '../pages/layout.js';
import type { Names, Owned } from '../reading/transfers.js';
import type { Subject } from '../reading/timeline.js';
import type { WaitingKind } from '../reading/waiting.js';
import type { Site } from '../site.js';

export interface PageContext {
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
