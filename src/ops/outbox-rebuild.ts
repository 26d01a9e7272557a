import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { outbox, type WorkflowResourceType } from '../db/entities/outbox.js';
import { WORKFLOW_RESOURCES } from '../processes/workflow-resources.js';
import { Outbox } from '../temporal/outbox.js';
import type { WorkflowResource } from '../temporal/workflow-resources.js';

const SLICE = 500;

type Found = Awaited<ReturnType<WorkflowResource['listWaiting']>>;

async function* listAll(
  reader: Reader,
  source: WorkflowResource,
  madeBefore: Instant,
): AsyncGenerator<Found> {
  let after: Uuid | null = null;
  do {
    const found: Found = await source.listWaiting(reader, madeBefore, after, SLICE);
    if (found.length > 0) yield found;
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
}

interface Rebuilt {
  readonly resourceType: WorkflowResourceType;
  readonly waiting: number;
  /** The number of resources that had no entry and got one. */
  readonly written: number;
}

/** Writes an entry for every waiting resource without one. More entries do no harm. */
export async function rebuildOutbox(
  { database, clock }: DatabaseDeps,
  onProgress: (done: number, total: number) => void,
): Promise<readonly Rebuilt[]> {
  const { reader } = database;
  const entries = new Outbox(database, clock);
  const madeBefore = clock();
  let total = 0;
  for (const source of WORKFLOW_RESOURCES)
    for await (const slice of listAll(reader, source, madeBefore)) total += slice.length;
  let done = 0;
  const rebuilt: Rebuilt[] = [];
  for (const source of WORKFLOW_RESOURCES) {
    const { resourceType } = source;
    const counts = { waiting: 0, written: 0 };
    for await (const slice of listAll(reader, source, madeBefore)) {
      const known = await reader.select(outbox, {
        resourceType,
        resourceId: slice.map(({ id }) => id),
      });
      const has = new Set(known.map(({ resourceId }) => resourceId));
      const lost = slice.filter(({ id }) => !has.has(id));
      await entries.add(
        lost.map(({ id: resourceId, tenantId }) => ({ tenantId, resourceType, resourceId })),
      );
      counts.waiting += slice.length;
      counts.written += lost.length;
      // Resources that ended since the count are absent here.
      done = Math.min(total, done + slice.length);
      onProgress(done, total);
    }
    rebuilt.push({ resourceType, ...counts });
  }
  return rebuilt;
}
