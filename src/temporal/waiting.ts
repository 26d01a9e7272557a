import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import type { WaitingType } from '../db/entities/outbox.js';
import type { TaskQueue, WorkflowType } from './contracts.js';

/** The workflow that a resource which still waits ought to have. */
export interface WantedWorkflow {
  readonly resourceId: Uuid;
  readonly tenantId: Uuid;
  /** Null where it belongs to no account. */
  readonly accountId: Uuid | null;
  /** The resource's status, as BusinessStatus shows it. */
  readonly status: string;
  readonly workflowId: string;
  /** What is shown beside its id in the UI: ids, amounts and states, never personal data. */
  readonly summary: string;
  /** The workflow's one argument but for the summary; plain JSON. */
  readonly input: object;
}

/** What the bridge knows of a feature whose resources wait in workflows. */
export interface WaitingSource {
  readonly resourceType: WaitingType;
  readonly workflowType: WorkflowType;
  readonly taskQueue: TaskQueue;
  readonly workflowIdOf: (resourceId: Uuid) => string;
  /** Of these resources those that still wait, by id; what is settled is left out. */
  waiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WantedWorkflow>>;
  /** Resources that still wait and were made before, in the order of their ids, after `after`, at most `limit`. */
  longWaiting(
    reader: Reader,
    madeBefore: Instant,
    after: Uuid | null,
    limit: number,
  ): Promise<readonly { readonly id: Uuid; readonly tenantId: Uuid }[]>;
}
