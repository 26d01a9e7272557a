import {
  Client,
  Connection,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ServiceError,
  type WorkflowClientInterceptor,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, NamespaceNotFoundError, TypedSearchAttributes } from '@temporalio/common';
import { requiredTsToMs } from '@temporalio/common/lib/time.js';
import { type Instant, instant } from '../core/instant.js';
import { connectionOptions, Renewals, type TemporalOptions } from './connecting.js';
import { SEARCH_ATTRIBUTES, SIGNALS, type TaskQueue, type WorkflowType } from './contracts.js';
import type { WantedWorkflow } from './waiting.js';

/** One run of a workflow. */
export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

type HistoryPage = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;

/** Temporal cannot be reached, or is overloaded: the same call may work in a while. */
export class TemporalUnavailable extends Error {
  override name = 'TemporalUnavailable';
}

const DEADLINE_MS = 3_000;
const LIST_DEADLINE_MS = 10_000;
const ANSWER_DEADLINE_MS = 2_000;
/** What was missed while the server was away is not made up for: the next start goes on. */
const CATCH_UP = '1 minute';
const PAGE = 1_000;
const WORKFLOW_TASK_TIMEOUT = '3 seconds';
/** The server's own bound unless it is configured otherwise. */
const HISTORY_PAGE = 256;
/** gRPC: NOT_FOUND. */
const NOT_FOUND_CODE = 5;

/** gRPC: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE, and CANCELLED as a closed connection gives it. */
const PASSING_CODES: readonly number[] = [1, 4, 8, 14];

/**
 * What the service asks of Temporal. Connects when it is first asked; every call has a deadline. Every method may throw
 * TemporalUnavailable; another error is Temporal's refusal of this one call.
 */
export class TemporalClient {
  private connection: Connection;
  private client: Client;
  private readonly renewals: Renewals;

  constructor(
    private readonly options: TemporalOptions,
    private readonly interceptors: readonly WorkflowClientInterceptor[] = [],
  ) {
    this.renewals = new Renewals(options.tls);
    this.connection = Connection.lazy(connectionOptions(options));
    this.client = this.clientOver(this.connection);
  }

  private clientOver(connection: Connection): Client {
    const { namespace } = this.options;
    return new Client({ connection, namespace, interceptors: { workflow: [...this.interceptors] } });
  }

  /** Calls that are under way on the old connection end there. */
  private renew(): void {
    const old = this.connection;
    this.connection = Connection.lazy(connectionOptions(this.options));
    this.client = this.clientOver(this.connection);
    setTimeout(() => void old.close().catch(() => undefined), LIST_DEADLINE_MS).unref();
  }

