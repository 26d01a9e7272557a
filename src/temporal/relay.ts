import type { Failpoints } from '../core/failpoints.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import type { OutboxRow, WaitingType } from '../db/entities/outbox.js';
import { messageOf, type TemporalClient, TemporalUnavailable } from './client.js';
import type { Outbox } from './outbox.js';
import type { WaitingSource, WantedWorkflow } from './waiting.js';

/** What the relay tells to whoever watches it. */
export interface RelayObserver {
  relayed(resourceType: WaitingType, entries: number): void;
  /** Temporal refused one entry: it is tried again later. */
  refused(resourceType: WaitingType, message: string): void;
  unavailable(message: string): void;
}

export interface RelayParts {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: TemporalClient;
  readonly sources: readonly WaitingSource[];
  readonly failpoints: Failpoints;
  readonly observer: RelayObserver;
}

/** An entry as its writer knows it. */
export type Entry = Pick<OutboxRow, 'id' | 'resourceType' | 'resourceId'>;

/** Calls to Temporal at a time. */
const CONCURRENCY = 8;

/**
 * Makes Temporal know what the outbox holds. What an entry means is read from the resource as it is now: one that waits
 * gets its workflow started, or told that it changed; one that is settled needs none. So entries may come twice, late and in
 * any order.
 */
export class Relay {
  private readonly sources: ReadonlyMap<WaitingType, WaitingSource>;

  constructor(private readonly parts: RelayParts) {
    this.sources = new Map(parts.sources.map((source) => [source.resourceType, source]));
  }

  /** Relays claimed entries. Those that Temporal refuses get another time; throws TemporalUnavailable where it is away. */
  async relay(rows: readonly OutboxRow[]): Promise<void> {
    const { outbox, observer } = this.parts;
    const failed = new Map<Uuid, string>();
    const left = await this.deliver(rows, (entry, failure) => failed.set(entry.id, messageOf(failure)));
    for (const row of rows) {
      const message = failed.get(row.id);
      if (message === undefined) continue;
      observer.refused(row.resourceType, message);
      await outbox.postpone(row, message);
    }
    await outbox.giveBack(rows.filter((row) => left.untried.has(row.id)));
    if (left.cause !== null) throw left.cause;
  }

  /** The same for entries that were written a moment ago; what does not work now is left for the sweeper. */
  async relayNew(entries: readonly Entry[]): Promise<void> {
    await this.deliver(entries, (entry, failure) =>
      this.parts.observer.refused(entry.resourceType, messageOf(failure)),
    );
  }

  private async deliver(
    entries: readonly Entry[],
    onRefused: (entry: Entry, failure: unknown) => void,
  ): Promise<{ untried: ReadonlySet<Uuid>; cause: TemporalUnavailable | null }> {
    const { outbox, observer, database, failpoints } = this.parts;
    let cause: TemporalUnavailable | null = null;
    const untried = new Set<Uuid>();
    for (const [type, own] of groupBy(entries, (entry) => entry.resourceType)) {
      const source = this.sources.get(type);
      if (source === undefined) throw new Error(`nobody knows what waits as ${type}`);
      const waiting = await source.waiting(database.reader, [...new Set(own.map((entry) => entry.resourceId))]);
      const done: Entry[] = [];
      await eachOf(CONCURRENCY, own, async (entry) => {
        if (cause !== null) return void untried.add(entry.id);
        try {
          failpoints.pass('before_outbox_start');
          await this.tell(source, entry, waiting.get(entry.resourceId));
          failpoints.pass('after_outbox_start');
          done.push(entry);
        } catch (failure) {
          if (!(failure instanceof TemporalUnavailable)) return onRefused(entry, failure);
          cause = failure;
          untried.add(entry.id);
        }
      });
      await outbox.remove(done);
      if (done.length > 0) observer.relayed(type, done.length);
    }
    const unavailable = cause as TemporalUnavailable | null;
    if (unavailable !== null) observer.unavailable(unavailable.message);
    return { untried, cause: unavailable };
  }

  private async tell(source: WaitingSource, entry: Entry, waiting: WantedWorkflow | undefined): Promise<void> {
    const { client } = this.parts;
    if (waiting === undefined) await client.tell(source.workflowIdOf(entry.resourceId));
    else await client.startOrTell(source.workflowType, source.taskQueue, waiting);
  }
}

/** `work` for each, `width` at a time. */
async function eachOf<T>(width: number, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
