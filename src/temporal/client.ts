import { once } from 'node:events';
import { connect } from 'node:net';
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type WorkflowClientInterceptor,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { requiredTsToMs } from '@temporalio/common/lib/time.js';
import { type Instant, instant } from '../core/instant.js';
import { CertificateRenewals, OpenConnection, type TemporalOptions } from './connection-options.js';
import {
  AUDIT_SCHEDULE_ID,
  type AuditProgress,
  type AuditResult,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  type StaffSignal,
  parseSignal,
  type TaskQueue,
  type WorkflowType,
} from './contracts.js';
import { decodePayload } from './contracts-payload.js';
import { isNotFound, isTransient, messageOf, TemporalUnavailable } from './failures.js';
import type { WorkflowStart } from './workflow-resources.js';

export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

type ExpectedSignal = Pick<StaffSignal, 'action' | 'number' | 'actor' | 'reason' | 'code'>;

const DEADLINE_MS = 3_000;
const LIST_DEADLINE_MS = 10_000;
const RESPONSE_DEADLINE_MS = 2_000;
/** An audit whose start is late by more than this is skipped. */
const CATCH_UP_WINDOW = '1 minute';
const PAGE = 500;
const WORKFLOW_TASK_TIMEOUT = '3 seconds';
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
        // Servers with fairness serve tenants in turn. Activities inherit the key.
        priority: { fairnessKey: start.tenantId },
        // After this time, a lost task is given to another worker.
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        // The resource still waits, so a workflow that ended was terminated by a person.
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      }),
    );
  }

  /** Does nothing if the workflow is not running. */
  async notifyWorkflow(workflowId: string): Promise<void> {
    try {
      await this.within(DEADLINE_MS, ({ client }) =>
        client.workflow.getHandle(workflowId).signal(SIGNALS.changed),
      );
    } catch (failure) {
      if (!(failure instanceof WorkflowNotFoundError)) throw failure;
    }
  }

  /** Returns the `BusinessStatus`; undefined if the workflow is not running. */
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

  /** Yields pages of ids of running workflows, from an index that may lag. */
  async *runningPages(type: WorkflowType): AsyncGenerator<readonly string[]> {
    const query = `WorkflowType="${type}" AND ExecutionStatus="Running"`;
    const list = { namespace: this.options.namespace, query, pageSize: PAGE };
    const pages = this.pages(({ workflowService }, token) =>
      workflowService.listWorkflowExecutions({ ...list, ...token }),
    );
    for await (const { executions } of pages)
      yield executions.flatMap(({ execution }) => execution?.workflowId ?? []);
  }

  /**
   * Returns when the run's `number`th signal of this name arrived, by the history, because the
   * workflow's clock is late if no worker was running. Null if that signal does not exist or has
   * other content, because an activity's input can be forged, but not the history.
   */
  async signalReceivedAt(
    { workflowId, runId }: WorkflowRun,
    { action, number, ...expected }: ExpectedSignal,
  ): Promise<Instant | null> {
    const { namespace } = this.options;
    const list = { namespace, execution: { workflowId, runId }, maximumPageSize: HISTORY_PAGE };
    const pages = this.pages(({ workflowService }, token) =>
      workflowService.getWorkflowExecutionHistory({ ...list, ...token }),
    );
    let count = 0;
    try {
      for await (const { history } of pages)
        for (const event of history?.events ?? []) {
          const signal = event.workflowExecutionSignaledEventAttributes;
          if (signal?.signalName !== action || (count += 1) !== number) continue;
          const { actor, reason, code } = parseSignal(decodePayload(signal.input?.payloads?.[0]));
          const isExpected =
            actor === expected.actor && reason === expected.reason && code === expected.code;
          return isExpected ? instant(requiredTsToMs(event.eventTime, 'eventTime')) : null;
        }
    } catch (failure) {
      if (!isNotFound(failure)) throw failure;
    }
    return null;
  }

  private async *pages<Page extends { readonly nextPageToken: Uint8Array }>(
    read: (client: Client, token: { readonly nextPageToken?: Uint8Array }) => Promise<Page>,
  ): AsyncGenerator<Page> {
    let token: { readonly nextPageToken?: Uint8Array } = {};
    do {
      const page = await this.within(LIST_DEADLINE_MS, ({ client }) => read(client, token));
      yield page;
      token = page.nextPageToken.length > 0 ? { nextPageToken: page.nextPageToken } : {};
    } while (token.nextPageToken !== undefined);
  }

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

  /** Returns the audit's latest checkpoint, which the caller validates; null without one. */
  async auditCheckpoint(): Promise<unknown> {
    // The SDK would retry a refused connection, and postings wait for this call.
    await assertListens(this.options.address);
    return this.within(DEADLINE_MS, async ({ client }) => {
      const described = await client.schedule
        .getHandle(AUDIT_SCHEDULE_ID)
        .describe()
        .catch((failure: unknown) => {
          if (!(failure instanceof ScheduleNotFoundError)) throw failure;
        });
      for (const { action } of described?.info.recentActions.toReversed() ?? []) {
        const run = client.workflow.getHandle(action.workflow.workflowId);
        const { status, raw } = await run.describe();
        const beat = decodePayload(
          raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.[0] ?? undefined,
        );
        if (beat !== undefined) return (beat as AuditProgress).checkpoint;
        if (status.name === 'COMPLETED')
          return ((await run.result()) as AuditResult).checkpoint ?? null;
      }
      return null;
    });
  }

  /** Creates or updates the schedule of audits, which never overlap. Deletes it if `everyMs` is 0. */
  async keepAuditSchedule(everyMs: number): Promise<void> {
    const spec = { intervals: [{ every: everyMs }] };
    const policies = { overlap: 'BUFFER_ONE' as const, catchupWindow: CATCH_UP_WINDOW };
    await this.within(LIST_DEADLINE_MS, async ({ client: { schedule } }) => {
      const handle = schedule.getHandle(AUDIT_SCHEDULE_ID);
      try {
        if (everyMs === 0) await handle.delete();
        else await handle.update((known) => ({ ...known, spec, policies }));
      } catch (failure) {
        if (!(failure instanceof ScheduleNotFoundError)) throw failure;
        if (everyMs === 0) return;
        const action = {
          type: 'startWorkflow',
          workflowType: 'ledgerAudit' satisfies WorkflowType,
          workflowId: AUDIT_SCHEDULE_ID,
          taskQueue: 'approvals' satisfies TaskQueue,
          args: [],
        } as const;
        const state = { triggerImmediately: true };
        await schedule
          .create({ scheduleId: AUDIT_SCHEDULE_ID, spec, action, policies, state })
          .catch((failure: unknown) => {
            // Another process may have created it.
            if (!(failure instanceof ScheduleAlreadyRunning)) throw failure;
          });
      }
    });
  }

  /** Returns whether the server responds within two seconds. Never throws. */
  async isResponding(): Promise<boolean> {
    try {
      await this.within(RESPONSE_DEADLINE_MS, ({ connection }) =>
        connection.workflowService.getSystemInfo({}),
      );
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await this.open.close();
  }

  /** The connection stays open until the call has ended. */
  private async within<T>(
    deadlineMs: number,
    call: (open: OpenConnection) => Promise<T>,
  ): Promise<T> {
    if (this.renewals.isDue()) {
      void this.open.close().catch(() => undefined);
      this.open = new OpenConnection(this.options, this.interceptors);
    }
    try {
      return await this.open.within(deadlineMs, call);
    } catch (failure) {
      throw isTransient(failure)
        ? new TemporalUnavailable(messageOf(failure), { cause: failure })
        : failure;
    }
  }
}

/** Throws `TemporalUnavailable` if the address refuses connections. */
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

/** `INDEXED_VALUE_TYPE_KEYWORD` in Temporal's protocol. */
const KEYWORD_TYPE = 2;

function searchAttributesOf(start: WorkflowStart): TypedSearchAttributes {
  const values = { ...start, businessStatus: start.status };
  return new TypedSearchAttributes(
    Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, attribute]) => {
      const value = values[name as keyof typeof SEARCH_ATTRIBUTES];
      return value === null ? [] : [{ key: defineSearchAttributeKey(attribute, 'KEYWORD'), value }];
    }),
  );
}
