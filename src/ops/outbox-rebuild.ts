import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { integer, nullable, string, time } from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { outbox, type WorkflowResourceType } from '../db/entities/outbox.js';
import type { Outbox } from '../temporal/outbox.js';
import type { WorkflowResource } from '../temporal/workflow-resources.js';

/** Operators' view of the outbox, beyond what the relay needs. */

export interface OutboxState {
  /** Entries waiting to be relayed, not counting dead letters. */
  readonly entries: number;
  readonly oldestAt: Instant | null;
  readonly byType: Readonly<Record<string, number>>;
  /** Entries that Temporal has refused at least once. */
  readonly refused: number;
  /** Entries that failed too often, and wait for an operator. */
  readonly deadLetters: number;
  /** The most frequent failures of last attempts, with the number of entries. */
  readonly lastErrors: readonly { readonly message: string; readonly entries: number }[];
}

const MAX_ERRORS = 5;

export async function readOutboxState(reader: Reader): Promise<OutboxState> {
  const [types, errors] = await Promise.all([
    reader.query(
      `SELECT resource_type, COUNT(*)-COUNT(dead_at) AS entries, MIN(IF(dead_at IS NULL, created_at, NULL)) AS oldest,
       COUNT(CASE WHEN attempts>0 THEN 1 END) AS refused, COUNT(dead_at) AS dead FROM outbox GROUP BY resource_type ORDER BY resource_type`,
    ),
    reader.query(
      `SELECT last_error, COUNT(*) AS entries FROM outbox WHERE last_error IS NOT NULL
       GROUP BY last_error ORDER BY entries DESC, last_error LIMIT ${MAX_ERRORS}`,
    ),
  ]);
  const counts = types.map((row) => integer.parse(row.entries));
  const oldest = types.flatMap((row) => nullable(time).parse(row.oldest) ?? []);
  return {
    entries: counts.reduce((sum, count) => sum + count, 0),
    oldestAt: oldest.length === 0 ? null : instant(Math.min(...oldest)),
    byType: Object.fromEntries(
      types.map((row, index) => [string.parse(row.resource_type), counts[index] ?? 0]),
    ),
    refused: types.reduce((sum, row) => sum + integer.parse(row.refused), 0),
    deadLetters: types.reduce((sum, row) => sum + integer.parse(row.dead), 0),
    lastErrors: errors.map((row) => ({
      message: string.parse(row.last_error),
      entries: integer.parse(row.entries),
    })),
  };
}

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

interface RebuildDeps extends DatabaseDeps {
  readonly outbox: Outbox;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Writes an entry for every waiting resource without one. A superfluous entry is harmless, because
 * it changes nothing.
 */
export async function rebuildOutbox(
  { database: { reader }, outbox: entries, clock, onProgress }: RebuildDeps,
  sources: readonly WorkflowResource[],
): Promise<readonly Rebuilt[]> {
  const madeBefore = clock();
  let total = 0;
  for (const source of sources)
    for await (const slice of listAll(reader, source, madeBefore)) total += slice.length;
  let done = 0;
  const rebuilt: Rebuilt[] = [];
  for (const source of sources) {
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
