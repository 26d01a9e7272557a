import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { literals } from '../db/statements.js';
import { rowParser, type Table } from '../db/table.js';
import type { TaskQueue, WorkflowType } from './contracts.js';

export interface WorkflowStart {
  readonly resourceId: Uuid;
  readonly tenantId: Uuid;
  readonly accountId: Uuid | null;
  /** Search attribute `BusinessStatus` of the workflow. */
  readonly status: string;
  /** Search attribute `Amount`, with the asset. Null if the amount is not known yet. */
  readonly amount: string | null;
  readonly workflowId: string;
  /** Summary in the Temporal UI. Contains ids, amounts and states, never personal data. */
  readonly summary: string;
  readonly input: object;
}

export interface WorkflowResource {
  readonly resourceType: WorkflowResourceType;
  readonly workflowType: WorkflowType;
  readonly taskQueue: TaskQueue;
  readonly workflowIdOf: (resourceId: Uuid) => string;
  /** Returns how to start the workflow of each of the resources that is waiting. */
  readWaiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WorkflowStart>>;
  /** Returns waiting resources created before `createdBefore`, in order of id. */
  listWaiting(
    reader: Reader,
    createdBefore: Instant,
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
  /** FROM and WHERE clauses that find waiting rows `t` by an index. */
  readonly from: string;
  /** SQL of the status that the workflow shows; `t.status` by default. */
  readonly shownStatus?: string;
  readonly describe: (
    row: Row,
  ) => Pick<WorkflowStart, 'summary' | 'input'> & Partial<Pick<WorkflowStart, 'status' | 'amount'>>;
}

const parseListed = rowParser({ id: uuid, tenantId: uuid, status: string });

/** Describes a table whose rows have a workflow in the given states. */
export function workflowResource<Row extends WaitingRow>(
  spec: ResourceSpec<Row>,
): WorkflowResource {
  const { table, states, from, shownStatus = 't.status', describe, ...common } = spec;
  const startOf = (row: Row): WorkflowStart => {
    const { id: resourceId, tenantId, sourceAccountId: accountId = null, status } = row;
    return {
      resourceId,
      tenantId,
      accountId,
      status,
      amount: null,
      workflowId: common.workflowIdOf(resourceId),
      ...describe(row),
    };
  };
  return {
    ...common,
    async readWaiting(reader, ids) {
      if (ids.length === 0) return new Map();
      const rows = await reader.list(
        table,
        `WHERE id IN (${ids.map(uuid.literal).join(',')}) AND status IN (${literals(table, 'status', states)})`,
      );
      return new Map(rows.map((row) => [row.id, startOf(row)]));
    },
    async listWaiting(reader, createdBefore, after, limit) {
      const afterSql = after === null ? '' : ` AND t.id>${uuid.literal(after)}`;
      const rows = await reader.query(
        `SELECT t.id, t.tenant_id, ${shownStatus} AS status FROM ${from} AND t.created_at<${time.literal(createdBefore)}${afterSql}
         ORDER BY t.id LIMIT ${Math.trunc(limit)}`,
      );
      return rows.map(parseListed);
    },
  };
}
