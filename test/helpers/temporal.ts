import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, isGrpcDeadlineError, type WorkflowHandle } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import {
  QUERIES,
  type TaskQueue,
  transferWorkflowId,
  type WaitingState,
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

/** The workflow of a transfer. */
export function workflowOf({ client }: TestTemporal, transferId: string): WorkflowHandle {
  return client.workflow.getHandle(transferWorkflowId(transferId));
}

/** The answer of the workflow's query; null before the first one. */
export function stateOf(temporal: TestTemporal, transferId: string): Promise<WaitingState | null> {
  return workflowOf(temporal, transferId).query<WaitingState | null>(QUERIES.state);
}

/** The words that the UI shows as current details. */
export async function detailsOf(
  temporal: TestTemporal,
  transferId: string,
): Promise<string | undefined> {
  return workflowOf(temporal, transferId)
    .query<string>('__temporal_workflow_metadata')
    .then(currentDetails);
}

function currentDetails(metadata: unknown): string | undefined {
  const { currentDetails: details } = metadata as { readonly currentDetails?: string };
  return details;
}

/** The status in Temporal; undefined without a workflow. */
export async function workflowStatus(
  temporal: TestTemporal,
  transferId: string,
): Promise<string | undefined> {
  try {
    return (await workflowOf(temporal, transferId).describe()).status.name;
  } catch (failure) {
    if (failure instanceof Error && failure.name === 'WorkflowNotFoundError') return undefined;
    throw failure;
  }
}

/** Resolves when the workflow runs and has read its transfer. */
export function untilWaiting(
  temporal: TestTemporal,
  transferId: string,
  limits?: Parameters<typeof until>[2],
): Promise<WaitingState> {
  // Workers that are busy, or are restarted, may answer no query in time.
  const state = (): Promise<WaitingState | null> =>
    stateOf(temporal, transferId).catch((failure: unknown) => {
      if (isGrpcDeadlineError(failure)) return null;
      throw failure;
    });
  return until(
    `transfer ${transferId} has a workflow that waits`,
    async () => ((await workflowStatus(temporal, transferId)) === undefined ? null : state()),
    limits,
  );
}

/** Resolves when the workflow has ended by itself. */
export function untilEnded(temporal: TestTemporal, transferId: string): Promise<true> {
  return until(
    `the workflow of ${transferId} has completed`,
    async () => (await workflowStatus(temporal, transferId)) === 'COMPLETED',
  );
}
