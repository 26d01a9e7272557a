import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { webhookWorkflowId } from '../temporal/contracts.js';
import { type TemporalClient, TemporalUnavailable } from '../temporal/client.js';
import type { WantedWorkflow } from '../temporal/waiting.js';
import { dueEndpoints } from './sweeping.js';

/** Commits of so long share a look for what they made due. */
const GATHER_MS = 20;
/** An endpoint that was woken begins within that time; it is not woken again before. */
const QUIET_MS = 300;
/** Endpoints of one look; what is beyond them is the sweeper's. */
const AT_ONCE = 200;

/**
 * Wakes the drains of endpoints for which something became due: starts their workflow, or tells the one that waits. Only those
 * that nobody drains are woken: a drain looks for new events by itself. What this misses the sweeper finds within a second.
 */
export class Waker {
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly woken = new Map<Uuid, number>();
  private readonly tenants = new Set<Uuid>();
  private readonly endpoints = new Set<Uuid>();
  private running: Promise<void> | null = null;
  private isStopped = false;

  constructor(
    parts: { readonly database: Database; readonly clock: Clock },
    private readonly client: Pick<TemporalClient, 'startOrTell'>,
    private readonly onFault: (fault: unknown) => void,
  ) {
    this.database = parts.database;
    this.clock = parts.clock;
  }

  /** Something was committed for these tenants' endpoints. Never throws, never waits. */
  eventsOf(tenantIds: Iterable<Uuid>): void {
    for (const id of tenantIds) this.tenants.add(id);
    this.begin();
  }

  /** The same for one endpoint, whose own request made something due. */
  endpoint(endpointId: Uuid): void {
    this.endpoints.add(endpointId);
    this.begin();
  }

  private begin(): void {
    if (!this.isStopped) this.running ??= this.run().finally(() => (this.running = null));
  }

  /**
   * Wakes these, and answers those that were woken just now and are not woken again. Throws TemporalUnavailable at once, or at the end
   * what Temporal refused the last of them with.
   */
  async wake(endpointIds: readonly Uuid[]): Promise<readonly Uuid[]> {
    const now = performance.now();
    for (const [id, at] of this.woken) if (now - at > QUIET_MS) this.woken.delete(id);
    const due = endpointIds.filter((id) => !this.woken.has(id));
    const rows = await this.database.reader.select(webhookEndpoints, { id: due });
    let refusal: { readonly failure: unknown } | null = null;
    for (const { id, tenantId, status } of rows) {
      this.woken.set(id, now);
      try {
        await this.client.startOrTell('webhookEndpoint', 'webhooks', wantedWorkflow(id, tenantId, status));
      } catch (failure) {
        this.woken.delete(id);
        if (failure instanceof TemporalUnavailable) throw failure;
        refusal = { failure };
      }
    }
    if (refusal !== null) throw refusal.failure;
    return endpointIds.filter((id) => !due.includes(id));
  }

  /** Resolves when what was begun has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private dueOf(tenantIds: readonly Uuid[]): Promise<readonly Uuid[]> {
    return dueEndpoints(this.database, this.clock(), AT_ONCE, tenantIds);
  }

  private async run(): Promise<void> {
    while (this.tenants.size + this.endpoints.size > 0 && !this.isStopped) {
      await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
      const [tenantIds, endpointIds] = [[...this.tenants], [...this.endpoints]];
      this.tenants.clear();
      this.endpoints.clear();
      try {
        const due = tenantIds.length === 0 ? [] : await this.dueOf(tenantIds);
        const left = await this.wake([...new Set([...endpointIds, ...due])]);
        // What was asked for it was made after it was woken, perhaps after it had ended again.
        const again = endpointIds.filter((id) => left.includes(id));
        if (again.length > 0) setTimeout(() => again.forEach((id) => this.endpoint(id)), QUIET_MS).unref();
      } catch (fault) {
        if (!(fault instanceof TemporalUnavailable)) this.onFault(fault);
      }
    }
  }
}

function wantedWorkflow(id: Uuid, tenantId: Uuid, status: string): WantedWorkflow {
  return {
    resourceId: id,
    tenantId,
    accountId: null,
    status,
    workflowId: webhookWorkflowId(id),
    summary: 'Deliveries to a webhook endpoint',
    input: { endpointId: id },
  };
}
