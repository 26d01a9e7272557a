import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WaitingType } from '../db/entities/outbox.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow, rowParser, type Table } from '../db/table.js';
import type { TaskQueue, WorkflowType } from './contracts.js';

export interface WantedWorkflow {
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

/** What the bridge knows about a feature whose resources wait in workflows. */
export interface WaitingSource {
  readonly resourceType: WaitingType;
  readonly workflowType: WorkflowType;
  readonly taskQueue: TaskQueue;
  readonly workflowIdOf: (resourceId: Uuid) => string;
  /** The resources among `ids` that still wait, by id. */
  waiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WantedWorkflow>>;
  /** Resources that still wait and were created before the moment, in order of id, after `after`, at most `limit`. */
  longWaiting(
    reader: Reader,
    madeBefore: Instant,
    after: Uuid | null,
    limit: number,
  ): Promise<readonly Pick<WaitingRow, 'id' | 'tenantId'>[]>;
}

interface WaitingRow {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly sourceAccountId?: Uuid;
  readonly status: string;
}

interface SourceSpec<Row> extends Pick<
  WaitingSource,
  'resourceType' | 'workflowType' | 'taskQueue' | 'workflowIdOf'
> {
  readonly table: Table<Row>;
  readonly states: readonly (Row & WaitingRow)['status'][];
  /** SQL over `t`, with its WHERE, by an index: all that wait, but the table itself may have many millions of rows. */
  readonly from: string;
  readonly about: (
    row: Row,
  ) => Pick<WantedWorkflow, 'summary' | 'input'> & Partial<Pick<WantedWorkflow, 'status'>>;
}

const parseLong = rowParser({ id: uuid, tenantId: uuid });

/** How the bridge to Temporal sees a feature's resources in these states. */
export function waitingSource<Row extends WaitingRow>(spec: SourceSpec<Row>): WaitingSource {
  const { table, states, from, about, ...named } = spec;
  const known = literals(
    table,
    'status',
    (table.column('status').column.words ?? []) as readonly Row['status'][],
  );
  const wanted = (row: Row): WantedWorkflow => {
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
    async waiting(reader, ids) {
      if (ids.length === 0) return new Map();
      // One in a state unknown here is not considered settled: it may well wait, for the release that put it there.
      const rows = await reader.query(
        `SELECT ${columnList(table)} FROM ${table.name} WHERE id IN (${ids.map(uuid.literal).join(',')})
         AND (status IN (${literals(table, 'status', states)}) OR status NOT IN (${known}))`,
      );
      return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, wanted(row)]));
    },
    async longWaiting(reader, madeBefore, after, limit) {
      const behind = after === null ? '' : ` AND t.id>${uuid.literal(after)}`;
      const rows = await reader.query(
        `SELECT t.id, t.tenant_id FROM ${from} AND t.created_at<${time.literal(madeBefore)}${behind}
         ORDER BY t.id LIMIT ${Math.trunc(limit)}`,
      );
      return rows.map(parseLong);
    },
  };
}
