import type { AmountRange, Asset } from '../core/amount.js';
import { ApiError, notFound } from '../core/errors.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import type { Page, TimePosition } from '../core/page.js';
import type { Caller } from '../core/permissions.js';
import { bigint, integer, string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { idempotencyKeys, type KeyResourceType } from '../db/entities/ledger.js';
import { memberRoles } from '../db/entities/parties.js';
import { newestSql, type OrderedRows } from '../db/visible-list.js';
import { amountsSql, olderSql, columnList, literal } from '../db/statements.js';
import { parseRow, type Table } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { type LabelledRow, pairSql, refundPair, runPair } from '../db/metadata-index.js';
import { metadataPairs } from '../db/entities/metadata.js';
import { findRequestResource } from '../requests/log.js';
import { readReach } from '../accounts/access.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';

/** The columns that decide who may see an operation and which lists contain it. */
export interface AccountOperation extends TimePosition {
  readonly tenantId: Uuid;
  readonly sourceAccountId: Uuid;
  readonly metadata?: Metadata | null;
}

export type LabelledOperation = AccountOperation & LabelledRow;

export interface OperationFilter {
  /** One status, or several of which a row has one. */
  readonly status?: string | readonly string[] | undefined;
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The request that created the operation, or that repeated its key. */
  readonly requestId?: Uuid | undefined;
  /** The batch that created the payouts. */
  readonly batchId?: Uuid | undefined;
  /** The schedule that created the transfers. */
  readonly scheduleId?: Uuid | undefined;
  /** A key and a value of the metadata. */
  readonly pair?: readonly [string, string] | undefined;
  /** The transfer or bonus of which only the refunds are listed. */
  readonly refundOfId?: Uuid | undefined;
  readonly asset?: Asset | undefined;
  /** Inclusive bounds in the smallest unit of `asset`, which is required with them. */
  readonly min?: bigint | undefined;
  readonly max?: bigint | undefined;
  /** Amounts of which the operation has one. */
  readonly amounts?: readonly AmountRange[] | undefined;
  /** Values of columns of the listed table. */
  readonly columns?: Readonly<Record<string, unknown>> | undefined;
}

export interface OperationList<Row extends AccountOperation> {
  /** A table with indexes `source` and `status` (or `tenant`, without statuses), by time and id. */
  readonly table: Table<Row>;
  /** Every value of the column `status`; empty without that column. */
  readonly statuses: readonly string[];
  readonly resourceType: KeyResourceType;
  /** Column of the amount: by default `raw`. */
  readonly amountColumn?: 'total_raw';
  /** Time by which an id may be older than `created_at`, by default a minute. */
  readonly idsOlderByMs?: number;
  /** Column values of every listed row, in a table with several kinds of resources. */
  readonly only?: Readonly<Record<string, string>>;
  /** The columns of accounts in which any role lets a member see the operation. */
  readonly visibleToRolesIn: readonly (
    'source_account_id' | 'destination_account_id' | 'recipient_account_id'
  )[];
}

/** True if the caller's member has a role in one of the accounts of the row `l`. */
function visibleSql(
  { visibleToRolesIn }: Pick<OperationList<never>, 'visibleToRolesIn'>,
  caller: Caller,
): string {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${member}
    AND r.account_id IN (${visibleToRolesIn.map((column) => `l.${column}`).join(', ')}))`;
}

/** Returns one of the tenant's operations. Throws not_found, authority_insufficient. */
export async function readOperation<Row extends AccountOperation>(
  list: OperationList<Row>,
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<Row> {
  const { table } = list;
  const [row] = await reader.query(
    `SELECT ${columnList(table, 'l')}, ${visibleSql(list, caller)} AS visible FROM ${table.name} l
     WHERE ${equalFilters(list, { id, tenantId: caller.tenantId }).join(' AND ')}`,
  );
  if (row === undefined) throw notFound();
  // MariaDB returns a number, MySQL text.
  if (integer.parse(row.visible) !== 1) throw new ApiError(AUTHORITY_INSUFFICIENT);
  return parseRow(table, row);
}

/** Returns the tenant's operations that the member may see, newest first, before `before`. */
export async function listOperations<Row extends AccountOperation>(
  list: OperationList<Row>,
  reader: Reader,
  caller: Caller,
  filter: OperationFilter,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Row>> {
  const { tenantId } = caller;
  const { sourceAccountId, idempotencyKey, requestId } = filter;
  if (idempotencyKey !== undefined || requestId !== undefined)
    return findCreated(list, reader, caller, filter);
  if (sourceAccountId !== undefined) {
    const reach = await readReach(reader, [{ tenantId, accountId: sourceAccountId }]);
    if (!reach.owns(tenantId, sourceAccountId)) return { items: [], next: null };
  }
  const rows = chooseIndex(list, filter, tenantId);
  return readVisible(reader, { ...rows, filters: filterSql(list, caller, filter) }, before, limit);
}

/** Returns SQL conditions on the row `l`: that the member may see it, and the filters. */
function filterSql<Row extends AccountOperation>(
  list: OperationList<Row>,
  caller: Caller,
  filter: OperationFilter,
): readonly string[] {
  const { status, sourceAccountId, asset, columns, from, to, min, max } = filter;
  const { tenantId } = caller;
  const ifSet = <T>(value: T | undefined, sql: (value: T) => string): string[] =>
    value === undefined ? [] : [sql(value)];
  return [
    visibleSql(list, caller),
    ...equalFilters(list, { tenantId, status, sourceAccountId, asset, ...columns }),
    ...ifSet(from, (at) => `l.created_at>=${time.literal(at)}`),
    ...ifSet(to, (at) => `l.created_at<=${time.literal(at)}`),
    ...ifSet(min, (raw) => `l.raw>=${bigint.literal(raw)}`),
    ...ifSet(max, (raw) => `l.raw<=${bigint.literal(raw)}`),
  ];
}

/** Returns SQL conditions on the row `l`: values of its columns, of a list one of them. */
export function equalFilters<Row>(
  { table, only = {} }: Pick<OperationList<never>, 'only'> & { readonly table: Table<Row> },
  filters: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries({ ...filters, ...only }).flatMap(([property, value]) => {
    if (value === undefined) return [];
    const { name, column } = table.column(property as keyof Row & string);
    return Array.isArray(value)
      ? [`l.${name} IN (${value.map((one: unknown) => column.literal(one)).join(',')})`]
      : [`l.${name}=${column.literal(value)}`];
  });
}

/**
 * Returns the operations to examine: by the index of pairs if the filter has a pair, schedule or original;
 * otherwise by that of the batch; otherwise by that of the source account, which does not contain the status; otherwise by that of
 * the statuses.
 */
export function chooseIndex<Row extends AccountOperation>(
  { table, statuses }: Pick<OperationList<Row>, 'table' | 'statuses'>,
  { status, sourceAccountId, from, to, ...filter }: OperationFilter,
  tenantId: Uuid,
): OrderedRows<Row> {
  const { scheduleId, refundOfId, batchId } = filter;
  const pair =
    filter.pair ??
    (scheduleId === undefined ? refundOfId && refundPair(refundOfId) : runPair(scheduleId));
  const within = [
    pair !== undefined
      ? pairSql(table, tenantId, pair)
      : batchId !== undefined
        ? `t.batch_id=${uuid.literal(batchId)}`
        : sourceAccountId === undefined
          ? `t.tenant_id=${uuid.literal(tenantId)}`
          : `t.source_account_id=${uuid.literal(sourceAccountId)}`,
  ];
  if (from !== undefined) within.push(`t.created_at>=${time.literal(from)}`);
  if (to !== undefined) within.push(`t.created_at<=${time.literal(to)}`);
  if (pair !== undefined) return { table, entries: metadataPairs, index: 'PRIMARY', within };
  if (sourceAccountId !== undefined && batchId === undefined)
    return { table, index: 'source', within };
  const ofBatch = batchId === undefined ? undefined : 'batch';
  if (statuses.length === 0) return { table, index: ofBatch ?? 'tenant', within };
  const oneOf = [status ?? statuses].flat().map((value) => `t.status=${string.literal(value)}`);
  return { table, index: ofBatch ?? 'status', within, oneOf };
}

/** How operators list operations. */
export type NewestList<Row extends AccountOperation> = Omit<
  OperationList<Row>,
  'resourceType' | 'visibleToRolesIn'
>;

type NewestFilter = Pick<
  OperationFilter,
  | 'status'
  | 'sourceAccountId'
  | 'batchId'
  | 'pair'
  | 'scheduleId'
  | 'refundOfId'
  | 'from'
  | 'to'
  | 'amounts'
  | 'columns'
>;

/**
 * Returns the tenant's newest `limit` operations, or those before `before`, for operators. Without a
 * tenant: those of all tenants with the newest ids, by status, time and amount.
 */
export async function listNewest<Row extends AccountOperation>(
  list: NewestList<Row>,
  reader: Reader,
  filter: NewestFilter & { readonly tenantId: Uuid | undefined },
  limit: number,
  before: TimePosition | null = null,
): Promise<readonly Row[]> {
  const { table } = list;
  const { tenantId, status, sourceAccountId, pair, scheduleId, refundOfId, amounts } = filter;
  const { from, to, batchId, columns } = filter;
  if (tenantId === undefined) return listOfAllTenants(list, reader, filter, limit, before);
  if ((pair ?? scheduleId ?? refundOfId ?? amounts ?? columns) !== undefined) {
    const by = { scheduleId, refundOfId, ...columns };
    const filters = equalFilters(list, { tenantId, status, sourceAccountId, ...by });
    if (amounts !== undefined)
      filters.push(amountsSql('l.asset', `l.${list.amountColumn ?? 'raw'}`, amounts));
    const entries = chooseIndex(list, { ...filter, pair }, tenantId);
    return readAll(reader, { ...entries, filters }, before, limit);
  }
  // A status is always searched by its index, or the batch's, and the source account is then a condition.
  const by = status === undefined ? filter : { status, batchId, from, to };
  const rows = chooseIndex(list, by, tenantId);
  const own = [`t.tenant_id=${uuid.literal(tenantId)}`];
  if (before !== null) own.push(olderSql('t', before));
  if (sourceAccountId !== undefined)
    own.push(`t.source_account_id=${uuid.literal(sourceAccountId)}`);
  const found = await reader.query(
    `SELECT ${columnList(table, 'l')} FROM (${newestSql({ ...rows, within: [...rows.within, ...own] }, limit)}) p
     JOIN ${table.name} l ON l.id=p.id ORDER BY l.created_at DESC, l.id DESC`,
  );
  return found.map((row) => parseRow(table, row));
}

/** Maximum of rows that one statement examines. */
const MAX_EXAMINED = 20_000;
const MINUTE_MS = 60_000;

/**
 * Returns the operations of all tenants with the newest ids, because no index has their times.
 * Examines `examined` rows at a time.
 */
export async function listOfAllTenants<Row extends AccountOperation>(
  list: NewestList<Row>,
  reader: Reader,
  { status, from, to, amounts, columns }: NewestFilter,
  limit: number,
  before: Pick<TimePosition, 'id'> | null = null,
  examined = MAX_EXAMINED,
): Promise<readonly Row[]> {
  const { table, idsOlderByMs = MINUTE_MS, amountColumn = 'raw' } = list;
  const range = ['TRUE'];
  const filters = equalFilters(list, { status, ...columns });
  if (from !== undefined) {
    range.push(`l.id>=${uuid.literal(firstIdAt(from - idsOlderByMs))}`);
    filters.push(`l.created_at>=${time.literal(from)}`);
  }
  if (to !== undefined) {
    range.push(`l.id<${uuid.literal(firstIdAt(to + MINUTE_MS))}`);
    filters.push(`l.created_at<=${time.literal(to)}`);
  }
  if (amounts !== undefined) filters.push(amountsSql('l.asset', `l.${amountColumn}`, amounts));
  const select = (columns: string, conditions: readonly string[], rows: string): string =>
    `SELECT ${columns} FROM ${table.name} l FORCE INDEX (PRIMARY)
     WHERE ${conditions.join(' AND ')} ORDER BY l.id DESC LIMIT ${rows}`;
  const all: Row[] = [];
  for (let last = before?.id; ;) {
    const own = last === undefined ? range : [...range, `l.id<${uuid.literal(last)}`];
    const [end] = await reader.query(select('l.id', own, `1 OFFSET ${examined - 1}`));
    last = end && uuid.parse(end.id);
    const until = last === undefined ? [] : [`l.id>=${uuid.literal(last)}`];
    const conditions = [...own, ...until, ...filters];
    const found = await reader.query(
      select(columnList(table, 'l'), conditions, String(limit - all.length)),
    );
    all.push(...found.map((row) => parseRow(table, row)));
    if (last === undefined || all.length >= limit) return all;
  }
}

/** Returns `limit` rows that match all filters, however many are examined. */
async function readAll<Row extends AccountOperation>(
  reader: Reader,
  list: Parameters<typeof readVisible<Row>>[1],
  before: TimePosition | null,
  limit: number,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let position = before; ;) {
    const page = await readVisible(reader, list, position, limit - all.length);
    all.push(...page.items);
    if (page.next === null || all.length >= limit) return all;
    position = page.next;
  }
}

/** Returns the operation that the key and the request created, if it matches all other filters. */
async function findCreated<Row extends AccountOperation>(
  list: OperationList<Row>,
  reader: Reader,
  caller: Caller,
  filter: OperationFilter,
): Promise<Page<Row>> {
  const { tenantId } = caller;
  const { idempotencyKey, requestId } = filter;
  const ids: (Uuid | null)[] = [];
  if (idempotencyKey !== undefined) {
    const key = { tenantId, idempotencyKey, resourceType: list.resourceType };
    const bound = await reader.find(idempotencyKeys, key);
    ids.push(bound?.resourceId ?? null);
  }
  if (requestId !== undefined) ids.push(await findRequestResource(reader, tenantId, requestId));
  const [id = null, ...different] = new Set(ids);
  if (id === null || different.length > 0) return { items: [], next: null };
  const { table } = list;
  const [row] = await reader.query(
    `SELECT ${columnList(table, 'l')} FROM ${table.name} l
     WHERE l.id=${uuid.literal(id)} AND ${filterSql(list, caller, filter).join(' AND ')}`,
  );
  const items = row === undefined ? [] : [parseRow(table, row)];
  const [name = '', value] = filter.pair ?? [];
  return { items: items.filter((item) => item.metadata?.[name] === value), next: null };
}
