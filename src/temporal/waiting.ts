import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WaitingType } from '../db/entities/outbox.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow, type Table } from '../db/table.js';
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
  /**
   * Those of these resources that still wait, by id, without settled ones. Throws UnknownEnumValue (only a newer
   * release can tell).
   */
  waiting(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, WantedWorkflow>>;
  /** Resources that still wait and were created before the moment, in order of id, after `after`, at most `limit`. */
  longWaiting(reader: Reader, madeBefore: Instant, after: Uuid | null, limit: number): Promise<readonly OwnedId[]>;
}

interface OwnedId {
  readonly id: Uuid;
  readonly tenantId: Uuid;
}

/**
 * For `waiting`: those of these resources that are in one of these states, with their workflows. One in a state unknown
 * here is not considered settled: it may well wait, for the release that put it there. Throws UnknownEnumValue.
 */
export async function inStates<Row extends { readonly id: Uuid; readonly status: string }>(
  reader: Reader,
  table: Table<Row>,
  ids: readonly Uuid[],
  states: readonly Row['status'][],
  wanted: (row: Row) => WantedWorkflow,
): Promise<ReadonlyMap<Uuid, WantedWorkflow>> {
  if (ids.length === 0) return new Map();
  const known = table.column('status').column.words ?? [];
  const rows = await reader.query(
    `SELECT ${columnList(table)} FROM ${table.name} WHERE id IN (${ids.map(uuid.literal).join(',')})
     AND (status IN (${literals(table, 'status', states)}) OR status NOT IN (${literals(table, 'status', known)}))`,
  );
  return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, wanted(row)]));
}

/** For `longWaiting`: the result of this SELECT of `id` and `tenant_id`. */
export async function readOwned(reader: Reader, sql: string): Promise<readonly OwnedId[]> {
  const rows = await reader.query(sql);
  return rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
}

/** SQL for "after this id", if there is one: ` AND t.id>…`. */
export function behindIdSql(column: string, after: Uuid | null): string {
  return after === null ? '' : ` AND ${column}>${uuid.literal(after)}`;
}
