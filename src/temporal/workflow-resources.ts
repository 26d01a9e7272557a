import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow, rowParser, type Table } from '../db/table.js';
import type { TaskQueue, WorkflowType } from './contracts.js';

/** Data for starting the workflow of a resource. */
export interface WorkflowStart {
  readonly resourceId: Uuid;
  readonly tenantId: Uuid;
  readonly accountId: Uuid | null;
  /** Status of the resource, shown as `BusinessStatus`. */
  readonly status: string;
  /** Amount of the resource with its asset, shown as `Amount`. Null if it has none yet. */
  readonly amount: string | null;
  readonly workflowId: string;
  /**
   * Summary that the UI shows next to the id. Contains ids, amounts and states, never personal
   * data.
   */
  readonly summary: string;
  /** Argument of the workflow, without the summary. Plain JSON. */
  readonly input: object;
}

/** A type of resource whose waiting resources each have a workflow. */
export interface WorkflowResource {
  readonly resourceType: WorkflowResourceType;
  readonly workflowType: WorkflowType;
  readonly taskQueue: TaskQueue;
  readonly workflowIdOf: (resourceId: Uuid) => string;
  /** Returns those of the resources `ids` that are still waiting. */
  readWaiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WorkflowStart>>;
  /**
   * Returns waiting resources created before `madeBefore`, by ascending id from `after`
   * (exclusive), at most `limit`.
   */
  listWaiting(
    reader: Reader,
    madeBefore: Instant,
    after: Uuid | null,
    limit: number,
  ): Promise<readonly Pick<WaitingRow, 'id' | 'tenantId' | 'status'>[]>;
}

interface WaitingRow {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly status: string;
}

interface ResourceSpec<Row> extends Pick<
  WorkflowResource,
  'resourceType' | 'workflowType' | 'taskQueue' | 'workflowIdOf'
> {
  readonly table: Table<Row>;
  readonly states: readonly (Row & WaitingRow)['status'][];
  /**
   * FROM clause that finds all waiting rows `t` by an index, because the table may have millions of
   * rows.
   */
  readonly from: string;
  /** SQL for the status that a row's workflow shows; `t.status` by default. */
  readonly shownStatus?: string;
  readonly about: (
    row: Row,
  ) => Pick<WorkflowStart, 'summary' | 'input'> & Partial<Pick<WorkflowStart, 'status' | 'amount'>>;
}

const parseListed = rowParser({ id: uuid, tenantId: uuid, status: string });

/** Describes the resources of a table that have a workflow in the given states. */
export function workflowResource<Row extends WaitingRow>(
  spec: ResourceSpec<Row>,
): WorkflowResource {
  const { table, states, from, shownStatus = 't.status', about, ...named } = spec;
  const known = literals(
    table,
    'status',
    (table.column('status').column.words ?? []) as readonly Row['status'][],
  );
  const startOf = (row: Row): WorkflowStart => {
    const { id: resourceId, tenantId, sourceAccountId: accountId = null, status } = row;
    return {
      resourceId,
      tenantId,
      accountId,
      status,
      amount: null,
      workflowId: named.workflowIdOf(resourceId),
      ...about(row),
    };
  };
  return {
    ...named,
    async readWaiting(reader, ids) {
      if (ids.length === 0) return new Map();
      // A newer release may wait in a state that this release does not know.
      const rows = await reader.query(
        `SELECT ${columnList(table)} FROM ${table.name} WHERE id IN (${ids.map(uuid.literal).join(',')})
         AND (status IN (${literals(table, 'status', states)}) OR status NOT IN (${known}))`,
      );
      return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, startOf(row)]));
    },
    async listWaiting(reader, madeBefore, after, limit) {
      const behind = after === null ? '' : ` AND t.id>${uuid.literal(after)}`;
      const rows = await reader.query(
        `SELECT t.id, t.tenant_id, ${shownStatus} AS status FROM ${from} AND t.created_at<${time.literal(madeBefore)}${behind}
         ORDER BY t.id LIMIT ${Math.trunc(limit)}`,
      );
      return rows.map(parseListed);
    },
  };
}
