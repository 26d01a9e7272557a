import type { Uuid } from '../../core/ids.js';
import type { ActionSubject, DeskAction } from '../actions/action.js';
import type { ResourcePath } from '../pages/layout.js';
import type { Shown } from '../pages/resource.js';
import type { Site } from '../site.js';

export interface ResourceKind<Resource> {
  readonly name: ResourcePath;
  readonly actions: readonly DeskAction<Resource>[];
  /** Returns undefined if no resource of this kind has the id. */
  find(site: Site, id: Uuid): Promise<Resource | undefined>;
  subjectOf(resource: Resource): ActionSubject;
  show(site: Site, resource: Resource): Promise<Shown>;
}

export function workflowLink({ settings }: Site, workflowId: string | null): string | null {
  return workflowId === null ? null : (settings.workflowUrl?.(workflowId) ?? null);
}
