import { once } from 'node:events';
import { connect } from 'node:net';
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type WorkflowClientInterceptor,
  WorkflowNotFoundError,
} from '@temporalio/client';
import {
  defaultPayloadConverter,
  defineSearchAttributeKey,
  type Payload,
  TypedSearchAttributes,
} from '@temporalio/common';
import { requiredTsToMs } from '@temporalio/common/lib/time.js';
import { type Instant, instant } from '../core/instant.js';
import { CertificateRenewals, type TemporalOptions } from './connection-options.js';
import {
  AUDIT_SCHEDULE_ID,
  type AuditProgress,
  type AuditResult,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  parseSignal,
  type TaskQueue,
  type WorkflowType,
} from './contracts.js';
import { isNotFound, isTransient, messageOf, TemporalUnavailable } from './failures.js';
import { OpenConnection } from './open-connection.js';
import type { WorkflowStart } from './workflow-resources.js';

export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * A signal in a run's history: the time at which the server received it, and its content as the
 * workflow reads it.
 */
export interface ReceivedSignal extends ReturnType<typeof parseSignal> {
  readonly at: Instant;
}

type HistoryPage = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;

const DEADLINE_MS = 3_000;
const LIST_DEADLINE_MS = 10_000;
const ANSWER_DEADLINE_MS = 2_000;
/**
 * Window in which a missed start of the audit is caught up. Later, the next scheduled start
 * continues the audit.
 */
const CATCH_UP = '1 minute';
const PAGE = 500;
const WORKFLOW_TASK_TIMEOUT = '3 seconds';
/** The server's default limit. */
const HISTORY_PAGE = 256;
const BUSINESS_STATUS = defineSearchAttributeKey(SEARCH_ATTRIBUTES.businessStatus, 'KEYWORD');

/** Calls to Temporal, each with a deadline. Throws `TemporalUnavailable`, or Temporal's refusal. */
export class TemporalClient {
  private open: OpenConnection;
  private readonly renewals: CertificateRenewals;

  constructor(
    private readonly options: TemporalOptions,
    private readonly interceptors: readonly WorkflowClientInterceptor[] = [],
  ) {
    this.renewals = new CertificateRenewals(options.tls);
    this.open = new OpenConnection(options, interceptors);
  }

  private renew(): void {
    void this.open.close().catch(() => undefined);
    this.open = new OpenConnection(this.options, this.interceptors);
  }