  /** Starts the workflow, or tells the running one that its resource changed. */
  async startOrTell(type: WorkflowType, taskQueue: TaskQueue, wanted: WantedWorkflow): Promise<void> {
    await this.within(DEADLINE_MS, () =>
      this.client.workflow.signalWithStart(type, {
        workflowId: wanted.workflowId,
        taskQueue,
        args: [{ ...wanted.input, summary: wanted.summary }],
        signal: SIGNALS.changed,
        signalArgs: [],
        typedSearchAttributes: searchAttributesOf(wanted),
        staticSummary: wanted.summary,
        // Where the server knows it, tenants whose tasks wait are served in turn; its activities inherit it.
        priority: { fairnessKey: wanted.tenantId },
        // A task that is lost between server and worker is given out again after this; ours take milliseconds.
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        // Its resource still waits, so a workflow of this id that has ended was ended by hand.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
  }

  /** Tells the workflow that its resource changed; one that is not running need not know. */
  async tell(workflowId: string): Promise<void> {
    try {
      await this.within(DEADLINE_MS, () => this.client.workflow.getHandle(workflowId).signal(SIGNALS.changed));
    } catch (failure) {
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
  }

  /** The ids of the workflows of a type that run, as far as visibility has caught up. */
  async *running(type: WorkflowType): AsyncGenerator<string> {
    const query = `WorkflowType="${type}" AND ExecutionStatus="Running"`;
    let nextPageToken: Uint8Array | undefined;
    do {
      const token = nextPageToken;
      const page = await this.within(LIST_DEADLINE_MS, () =>
        this.client.workflowService.listWorkflowExecutions({
          namespace: this.client.options.namespace,
          query,
          pageSize: PAGE,
          ...(token === undefined ? {} : { nextPageToken: token }),
        }),
      );
      for (const { execution } of page.executions)
        if (typeof execution?.workflowId === 'string') yield execution.workflowId;
      nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
    } while (nextPageToken !== undefined);
  }

  /**
   * When the server had each signal of a run, by its name, oldest first; an empty map for a run that it does not know. Reads the
   * whole history, which the server keeps below 51,200 events.
   */
  async signalsOf({ workflowId, runId }: WorkflowRun): Promise<ReadonlyMap<string, readonly Instant[]>> {
    const found = new Map<string, Instant[]>();
    let nextPageToken: Uint8Array | undefined;
    do {
      const page = await this.historyPage({ workflowId, runId }, nextPageToken);
      for (const { workflowExecutionSignaledEventAttributes: signal, eventTime } of page?.history?.events ?? []) {
        if (typeof signal?.signalName !== 'string') continue;
        const times = found.get(signal.signalName) ?? [];
        times.push(instant(requiredTsToMs(eventTime, 'eventTime')));
        found.set(signal.signalName, times);
      }
      nextPageToken = page === null || page.nextPageToken.length === 0 ? undefined : page.nextPageToken;
    } while (nextPageToken !== undefined);
    return found;
  }

  private async historyPage(
    execution: WorkflowRun,
    nextPageToken: Uint8Array | undefined,
  ): Promise<HistoryPage | null> {
    const { namespace } = this.client.options;
    const token = nextPageToken === undefined ? {} : { nextPageToken };
    const request = { namespace, execution, maximumPageSize: HISTORY_PAGE, ...token };
    try {
      return await this.within(LIST_DEADLINE_MS, () =>
        this.client.workflowService.getWorkflowExecutionHistory(request),
      );
    } catch (failure) {
      if (isGrpcServiceError(failure) && failure.code === NOT_FOUND_CODE) return null;
      throw failure;
    }
  }

  /** Registers the search attributes that the namespace lacks. Answers the names of those that it made. */
  async registerSearchAttributes(): Promise<readonly string[]> {
    const { namespace } = this.client.options;
    const known = await this.within(LIST_DEADLINE_MS, () =>
      this.connection.operatorService.listSearchAttributes({ namespace }),
    );
    const missing = Object.values(SEARCH_ATTRIBUTES).filter((name) => !(name in known.customAttributes));
    if (missing.length > 0)
      await this.within(LIST_DEADLINE_MS, () =>
        this.connection.operatorService.addSearchAttributes({
          namespace,
          searchAttributes: Object.fromEntries(missing.map((name) => [name, KEYWORD_TYPE])),
        }),
      );
    return missing;
  }

  /**
   * Has the workflow started again and again, and never while it runs; 0: not any more. `id` is the schedule's, and begins the
   * workflows' own.
   */
  async keepSchedule(id: string, type: WorkflowType, taskQueue: TaskQueue, everyMs: number): Promise<void> {
    const { schedule } = this.client;
    const spec = { intervals: [{ every: everyMs }] };
    const handle = schedule.getHandle(id);
    await this.within(LIST_DEADLINE_MS, async () => {
      try {
        if (everyMs === 0) await handle.delete();
        else await handle.update((known) => ({ ...known, spec }));
      } catch (failure) {
        if (!(failure instanceof ScheduleNotFoundError)) throw failure;
        if (everyMs === 0) return;
        await schedule
          .create({
            scheduleId: id,
            spec,
            action: { type: 'startWorkflow', workflowType: type, workflowId: id, taskQueue, args: [] },
            policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
          })
          .catch(unlessThere);
      }
    });
  }

  /** Whether it answers at all, within two seconds. Never throws. */
  async answers(): Promise<boolean> {
    try {
      await this.within(ANSWER_DEADLINE_MS, () => this.connection.workflowService.getSystemInfo({}));
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private async within<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
    if (this.renewals.isDue()) this.renew();
    try {
      return await this.connection.withDeadline(Date.now() + deadlineMs, call);
    } catch (failure) {
      throw isPassing(failure) ? new TemporalUnavailable(messageOf(failure), { cause: failure }) : failure;
    }
  }
}

/** Another process was first. */
function unlessThere(failure: unknown): void {
  if (!(failure instanceof ScheduleAlreadyRunning)) throw failure;
}

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's protocol. */
const KEYWORD_TYPE = 2;

function searchAttributesOf({ tenantId, resourceId, accountId, status }: WantedWorkflow): TypedSearchAttributes {
  const values = { tenantId, resourceId, accountId, businessStatus: status };
  return new TypedSearchAttributes(
    Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, attribute]) => {
      const value = values[name as keyof typeof values];
      return value === null ? [] : [{ key: defineSearchAttributeKey(attribute, 'KEYWORD'), value }];
    }),
  );
}

/** True when the call may have failed for a reason that passes. */
function isPassing(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  return isGrpcServiceError(cause) && PASSING_CODES.includes(cause.code);
}

/** gRPC: NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const CODES_OF_EVERY_CALL: readonly number[] = [NOT_FOUND_CODE, 7, 12, 16];

/** True when any other call would have failed as well: there is no such namespace, or we may not. */
export function isOfEveryCall(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (cause instanceof NamespaceNotFoundError || failure instanceof NamespaceNotFoundError) return true;
  return isGrpcServiceError(cause) && CODES_OF_EVERY_CALL.includes(cause.code);
}

/** One line for logs and operators: Temporal's own words, which hold no payload. */
export function messageOf(failure: unknown): string {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (isGrpcServiceError(cause)) return cause.details === '' ? cause.message : cause.details;
  return failure instanceof Error ? failure.message : String(failure);
}
