import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WorkflowResourceType } from '../db/entities/outbox.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow, rowParser, type Table } from '../db/table.js';
import type { TaskQueue, WorkflowType } from './contracts.js';

/** How to start a resource's workflow. */
export interface WorkflowStart {
  readonly resourceId: Uuid;
  readonly tenantId: Uuid;
  readonly accountId: Uuid | null;
  /** The resource's status, shown as BusinessStatus. */
  readonly status: string;
  readonly workflowId: string;
  /** Shown beside its id in the UI: ids, amounts and states, never personal data. */
  readonly summary: string;
  /** The workflow's argument, without the summary; plain JSON. */
  readonly input: object;
}

/** A type of resource that has a workflow while it waits. */
export interface WorkflowResource {
  readonly resourceType: WorkflowResourceType;
  readonly workflowType: WorkflowType;
  readonly taskQueue: TaskQueue;
  readonly workflowIdOf: (resourceId: Uuid) => string;
  /** Returns the resources among `ids` that still wait, by id. */
  readWaiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WorkflowStart>>;
  /**
   * Returns resources that wait and were created before the moment, in order of id after `after`,
   * at most `limit`.
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
   * SQL that finds all waiting rows `t` by an index, because the table may have many millions of
   * rows.
   */
  readonly from: string;
  readonly about: (
    row: Row,
  ) => Pick<WorkflowStart, 'summary' | 'input'> & Partial<Pick<WorkflowStart, 'status'>>;
}

const parseListed = rowParser({ id: uuid, tenantId: uuid, status: string });

/**
 * Describes the resources of a table that have a workflow while they are in one of these states.
 */
export function workflowResource<Row extends WaitingRow>(
  spec: ResourceSpec<Row>,
): WorkflowResource {
  const { table, states, from, about, ...named } = spec;
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
      workflowId: named.workflowIdOf(resourceId),
      ...about(row),
    };
  };
  return {
    ...named,
    async readWaiting(reader, ids) {
      if (ids.length === 0) return new Map();
      // A state that this release does not know may be one that a newer release waits in.
      const rows = await reader.query(
        `SELECT ${columnList(table)} FROM ${table.name} WHERE id IN (${ids.map(uuid.literal).join(',')})
         AND (status IN (${literals(table, 'status', states)}) OR status NOT IN (${known}))`,
      );
      return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, startOf(row)]));
    },
    async listWaiting(reader, madeBefore, after, limit) {
      const behind = after === null ? '' : ` AND t.id>${uuid.literal(after)}`;
      const rows = await reader.query(
        `SELECT t.id, t.tenant_id, t.status FROM ${from} AND t.created_at<${time.literal(madeBefore)}${behind}
         ORDER BY t.id LIMIT ${Math.trunc(limit)}`,
      );
      return rows.map(parseListed);
    },
  };
}