  /** Starts the workflow, or notifies the running one that its resource changed. */
  async startOrNotify(
    type: WorkflowType,
    taskQueue: TaskQueue,
    start: WorkflowStart,
  ): Promise<void> {
    await this.within(DEADLINE_MS, ({ client }) =>
      client.workflow.signalWithStart(type, {
        workflowId: start.workflowId,
        taskQueue,
        args: [{ ...start.input, summary: start.summary }],
        signal: SIGNALS.changed,
        signalArgs: [],
        typedSearchAttributes: searchAttributesOf(start),
        staticSummary: start.summary,
        // Servers with fairness keys serve tenants with waiting tasks in turn. Activities inherit
        // the key.
        priority: { fairnessKey: start.tenantId },
        // Time after which the server hands out a lost task again. Workflow tasks of this service
        // take milliseconds.
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        // The resource is still waiting, so an ended workflow with this id was ended by hand.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
  }

  /** Notifies a workflow that its resource changed. Does nothing if the workflow is not running. */
  async notifyWorkflow(workflowId: string): Promise<void> {
    try {
      await this.within(DEADLINE_MS, ({ client }) =>
        client.workflow.getHandle(workflowId).signal(SIGNALS.changed),
      );
    } catch (failure) {
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
  }

  /** Returns the `BusinessStatus` of a workflow, or undefined if it is not running. */
  async runningStatus(workflowId: string): Promise<string | undefined> {
    try {
      const { status, typedSearchAttributes } = await this.within(DEADLINE_MS, ({ client }) =>
        client.workflow.getHandle(workflowId).describe(),
      );
      return status.name === 'RUNNING' ? typedSearchAttributes.get(BUSINESS_STATUS) : undefined;
    } catch (failure) {
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
      return undefined;
    }
  }

  /**
   * Yields pages of the ids of a type's running workflows. Temporal's visibility store may lag
   * behind.
   */
  async *runningPages(type: WorkflowType): AsyncGenerator<readonly string[]> {
    const query = `WorkflowType="${type}" AND ExecutionStatus="Running"`;
    let nextPageToken: Uint8Array | undefined;
    do {
      const token = nextPageToken;
      const page = await this.within(LIST_DEADLINE_MS, ({ client }) =>
        client.workflowService.listWorkflowExecutions({
          namespace: this.options.namespace,
          query,
          pageSize: PAGE,
          ...(token === undefined ? {} : { nextPageToken: token }),
        }),
      );
      yield page.executions.flatMap(({ execution }) => execution?.workflowId ?? []);
      nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
    } while (nextPageToken !== undefined);
  }

  /**
   * Returns a run's signals by name, in order. Reads the whole history. Returns an empty map for an
   * unknown run.
   */
  async signalsOf({
    workflowId,
    runId,
  }: WorkflowRun): Promise<ReadonlyMap<string, readonly ReceivedSignal[]>> {
    const found = new Map<string, ReceivedSignal[]>();
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = await this.historyPage({ workflowId, runId }, nextPageToken);
      for (const { workflowExecutionSignaledEventAttributes: signal, eventTime } of page?.history
        ?.events ?? []) {
        if (typeof signal?.signalName !== 'string') continue;
        const named = found.get(signal.signalName) ?? [];
        const at = instant(requiredTsToMs(eventTime, 'eventTime'));
        named.push({ at, ...parseSignal(decoded(signal.input?.payloads?.[0])) });
        found.set(signal.signalName, named);
      }
      nextPageToken =
        page === null || page.nextPageToken.length === 0 ? undefined : page.nextPageToken;
    } while (nextPageToken !== undefined);
    return found;
  }

  private async historyPage(
    execution: WorkflowRun,
    nextPageToken: Uint8Array | undefined,
  ): Promise<HistoryPage | null> {
    const { namespace } = this.options;
    const token = nextPageToken === undefined ? {} : { nextPageToken };
    const request = { namespace, execution, maximumPageSize: HISTORY_PAGE, ...token };
    try {
      return await this.within(LIST_DEADLINE_MS, ({ client }) =>
        client.workflowService.getWorkflowExecutionHistory(request),
      );
    } catch (failure) {
      if (isNotFound(failure)) return null;
      throw failure;
    }
  }

  /** Registers the search attributes that the namespace lacks, and returns their names. */
  async registerSearchAttributes(): Promise<readonly string[]> {
    const { namespace } = this.options;
    const known = await this.within(LIST_DEADLINE_MS, ({ connection }) =>
      connection.operatorService.listSearchAttributes({ namespace }),
    );
    const missing = Object.values(SEARCH_ATTRIBUTES).filter(
      (name) => !(name in known.customAttributes),
    );
    if (missing.length > 0)
      await this.within(LIST_DEADLINE_MS, ({ connection }) =>
        connection.operatorService.addSearchAttributes({
          namespace,
          searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD_TYPE])),
        }),
      );
    return missing;
  }

