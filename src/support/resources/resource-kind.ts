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

/** A list of which the resource's page shows the beginning. The complete list has its own page. */
export interface ListOfResource<Resource> {
  /** Noun in the plural, which is also the last part of the list's path. */
  readonly name: string;
  /**
   * Returns rows, newest first, from the position after which the page before ends ('' for the first
   * page), and the position of the next page.
   */
  read(
    resource: Resource,
    context: PageContext,
    before: string,
    limit: number,
  ): Promise<{ readonly rows: Content; readonly next: string | null }>;
}

/** Content of a resource's page, without the title, the id, the history, the lists and the links. */
export interface Described {
  readonly status: Content;
  readonly facts: readonly Fact[];
  /** Where the resource has its postings and events. Without it, only staff actions are shown. */
  readonly history?: Pick<Subject, 'accountIds' | 'instants' | 'lines'>;
  readonly before?: Content;
  readonly after?: Content;
  readonly workflowId?: string | null;
  /** The list to which the resource belongs, for the link to the next one. */
  readonly list?: WaitingKind;
}

export interface ResourceKind<Resource> {
  readonly name: ResourcePath;
  /** The type of the resource in the audit log. */
  readonly subjectType: string;
  readonly actions: readonly DeskAction<Resource>[];
  readonly lists?: readonly ListOfResource<Resource>[];
  /** Returns undefined if no resource of this kind has the id. */
  find(site: Site, id: Uuid): Promise<Resource | undefined>;
  rowOf(resource: Resource): Owned & { readonly id: Uuid };
  titleOf(resource: Resource): string;
  describe(resource: Resource, context: PageContext): Described | Promise<Described>;
}
