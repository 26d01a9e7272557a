import { parseUuid, type Uuid } from '../core/ids.js';
import { mapConcurrently } from '../core/collections.js';
import { type Clock, instant } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { restores as restoresTable } from '../db/entities/restores.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { TemporalClient } from './client.js';
import { OutageDetector, TemporalUnavailable } from './failures.js';
import { idsWithOutboxEntry, type Outbox } from './outbox.js';
import type { Sweep } from './sweeper.js';
import type { WorkflowResource } from './workflow-resources.js';

const TICK_MS = 5_000;
/** Less than 1, so that a pass begins before workflows check their resources themselves. */
const PASS_SHARE = 0.75;
/** Age from which a resource is compared. The outbox notifies workflows of younger ones. */
const MIN_AGE_MS = 60_000;
const ROWS_PER_SLICE = 200;
const CALLS_AT_ONCE = 20;

interface ReconciliationDeps {
  readonly database: Database;
  readonly outbox: Pick<Outbox, 'add'>;
  readonly client: Pick<TemporalClient, 'notifyWorkflow' | 'runningPages' | 'runningStatus'>;
  readonly resources: readonly WorkflowResource[];
  readonly clock: Clock;
  readonly lookAgainMs: number;
  /** Called with the number of resources whose workflow is missing or outdated. */
  readonly onBehind: (resourceType: WorkflowResourceType, resources: number) => void;
}

interface Pass {
  /** If there was a restore, every running workflow is notified. */
  readonly restores: readonly Uuid[];
  index: number;
  /** Null at the start of a type. */
  after: Uuid | null;
  /** Failures of calls for single workflows, which do not stop the pass. */
  readonly failures: unknown[];
}

/**
 * Compares waiting resources with their workflows, in case Temporal lost workflows or either side
 * was restored. Runs after a restore, and every 0.75 `lookAgainMs`. Throws failures of single
 * workflows after the pass.
 */
export function reconciliationSweep(deps: ReconciliationDeps): Sweep {
  const { database, resources, clock } = deps;
  let pass: Pass | null = null;
  let nextAt = 0;
  return {
    name: 'reconciliation',
    everyMs: TICK_MS,
    run: async (signal) => {
      const restores = pass?.restores ?? (await readNewRestores(database));
      if (pass === null && restores.length === 0 && clock() < nextAt) return false;
      pass ??= { restores, index: 0, after: null, failures: [] };
      try {
        while (pass.index < resources.length && !signal.aborted) await compareSlice(deps, pass);
      } catch (failure) {
        if (failure instanceof TemporalUnavailable) return false;
        throw failure;
      }
      if (signal.aborted) return false;
      await transact(database, (transaction) =>
        transaction.execute(
          updateSql(restoresTable, { workflowsNotifiedAt: clock() }, { id: restores }),
        ),
      );
      const { failures } = pass;
      pass = null;
      nextAt = clock() + deps.lookAgainMs * PASS_SHARE;
      if (failures.length > 0)
        throw new AggregateError(failures, 'calls for single workflows failed');
      return false;
    },
  };
}

async function compareSlice(deps: ReconciliationDeps, pass: Pass): Promise<void> {
  const { client, outbox, clock, lookAgainMs, onBehind } = deps;
  const { reader } = deps.database;
  const resource = deps.resources[pass.index] as WorkflowResource;
  const { resourceType, workflowIdOf } = resource;
  if (pass.after === null) await notifyEnded(deps, resource, pass);
  const createdBefore = instant(clock() - Math.min(MIN_AGE_MS, lookAgainMs));
  const rows = await resource.listWaiting(reader, createdBefore, pass.after, ROWS_PER_SLICE);
  const ids = rows.map(({ id }) => id);
  const withEntry = await idsWithOutboxEntry(reader, ids);
  const withoutEntry = rows.filter(({ id }) => !withEntry.has(id));
  const statuses = await callEach(pass, withoutEntry, ({ id }) =>
    client.runningStatus(workflowIdOf(id)),
  );
  // If a workflow cannot be read, the outbox notifies it, and shows why that fails.
  const behind = withoutEntry
    .filter(({ status }, index) => statuses[index] !== status)
    .map(({ id, tenantId }) => ({ tenantId, resourceType, resourceId: id }));
  await outbox.add(behind);
  if (behind.length > 0) onBehind(resourceType, behind.length);
  pass.after = ids.length < ROWS_PER_SLICE ? null : (ids.at(-1) ?? null);
  if (pass.after === null) pass.index += 1;
}

/**
 * Returns the result of a call for each workflow, undefined if that alone failed. Throws if Temporal
 * is away.
 */
function callEach<T, R>(
  { failures }: Pass,
  workflows: readonly T[],
  call: (workflow: T) => Promise<R>,
): Promise<readonly (R | undefined)[]> {
  const outage = new OutageDetector();
  return mapConcurrently(CALLS_AT_ONCE, workflows, async (workflow) => {
    try {
      const result = await call(workflow);
      outage.succeeded();
      return result;
    } catch (failure) {
      outage.failed();
      if (outage.isAway) throw failure;
      failures.push(failure);
      return undefined;
    }
  });
}

/** Notifies running workflows whose resource is not waiting. After a restore, notifies all. */
async function notifyEnded(
  { database, client }: ReconciliationDeps,
  { workflowType, readWaiting }: WorkflowResource,
  pass: Pass,
): Promise<void> {
  for await (const page of client.runningPages(workflowType)) {
    const idOf = (workflowId: string): Uuid | null => parseUuid(workflowId.split('/').at(-1) ?? '');
    const ids =
      pass.restores.length > 0 ? [] : page.flatMap((workflowId) => idOf(workflowId) ?? []);
    // If a row is unreadable, all workflows are notified, which is harmless.
    const waiting: ReadonlyMap<Uuid | null, unknown> = await readWaiting(
      database.reader,
      ids,
    ).catch(() => new Map());
    const ended = page.filter((workflowId) => !waiting.has(idOf(workflowId)));
    await callEach(pass, ended, (workflowId) => client.notifyWorkflow(workflowId));
  }
}

async function readNewRestores({ reader }: Database): Promise<Uuid[]> {
  const rows = await reader.query(
    'SELECT id FROM restores WHERE finished_at IS NOT NULL AND workflows_notified_at IS NULL',
  );
  return rows.map((row) => uuid.parse(row.id));
}
