import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Reader, StoredRow } from '../db/database.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow, type Table } from '../db/table.js';

/** A contradiction between rows. A type, because tables of the command line require one. */
export type Finding = {
  /** Stable name of the violated rule. */
  readonly check: string;
  /** The affected row: a word for its table, and its ids. */
  readonly subject: string;
  readonly message: string;
};

export interface AuditReport {
  readonly findings: Finding[];
  readonly checked: Record<string, number>;
}

export interface AuditOptions {
  readonly tenantId?: Uuid;
  /** Called with the rows read and an estimate of all rows, which is never smaller. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called after each slice. If it rejects, the audit rejects too. */
  readonly pause?: () => Promise<unknown>;
}

/** Time limit of a slice. Slices take seconds, unless an account has millions of operations. */
const SLICE_TIMEOUT_MS = 600_000;
/** Limits the memory used by findings in a badly damaged ledger. */
const MAX_FINDINGS_PER_CHECK = 1_000;

export class AuditRun {
  readonly tenantId: Uuid | undefined;
  private done = 0;
  private readonly findings: Finding[] = [];
  private readonly found = new Map<string, number>();
  private readonly checked: Record<string, number> = {};

  constructor(
    private readonly database: Database,
    private readonly options: AuditOptions,
    private readonly total: number,
  ) {
    this.tenantId = options.tenantId;
  }

  /** Runs `work` on one snapshot, then pauses. Locks nothing, so that postings continue. */
  async slice<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const read = await this.database.withSnapshot(work, SLICE_TIMEOUT_MS);
    await this.options.pause?.();
    return read;
  }

  /** Returns the SQL condition that limits the audit to one tenant, or none. */
  tenantConditions(column: string): string[] {
    return this.tenantId === undefined ? [] : [`${column}=${uuid.literal(this.tenantId)}`];
  }

  report(check: string, subject: string, ...messages: readonly (string | false)[]): void {
    for (const message of messages) {
      if (message === false) continue;
      const found = (this.found.get(check) ?? 0) + 1;
      this.found.set(check, found);
      if (found <= MAX_FINDINGS_PER_CHECK) this.findings.push({ check, subject, message });
    }
  }

  /** Adds a finding for each check of `wrong` that has a message. */
  reportAll(subject: string, wrong: Readonly<Record<string, string | false>>): void {
    for (const [check, message] of Object.entries(wrong))
      if (message !== false) this.report(check, subject, message);
  }

  /** Returns whether further findings of the check would only be counted. */
  hasEnoughOf(check: string): boolean {
    return (this.found.get(check) ?? 0) > MAX_FINDINGS_PER_CHECK;
  }

  countRows(kind: string, rows: number): void {
    this.checked[kind] = (this.checked[kind] ?? 0) + rows;
    this.done += rows;
    this.options.onProgress?.(Math.min(this.done, this.total), this.total);
  }

  finish(): AuditReport {
    for (const [check, found] of this.found)
      if (found > MAX_FINDINGS_PER_CHECK) {
        const message = `and ${found - MAX_FINDINGS_PER_CHECK} more of this kind`;
        this.findings.push({ check, subject: '', message });
      }
    this.options.onProgress?.(this.total, this.total);
    return { findings: this.findings, checked: this.checked };
  }
}

export interface Check {
  readonly tables: readonly string[];
  run(audit: AuditRun): Promise<void>;
}

export type Visit<Row> = (reader: Reader, rows: readonly Row[]) => Promise<void> | void;

/** With a thousand or more ids in an IN list, MariaDB reads other tables in full. */
export const ROWS_PER_SLICE = 900;

/** Scans rows in the order of a key, in slices of `size`, each in a snapshot of its own. */
export async function scan<Row>(
  audit: AuditRun,
  size: number,
  read: (reader: Reader, after: Row | undefined) => Promise<readonly Row[]>,
  check: Visit<Row>,
): Promise<void> {
  for (let after: Row | undefined; ;) {
    const from = after;
    const rows = await audit.slice(async (reader) => {
      const slice = await read(reader, from);
      if (slice.length > 0) await check(reader, slice);
      return slice;
    });
    if (rows.length < size) return;
    after = rows.at(-1);
  }
}

/** Scans a table by its primary key. `conditions` select a tenant's rows. */
export function scanTable<Row extends object>(
  audit: AuditRun,
  table: Table<Row>,
  size: number,
  check: Visit<Row>,
  conditions = audit.tenantConditions('tenant_id'),
): Promise<void> {
  const key = table.key as readonly (keyof Row & string)[];
  const columns = key.map((property) => table.column(property).name);
  const afterSql = (row: Row): string =>
    afterKey(
      columns,
      key.map((property) => literal(table, property, row[property])),
    );
  const read = (reader: Reader, after: Row | undefined): Promise<readonly Row[]> => {
    const all = [...(after === undefined ? [] : [afterSql(after)]), ...conditions];
    const tail = `${whereAll(all)} ORDER BY ${columns.join(', ')} LIMIT ${size}`;
    return reader.list(table, `FORCE INDEX (PRIMARY)${tail}`);
  };
  return scan(audit, size, read, check);
}

/** Returns SQL for the rows after a key, which every optimizer turns into ranges. */
export function afterKey(
  [column = '', ...columns]: readonly string[],
  [value = '', ...values]: readonly string[],
): string {
  if (columns.length === 0) return `${column}>${value}`;
  return `((${column}=${value} AND ${afterKey(columns, values)}) OR ${column}>${value})`;
}

export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}

export async function byId<Row extends { readonly id: Uuid }>(
  reader: Reader,
  table: Table<Row>,
  ids: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, Row>> {
  const rows = await readRows(reader, columnList(table), table.name, ids);
  return new Map(rows.map((row) => parseRow(table, row)).map((row) => [row.id, row]));
}

/** Returns the tenants of the rows with these ids, many times cheaper than reading the rows. */
export async function readOwners(
  reader: Reader,
  table: Pick<Table<{ readonly id: Uuid; readonly tenantId: Uuid }>, 'name'>,
  ids: Iterable<Uuid>,
): Promise<ReadonlyMap<Uuid, Uuid>> {
  const rows = await readRows(reader, 'id, tenant_id', table.name, ids);
  return new Map(rows.map((row) => [uuid.parse(row.id), uuid.parse(row.tenant_id)]));
}

async function readRows(
  reader: Reader,
  columns: string,
  table: string,
  ids: Iterable<Uuid>,
): Promise<readonly StoredRow[]> {
  const requested = [...new Set(ids)];
  const rows: StoredRow[] = [];
  for (let from = 0; from < requested.length; from += ROWS_PER_SLICE) {
    const list = idList(requested.slice(from, from + ROWS_PER_SLICE));
    rows.push(...(await reader.query(`SELECT ${columns} FROM ${table} WHERE id IN (${list})`)));
  }
  return rows;
}

/** Returns distinct ids for an IN list, or NULL, which matches nothing. */
export function idList(ids: Iterable<Uuid>): string {
  const distinct = Array.from(new Set(ids), (id) => uuid.literal(id));
  return distinct.length === 0 ? 'NULL' : distinct.join(',');
}
