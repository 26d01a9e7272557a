import type { Uuid } from '../../core/ids.js';
import type { ActSubject, DeskAct } from '../acts/act.js';
import type { Shelf as ShelfName } from '../pages/layout.js';
import type { Shown } from '../pages/resource.js';
import type { Site } from '../site.js';

export interface Shelf<Resource> {
  readonly name: ShelfName;
  readonly acts: readonly DeskAct<Resource>[];
  /** Returns undefined if no resource of this kind has the id. */
  find(site: Site, id: Uuid): Promise<Resource | undefined>;
  subjectOf(resource: Resource): ActSubject;
  show(site: Site, resource: Resource): Promise<Shown>;
}

export function workflowLink({ settings }: Site, workflowId: string | null): string | null {
  return workflowId === null ? null : (settings.workflowUrl?.(workflowId) ?? null);
}
