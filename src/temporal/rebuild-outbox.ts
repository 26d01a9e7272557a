import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { Outbox } from './outbox.js';
import type { WorkflowResource } from './workflow-resources.js';

const SLICE = 500;

type WaitingResources = Awaited<ReturnType<WorkflowResource['listWaiting']>>;

async function* listAll(
  reader: Reader,
  source: WorkflowResource,
  madeBefore: Instant,
): AsyncGenerator<WaitingResources> {
  let after: Uuid | null = null;
  do {
    const found: WaitingResources = await source.listWaiting(reader, madeBefore, after, SLICE);
    if (found.length > 0) yield found;
    after = found.at(-1)?.id ?? null;
  } while (after !== null);
}

/** Writes an entry for every waiting resource without one. More entries do no harm. */
export async function rebuildOutbox(
  { database, clock }: DatabaseDeps,
  resources: readonly WorkflowResource[],
  onProgress: (done: number, total: number) => void,
) {
  const { reader } = database;
  const entries = new Outbox(database, clock);
  const madeBefore = clock();
  let total = 0;
  for (const source of resources)
    for await (const slice of listAll(reader, source, madeBefore)) total += slice.length;
  let done = 0;
  const rebuilt = [];
  for (const source of resources) {
    const { resourceType } = source;
    const counts = { resource_type: resourceType, waiting: 0, entries_written: 0 };
    for await (const slice of listAll(reader, source, madeBefore)) {
      const entriesNow = await reader.select(outbox, {
        resourceType,
        resourceId: slice.map(({ id }) => id),
      });
      const known = new Set(entriesNow.map(({ resourceId }) => resourceId));
      const missing = slice.filter(({ id }) => !known.has(id));
      await entries.add(
        missing.map(({ id: resourceId, tenantId }) => ({ tenantId, resourceType, resourceId })),
      );
      counts.waiting += slice.length;
      counts.entries_written += missing.length;
      // Resources that ended since the count are absent here.
      done = Math.min(total, done + slice.length);
      onProgress(done, total);
    }
    rebuilt.push(counts);
  }
  return rebuilt;
}
