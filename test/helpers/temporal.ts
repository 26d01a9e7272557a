import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, isGrpcDeadlineError, type WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import {
  type BatchState,
  QUERIES,
  type TaskQueue,
  type WaitingState,
  WORKFLOW_ID_OF,
} from '../../src/temporal/contracts.js';
import { type TestDatabase, testDatabase } from './database.js';

/** Where a Temporal is, as the service is told. */
export interface TemporalAddress {
  readonly address: string;
  readonly namespace: string;
}

/** A namespace on a Temporal server, as support staff and the `temporal` command line see it. */
export interface TestTemporal extends TemporalAddress {
  readonly client: Client;
}

const LIMIT_MS = 120_000;
/** The pause between two looks: a tenth of the time so far, within bounds. Constant looks would delay the awaited work. */
const POLL_MS = { shortest: 25, longest: 200 };

let own: { readonly of: TestDatabase; readonly temporal: Promise<TestTemporal> } | undefined;

/**
 * The namespace of this file's tests on the shared server: what other files and runs left waiting is not met.
 * It is registered at the first call, without search attributes: those are the service's to make.
 */
export async function testTemporal(): Promise<TestTemporal> {
  const of = await testDatabase();
  if (own?.of !== of) own = { of, temporal: newNamespace(sharedAddress(), of.name) };
  return own.temporal;
}

/** Where the server of the test run is. */
export function sharedAddress(): string {
  const address = process.env.TEST_TEMPORAL_ADDRESS;
  if (address === undefined || address === '')
    throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests by npm test');
  return address;
}

/** Makes a new namespace; resolves when it can be used. */
export async function newNamespace(address: string, name: string): Promise<TestTemporal> {
  const temporal = connectTemporal(address, namespaceName(name));
  await registerNamespace(temporal);
  return temporal;
}

export function namespaceName(name: string): string {
  return `${name}_${randomUUID().slice(0, 8)}`;
}

/** Connects when it is first used. It does not keep this process from ending. */
export function connectTemporal(address: string, namespace: string): TestTemporal {
  const connection = Connection.lazy({ address });
  return { address, namespace, client: new Client({ connection, namespace }) };
}

export async function registerNamespace({ client, namespace }: TestTemporal): Promise<void> {
  await client.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  // The server's parts learn of it one after the other.
  await until('the namespace can be used', async () => {
    try {
      await client.workflow.count('ExecutionStatus="Running"');
      await client.workflow.getHandle(`no-workflow/${randomUUID()}`).describe();
    } catch (failure) {
      return failure instanceof Error && failure.name === 'WorkflowNotFoundError';
    }
    return false;
  });
}

/** The environment of a process of the service that uses it. */
export function temporalEnvironment({
  address,
  namespace,
}: TemporalAddress): Readonly<Record<string, string>> {
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
}

/**
 * The environment of a worker that serves these queues alone. Each queue costs half a second of a processor at every
 * start.
 */
export function serving(
  ...queues: readonly [TaskQueue, ...TaskQueue[]]
): Readonly<Record<string, string>> {
  return { WORKER_QUEUES: queues.join(',') };
}

type Found<T> = Exclude<T, undefined | false | null>;

/** Looks again and again until there is something: what `look` answered then. Fails when that takes too long. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { limitMs = LIMIT_MS }: { readonly limitMs?: number } = {},
): Promise<Found<T>> {
  const began = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found as Found<T>;
    const tookMs = performance.now() - began;
    if (tookMs > limitMs) throw new Error(`not within ${limitMs} ms: ${what}`);
    await sleep(Math.min(POLL_MS.longest, Math.max(POLL_MS.shortest, tookMs / 10)));
  }
}

type WorkflowKind = keyof typeof WORKFLOW_ID_OF;

/** State that the query of a workflow returns. */
type StateOf<Kind extends WorkflowKind> = Kind extends `${string}_batch`
  ? BatchState
  : WaitingState;

/** The workflow of a resource, a transfer unless another kind is named. */
export function workflowOf(
  { client }: TestTemporal,
  id: string,
  kind: WorkflowKind = 'transfer',
): WorkflowHandle {
  return client.workflow.getHandle(WORKFLOW_ID_OF[kind](id));
}

/** The response to the workflow's query; null before the first one. */
export function stateOf<Kind extends WorkflowKind = 'transfer'>(
  temporal: TestTemporal,
  id: string,
  kind?: Kind,
): Promise<StateOf<Kind> | null> {
  return workflowOf(temporal, id, kind).query<StateOf<Kind> | null>(QUERIES.state);
}

/** The words that the UI shows as current details; empty without any. */
export async function detailsOf(
  temporal: TestTemporal,
  id: string,
  kind?: WorkflowKind,
): Promise<string> {
  const workflow = workflowOf(temporal, id, kind);
  const metadata = await workflow.query<{ currentDetails?: string }>(
    '__temporal_workflow_metadata',
  );
  return metadata.currentDetails ?? '';
}

/** The status in Temporal; undefined without a workflow. */
export async function workflowStatus(
  temporal: TestTemporal,
  id: string,
  kind?: WorkflowKind,
): Promise<string | undefined> {
  try {
    return (await workflowOf(temporal, id, kind).describe()).status.name;
  } catch (failure) {
    if (failure instanceof Error && failure.name === 'WorkflowNotFoundError') return undefined;
    throw failure;
  }
}

/** Resolves when the workflow runs and has read its resource. */
export function untilWaiting(
  temporal: TestTemporal,
  id: string,
  kind: 'transfer' | 'payout' = 'transfer',
  limits?: Parameters<typeof until>[2],
): Promise<WaitingState> {
  // Workers that are busy, or are restarted, may answer no query in time.
  const state = (): Promise<WaitingState | null> =>
    stateOf(temporal, id, kind).catch((failure: unknown) => {
      if (isGrpcDeadlineError(failure)) return null;
      throw failure;
    });
  return until(
    `${kind} ${id} has a workflow that waits`,
    async () => ((await workflowStatus(temporal, id, kind)) === undefined ? null : state()),
    limits,
  );
}

/** Resolves when the workflow has ended by itself. */
export function untilEnded(
  temporal: TestTemporal,
  id: string,
  kind?: WorkflowKind,
  limits?: Parameters<typeof until>[2],
): Promise<true> {
  return until(
    `the workflow of ${id} has completed`,
    async () => (await workflowStatus(temporal, id, kind)) === 'COMPLETED',
    limits,
  );
}