  /**
   * Returns the latest checkpoint of the audit, from the heartbeat of its running activity or from
   * the last result. Returns null without a checkpoint. The caller validates it.
   */
  async auditCheckpoint(): Promise<unknown> {
    // The SDK would repeat a refused call until its deadline, and postings wait for this call.
    await assertListens(this.options.address);
    return this.within(DEADLINE_MS, async ({ client }) => {
      const described = await client.schedule
        .getHandle(AUDIT_SCHEDULE_ID)
        .describe()
        .catch(nullIfMissing);
      for (const { action } of described?.info.recentActions.toReversed() ?? []) {
        const run = client.workflow.getHandle(action.workflow.workflowId);
        const { status, raw } = await run.describe();
        const beat = decoded(
          raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0] ?? undefined,
        );
        if (beat !== undefined) return (beat as AuditProgress).checkpoint;
        if (status.name === 'COMPLETED')
          return ((await run.result()) as AuditResult).checkpoint ?? null;
      }
      return null;
    });
  }

  /**
   * Creates, updates or deletes (0) the audit's schedule. Audits never overlap: a start that is due
   * during a run happens after it. `id` is the id of the schedule and the prefix of its workflows'
   * ids.
   */
  async keepSchedule(
    id: string,
    type: WorkflowType,
    taskQueue: TaskQueue,
    everyMs: number,
  ): Promise<void> {
    const spec = { intervals: [{ every: everyMs }] };
    const policies = { overlap: 'BUFFER_ONE' as const, catchupWindow: CATCH_UP };
    await this.within(LIST_DEADLINE_MS, async ({ client: { schedule } }) => {
      const handle = schedule.getHandle(id);
      try {
        if (everyMs === 0) await handle.delete();
        else await handle.update((known) => ({ ...known, spec, policies }));
      } catch (failure) {
        if (!(failure instanceof ScheduleNotFoundError)) throw failure;
        if (everyMs === 0) return;
        await schedule
          .create({
            scheduleId: id,
            spec,
            action: {
              type: 'startWorkflow',
              workflowType: type,
              workflowId: id,
              taskQueue,
              args: [],
            },
            policies,
            state: { triggerImmediately: true },
          })
          .catch(ignoreExisting);
      }
    });
  }

  /** Whether the server responds within two seconds. Never throws. */
  async answers(): Promise<boolean> {
    try {
      await this.within(ANSWER_DEADLINE_MS, ({ connection }) =>
        connection.workflowService.getSystemInfo({}),
      );
      return true;
    } catch {
      return false;
    }
  }

  /** Closes the connection once the current calls have ended. */
  async close(): Promise<void> {
    await this.open.close();
  }

  /** Runs a call on the current connection, which stays open until the call has ended. */
  private async within<T>(
    deadlineMs: number,
    call: (open: OpenConnection) => Promise<T>,
  ): Promise<T> {
    if (this.renewals.isDue()) this.renew();
    try {
      return await this.open.within(deadlineMs, call);
    } catch (failure) {
      throw isTransient(failure)
        ? new TemporalUnavailable(messageOf(failure), { cause: failure })
        : failure;
    }
  }
}

/** Decodes a payload like workflows/payload-converter.ts does: undefined if it cannot be read. */
function decoded(payload: Payload | undefined): unknown {
  try {
    return payload === undefined
      ? undefined
      : defaultPayloadConverter.fromPayload<unknown>(payload);
  } catch {
    return undefined;
  }
}

function nullIfMissing(failure: unknown): null {
  if (!(failure instanceof ScheduleNotFoundError)) throw failure;
  return null;
}

/** Throws `TemporalUnavailable` at once if the address refuses connections. */
async function assertListens(address: string): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect(Number.parseInt(port, 10), hostname.replace(/^\[|\]$/g, ''));
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error('no connection in time')));
  try {
    await once(socket, 'connect');
  } catch (failure) {
    throw new TemporalUnavailable(messageOf(failure), { cause: failure });
  } finally {
    socket.destroy();
  }
}

/** Ignores that another process has already created the schedule. */
function ignoreExisting(failure: unknown): void {
  if (!(failure instanceof ScheduleAlreadyRunning)) throw failure;
}

/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's protocol. */
const KEYWORD_TYPE = 2;

function searchAttributesOf({
  tenantId,
  resourceId,
  accountId,
  status,
  amount,
}: WorkflowStart): TypedSearchAttributes {
  const values = { tenantId, resourceId, accountId, businessStatus: status, amount };
  return new TypedSearchAttributes(
    Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, attribute]) => {
      const value = values[name as keyof typeof values];
      return value === null ? [] : [{ key: defineSearchAttributeKey(attribute, 'KEYWORD'), value }];
    }),
  );
}
