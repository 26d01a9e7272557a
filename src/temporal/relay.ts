import type { Failpoints } from '../core/failpoints.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { continued } from '../core/trace.js';
import type { Database } from '../db/database.js';
import type { OutboxRow, WaitingType } from '../db/entities/outbox.js';
import { DatabaseUnavailable } from '../db/failures.js';
import type { TemporalClient } from './client.js';
import { isOfEveryCall, messageOf, TemporalUnavailable } from './failures.js';
import { isLast, type Outbox } from './outbox.js';
import type { WaitingSource, WantedWorkflow } from './waiting.js';

export interface RelayObserver {
  relayed(resourceType: WaitingType, entries: number): void;
  /** One entry could not be relayed: it is tried again later. */
  refused(resourceType: WaitingType, message: string): void;
  died(resourceType: WaitingType, message: string): void;
  unavailable(message: string): void;
}

interface RelayDeps {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: TemporalClient;
  readonly sources: readonly WaitingSource[];
  readonly failpoints: Failpoints;
  readonly observer: RelayObserver;
  /** After this long a workflow that has not been told anything looks at its resource. */
  readonly lookAgainMs: number;
}

/** An entry as its writer knows it. */
export type Entry = Pick<OutboxRow, 'id' | 'resourceType' | 'resourceId'> &
  Partial<Pick<OutboxRow, 'traceparent'>>;

/** Simultaneous calls to Temporal for one group of entries. */
const WIDTH = 24;

/** The entries of one resource: its workflow is told once for all of them. */
interface Told {
  readonly source: WaitingSource | undefined;
  readonly type: WaitingType;
  readonly resourceId: Uuid;
  readonly entries: readonly Entry[];
}

/** The workflow that each resource should have according to its row, or why the row could not be read. */
type Wanted = ReadonlyMap<Uuid, WantedWorkflow | { readonly unreadable: unknown }>;

/** Passes the outbox on to Temporal. An entry means its resource as it is now, so it may come twice and late. */
export class Relay {
  private readonly sources: ReadonlyMap<WaitingType, WaitingSource>;

  constructor(private readonly deps: RelayDeps) {
    this.sources = new Map(deps.sources.map((source) => [source.resourceType, source]));
  }

  /** Relays claimed entries. Those that Temporal refuses are postponed; throws TemporalUnavailable if it is away. */
  async relay(rows: readonly OutboxRow[]): Promise<void> {
    const { outbox, observer } = this.deps;
    const failures = new Map<Uuid, unknown>();
    const left = await this.deliver(rows, (entry, failure) => failures.set(entry.id, failure));
    const failed = rows.flatMap(({ id, attempts, resourceType }) => {
      if (!failures.has(id)) return [];
      const failure = failures.get(id);
      return [
        {
          id,
          attempts,
          resourceType,
          error: messageOf(failure),
          isItsOwn: !isOfEveryCall(failure),
        },
      ];
    });
    await outbox.fail(failed);
    for (const one of failed)
      if (isLast(one)) observer.died(one.resourceType, one.error);
      else observer.refused(one.resourceType, one.error);
    await outbox.giveBack(rows.filter((row) => left.untried.has(row.id)));
    if (left.cause !== null) throw left.cause;
  }

  /** The same for entries written a moment ago; failures are left to the sweeper. */
  async relayNew(entries: readonly Entry[]): Promise<void> {
    await this.deliver(entries, (entry, failure) =>
      this.deps.observer.refused(entry.resourceType, messageOf(failure)),
    );
  }

  private async deliver(
    entries: readonly Entry[],
    onRefused: (entry: Entry, failure: unknown) => void,
  ): Promise<{ untried: ReadonlySet<Uuid>; cause: TemporalUnavailable | null }> {
    const { outbox, observer, failpoints } = this.deps;
    let cause: TemporalUnavailable | null = null;
    const untried = new Set<Uuid>();
    const done: Entry[] = [];
    const leave = (own: readonly Entry[]): void => own.forEach(({ id }) => untried.add(id));
    const all = this.byResource(entries);
    const wanted = await this.wantedOf(all);
    await eachOf(WIDTH, all, async (told) => {
      if (cause !== null) return leave(told.entries);
      try {
        failpoints.pass('before_outbox_start');
        await this.tellTraced(told, wanted.get(told.resourceId));
        failpoints.pass('after_outbox_start');
        done.push(...told.entries);
      } catch (failure) {
        if (!(failure instanceof TemporalUnavailable))
          return told.entries.forEach((entry) => onRefused(entry, failure));
        cause = failure;
        leave(told.entries);
      }
    });
    await outbox.remove(done);
    for (const [type, own] of groupBy(done, ({ resourceType }) => resourceType))
      observer.relayed(type, own.length);
    const unavailable = cause as TemporalUnavailable | null;
    if (unavailable !== null) observer.unavailable(unavailable.message);
    return { untried, cause: unavailable };
  }

  private byResource(entries: readonly Entry[]): Told[] {
    const groups = groupBy(
      entries,
      ({ resourceType, resourceId }) => `${resourceType} ${resourceId}`,
    );
    return Array.from(groups.values(), (own) => {
      const [{ resourceType: type, resourceId }] = own as [Entry, ...Entry[]];
      return { source: this.sources.get(type), type, resourceId, entries: own };
    });
  }

  /** Throws DatabaseUnavailable. */
  private async wantedOf(all: readonly Told[]): Promise<Wanted> {
    const wanted = new Map<Uuid, WantedWorkflow | { readonly unreadable: unknown }>();
    for (const [source, own] of groupBy(all, (told) => told.source)) {
      if (source === undefined) continue;
      const ids = own.map(({ resourceId }) => resourceId);
      for (const [id, found] of await this.readAll(source, ids)) wanted.set(id, found);
    }
    return wanted;
  }

  /** All at once, or each separately if one of them cannot be read. */
  private async readAll(source: WaitingSource, ids: readonly Uuid[]): Promise<Wanted> {
    const { reader } = this.deps.database;
    try {
      return await source.waiting(reader, ids);
    } catch (failure) {
      if (failure instanceof DatabaseUnavailable) throw failure;
      if (ids.length === 1) return new Map(ids.map((id) => [id, { unreadable: failure }]));
    }
    const found = new Map<Uuid, WantedWorkflow | { readonly unreadable: unknown }>();
    for (const id of ids)
      for (const [own, one] of await this.readAll(source, [id])) found.set(own, one);
    return found;
  }

  /** In the trace of its last change, if the entries are from several. */
  private tellTraced(told: Told, wanted: Parameters<Relay['tell']>[1]): Promise<void> {
    const traces = told.entries.flatMap(({ traceparent }) =>
      typeof traceparent === 'string' ? [traceparent] : [],
    );
    const part = { name: `outbox ${told.type}`, attributes: { 'resource.id': told.resourceId } };
    return continued(part, traces.at(-1), () => this.tell(told, wanted));
  }

  private async tell(
    { source, type, resourceId }: Told,
    wanted: WantedWorkflow | { readonly unreadable: unknown } | undefined,
  ): Promise<void> {
    const { client, lookAgainMs } = this.deps;
    if (source === undefined) throw new Error(`nobody knows what waits as ${type}`);
    if (wanted === undefined) return client.tell(source.workflowIdOf(resourceId));
    if ('unreadable' in wanted) throw wanted.unreadable;
    const input = { ...wanted.input, lookAgainMs };
    await client.startOrTell(source.workflowType, source.taskQueue, { ...wanted, input });
  }
}

async function eachOf<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
