import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../core/failpoints.js';
import { groupBy, mapConcurrently } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { continueTrace, currentTraceparent, untraced } from '../core/trace.js';
import type { Database } from '../db/database.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { DatabaseUnavailable } from '../db/failures.js';
import type { TemporalClient } from './client.js';
import { affectsEveryCall, messageOf, OutageDetector, TemporalUnavailable } from './failures.js';
import { becomesDead, type Outbox } from './outbox.js';
import type { Sweep } from './sweeper.js';
import type { WorkflowResource } from './workflow-resources.js';

export interface RelayObserver {
  relayed(resourceType: string, entries: number): void;
  /** The sweeper tries again later. */
  refused(resourceType: string, message: string): void;
  died(resourceType: string, message: string): void;
  /** Called once for a round in which Temporal did not answer some or all calls. */
  unavailable(message: string): void;
}

interface RelayDeps {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly client: TemporalClient;
  readonly resources: readonly WorkflowResource[];
  readonly observer: RelayObserver;
  /** A workflow reads its resource again after this long without a signal. */
  readonly lookAgainMs: number;
}

export type Entry = Pick<OutboxRow, 'id' | 'resourceType' | 'resourceId'> &
  Partial<Pick<OutboxRow, 'traceparent'>>;

const MAX_CALLS = 24;
const CLAIM_SIZE = 50;
const SWEEP_EVERY_MS = 1_000;
/** A full round rests this many times as long as it lasted, so that Temporal has time for the workflows that it has. */
const REST_TIMES = 4;
const MAX_REST_MS = 1_000;

/** Notifies workflows. Entries only name a resource, so they may be relayed twice or late. */
export class Relay {
  private readonly resources: ReadonlyMap<string, WorkflowResource>;

  constructor(private readonly deps: RelayDeps) {
    this.resources = new Map(deps.resources.map((resource) => [resource.resourceType, resource]));
  }

  /** Relays claimed entries, and postpones those that fail. Returns whether Temporal is away. */
  async relay(rows: readonly OutboxRow[]): Promise<boolean> {
    const { outbox, observer } = this.deps;
    const { untried, failures, isAway } = await this.deliver(rows);
    const failed = rows
      .filter(({ id }) => failures.has(id))
      .map((row) => {
        const failure = failures.get(row.id);
        const isUnavailable = failure instanceof TemporalUnavailable;
        const isOwnFailure = !isUnavailable && !affectsEveryCall(failure);
        return { ...row, error: messageOf(failure), isUnavailable, isOwnFailure };
      });
    await outbox.fail(failed);
    for (const one of failed)
      if (becomesDead(one)) observer.died(one.resourceType, one.error);
      else if (!one.isUnavailable) observer.refused(one.resourceType, one.error);
    await outbox.releaseUntried(rows.filter((row) => untried.has(row.id)));
    return isAway;
  }

  /** Relays entries that this process has just written. The sweeper relays those that fail. */
  async relayNew(entries: readonly Entry[]): Promise<void> {
    const { failures } = await this.deliver(entries);
    for (const { id, resourceType } of entries) {
      const failure = failures.get(id);
      if (failure !== undefined && !(failure instanceof TemporalUnavailable))
        this.deps.observer.refused(resourceType, messageOf(failure));
    }
  }

  /** Relays entries until Temporal is away, and removes those that succeeded. */
  private async deliver(entries: readonly Entry[]) {
    const { outbox, observer } = this.deps;
    const outage = new OutageDetector();
    const untried = new Set<Uuid>();
    const failures = new Map<Uuid, unknown>();
    const done: Entry[] = [];
    // Notifies each resource's workflow once.
    const groups = groupBy(entries, (entry) => `${entry.resourceType} ${entry.resourceId}`);
    await mapConcurrently(MAX_CALLS, [...groups.values()], async (own) => {
      if (outage.isAway) return own.forEach(({ id }) => untried.add(id));
      try {
        failpoint('before_outbox_start');
        await this.notifyTraced(own as [Entry, ...Entry[]]);
        failpoint('after_outbox_start');
        outage.succeeded();
        done.push(...own);
      } catch (failure) {
        if (failure instanceof DatabaseUnavailable) throw failure;
        if (failure instanceof TemporalUnavailable) outage.failed();
        for (const { id } of own) failures.set(id, failure);
      }
    });
    await outbox.remove(done);
    for (const [type, own] of groupBy(done, ({ resourceType }) => resourceType))
      observer.relayed(type, own.length);
    const unavailable = [...failures.values()].find(
      (failure) => failure instanceof TemporalUnavailable,
    );
    if (unavailable !== undefined) observer.unavailable(unavailable.message);
    return { untried, failures, isAway: outage.isAway };
  }

  /** Continues the trace of the resource's last change. */
  private notifyTraced(entries: readonly [Entry, ...Entry[]]): Promise<void> {
    const [{ resourceType, resourceId }] = entries;
    const traces = entries.flatMap(({ traceparent }) =>
      typeof traceparent === 'string' ? [traceparent] : [],
    );
    const span = { name: `outbox ${resourceType}`, attributes: { 'resource.id': resourceId } };
    return continueTrace(span, traces.at(-1), () => this.notify(resourceType, resourceId));
  }

  private async notify(type: string, resourceId: Uuid): Promise<void> {
    const { client, database, lookAgainMs } = this.deps;
    const resource = this.resources.get(type);
    if (resource === undefined) throw new Error(`the type ${type} has no workflow`);
    const row = (await resource.readWaiting(database.reader, [resourceId])).get(resourceId);
    if (row === undefined) return client.notifyWorkflow(resource.workflowIdOf(resourceId));
    const input = { ...row.input, lookAgainMs };
    await client.startOrNotify(resource.workflowType, resource.taskQueue, { ...row, input });
  }
}

/** Relays entries that the process that wrote them did not relay. */
export function outboxSweep(outbox: Outbox, relay: Relay): Sweep {
  return {
    name: 'outbox',
    everyMs: SWEEP_EVERY_MS,
    run: async (signal) => {
      const began = performance.now();
      const rows = await outbox.claim(CLAIM_SIZE);
      const isAway = await relay.relay(rows);
      if (isAway || rows.length < CLAIM_SIZE) return false;
      const restMs = Math.min(MAX_REST_MS, REST_TIMES * (performance.now() - began));
      await sleep(restMs, undefined, { signal }).catch(() => undefined);
      return true;
    },
  };
}

/** Further entries are left to the sweeper, so that a burst does not slow down the process. */
const MAX_WAITING = 500;
const RELAY_SIZE = 100;

/** Relays entries in the background, right after their commit. */
export class OutboxNotifier {
  private waiting: Entry[] = [];
  private running: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    private readonly relay: Pick<Relay, 'relayNew'>,
    private readonly onFault: (fault: unknown) => void,
  ) {}

  /** Queues an entry. Never throws. */
  notify(entry: Entry): void {
    if (this.isStopped || this.waiting.length >= MAX_WAITING) return;
    this.waiting.push({ traceparent: currentTraceparent(), ...entry });
    this.running ??= untraced(() => this.run()).finally(() => (this.running = null));
  }

  /** Leaves queued entries to the sweeper. Resolves after the running relay. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.waiting = [];
    await this.running;
  }

  private async run(): Promise<void> {
    // Entries written in this turn of the event loop share a group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) {
      try {
        await this.relay.relayNew(this.waiting.splice(0, RELAY_SIZE));
      } catch (fault) {
        this.onFault(fault);
      }
    }
  }
}
