import { type Clock, instant } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import { outbox as outboxTable, type WaitingType } from '../db/entities/outbox.js';
import { literals } from '../db/statements.js';
import { uuid } from '../db/columns.js';
import { type TemporalClient, TemporalUnavailable } from './client.js';
import type { Outbox } from './outbox.js';
import type { Relay } from './relay.js';
import type { Sweep } from './sweeper.js';
import type { WaitingSource } from './waiting.js';

const CLAIM = 100;
const OUTBOX_EVERY_MS = 1_000;

/** Entries that no process has relayed yet. */
export function outboxSweep(outbox: Outbox, relay: Relay): Sweep {
  return {
    name: 'outbox',
    everyMs: OUTBOX_EVERY_MS,
    run: async () => {
      const rows = await outbox.claim(CLAIM);
      try {
        await relay.relay(rows);
      } catch (failure) {
        // Told by the relay's observer already; the entries wait.
        if (failure instanceof TemporalUnavailable) return false;
        throw failure;
      }
      return rows.length === CLAIM;
    },
  };
}

const UNATTENDED_EVERY_MS = 60_000;
/** What is younger is in the hands of the outbox. */
const YOUNG_MS = 60_000;
const SLICE = 500;

export interface UnattendedParts {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: TemporalClient;
  readonly sources: readonly WaitingSource[];
  readonly clock: Clock;
  /** So many resources that wait had no workflow: they get an entry in the outbox. */
  readonly onFound: (resourceType: WaitingType, resources: number) => void;
}

/**
 * Resources that wait without a workflow: the database was restored beside an empty Temporal, or a workflow terminated by
 * hand. Visibility may lag behind, so one that runs may be told once too often, which does nothing.
 */
export function unattendedSweep(parts: UnattendedParts): Sweep {
  return {
    name: 'unattended',
    everyMs: UNATTENDED_EVERY_MS,
    run: async (signal) => {
      try {
        for (const source of parts.sources) await attend(parts, source, signal);
      } catch (failure) {
        if (!(failure instanceof TemporalUnavailable)) throw failure;
      }
      return false;
    },
  };
}

async function attend(parts: UnattendedParts, source: WaitingSource, signal: AbortSignal): Promise<void> {
  const { database, outbox, client, clock, onFound } = parts;
  const { resourceType } = source;
  const madeBefore = instant(clock() - YOUNG_MS);
  let running: Set<string> | undefined;
  let after: Uuid | null = null;
  while (!signal.aborted) {
    const found: Awaited<ReturnType<typeof source.longWaiting>> = await source.longWaiting(
      database.reader,
      madeBefore,
      after,
      SLICE,
    );
    if (found.length === 0) return;
    running ??= await collect(client.running(source.workflowType));
    const known = running;
    const alone = found.filter(({ id }) => !known.has(source.workflowIdOf(id)));
    const told = await inOutbox(
      database,
      alone.map(({ id }) => id),
    );
    const lost = alone.filter(({ id }) => !told.has(id));
    await outbox.add(lost.map(({ id, tenantId }) => ({ tenantId, resourceType, resourceId: id })));
    if (lost.length > 0) onFound(resourceType, lost.length);
    after = found.at(-1)?.id ?? null;
  }
}

async function inOutbox(database: Database, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  if (ids.length === 0) return new Set();
  const rows = await database.reader.query(
    `SELECT resource_id FROM outbox WHERE resource_id IN (${literals(outboxTable, 'resourceId', ids)})`,
  );
  return new Set(rows.map((row) => uuid.parse(row.resource_id)));
}

async function collect(ids: AsyncIterable<string>): Promise<Set<string>> {
  const all = new Set<string>();
  for await (const id of ids) all.add(id);
  return all;
}
