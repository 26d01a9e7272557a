import { newId, type Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { integer, nullable, time, uuid } from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';
import { outbox, type OutboxRow, type WorkflowResourceType } from '../db/entities/outbox.js';
import { columnList, equalsSql, insertSql, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/reader.js';
import { insertRow, type RowWrite } from '../ledger/writer/types.js';

/** Longer than relaying the claimed entries can take. */
const CLAIM_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const MAX_ERROR_LENGTH = 300;
/** Attempts after which an entry becomes a dead letter, after about 20 minutes. */
export const MAX_TRIES = 25;
/** Failures that are not the entry's own count as at most this many attempts: 4 s of pause. */
const MAX_GENERAL_TRIES = 2;
/** `due_at` of dead letters. */
const NEVER = instant(Date.UTC(9999, 0, 1));

export interface OutboxFilter {
  readonly tenantId?: Uuid | undefined;
  readonly resourceId?: Uuid | undefined;
  /** True for dead letters only. */
  readonly onlyDead?: boolean | undefined;
}

interface FailedEntry {
  readonly id: Uuid;
  readonly attempts: number;
  /** A line for operators. */
  readonly error: string;
  /** False if Temporal was unavailable, or would refuse every entry: its namespace is missing. */
  readonly isOwnFailure: boolean;
}

export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Claims due entries for 30 s, as many of each tenant, so that a tenant's thousands of payouts do not delay another's.
   * Throws `DatabaseUnavailable`.
   */
  async claim(limit: number): Promise<readonly OutboxRow[]> {
    return transact(this.database, async (transaction) => {
      const now = this.clock();
      const tenants = await transaction.query(dueTenantsSql(limit, now));
      const rows: OutboxRow[] = [];
      for (const [index, { tenant_id: tenant }] of tenants.entries()) {
        const share = Math.ceil((limit - rows.length) / (tenants.length - index));
        const due = await transaction.query(dueSql(uuid.parse(tenant), share, now));
        rows.push(...due.map((row) => parseRow(outbox, row)));
      }
      if (rows.length > 0)
        await transaction.execute(
          `UPDATE outbox SET due_at=${time.literal(instant(now + CLAIM_MS))} WHERE ${idsSql(rows)}`,
        );
      return rows;
    });
  }

  async remove(rows: readonly Pick<OutboxRow, 'id'>[]): Promise<void> {
    if (rows.length === 0) return;
    await this.write(`DELETE FROM outbox WHERE ${idsSql(rows)}`);
  }

  /** Postpones entries, longer after each failure, until they become dead letters. */
  async fail(failed: readonly FailedEntry[]): Promise<void> {
    if (failed.length === 0) return;
    const now = this.clock();
    await transact(this.database, (transaction) => {
      transaction.withCommit(failed.map((one) => failureSql(one, now)));
      return Promise.resolve();
    });
  }

  /** Releases claimed entries that were not tried. */
  async releaseUntried(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.write(`UPDATE outbox SET due_at=created_at WHERE ${idsSql(rows)}`);
  }

  async add(
    resources: readonly {
      readonly tenantId: Uuid;
      readonly resourceType: WorkflowResourceType;
      readonly resourceId: Uuid;
    }[],
  ): Promise<void> {
    if (resources.length === 0) return;
    const now = this.clock();
    const rows = resources.map((resource) => ({
      ...outboxEntry({ ...resource, outboxId: newId() }, now),
      dueAt: now,
    }));
    await this.write(insertSql(outbox, rows));
  }

  /** Counts waiting entries and dead letters. `oldestAt` is the time of the oldest waiting entry. */
  async depth() {
    const [row] = await this.database.reader.query(
      `SELECT COUNT(*)-COUNT(dead_at) AS entries, COUNT(dead_at) AS dead, MIN(IF(dead_at IS NULL, created_at, NULL)) AS oldest FROM outbox`,
    );
    return {
      entries: integer.parse(row?.entries ?? 0),
      oldestAt: nullable(time).parse(row?.oldest ?? null),
      deadLetters: integer.parse(row?.dead ?? 0),
    };
  }

  async list(filter: OutboxFilter, limit: number): Promise<readonly OutboxRow[]> {
    const rows = await this.database.reader.query(
      `SELECT ${columnList(outbox)} FROM outbox WHERE ${conditionsOf(filter)} ORDER BY created_at, id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => parseRow(outbox, row));
  }

  /** Makes entries due and resets their failures, dead letters included. Returns their number. */
  async release(filter: OutboxFilter): Promise<number> {
    return transact(this.database, (transaction) =>
      transaction.execute(
        `UPDATE outbox SET due_at=created_at, attempts=0, last_error=NULL, dead_at=NULL WHERE ${conditionsOf(filter)}`,
      ),
    );
  }

  private async write(sql: string): Promise<void> {
    await transact(this.database, (transaction) => transaction.execute(sql));
  }
}

export function becomesDead({
  attempts,
  isOwnFailure,
}: Pick<FailedEntry, 'attempts' | 'isOwnFailure'>): boolean {
  return isOwnFailure && attempts + 1 >= MAX_TRIES;
}

function failureSql(failed: FailedEntry, now: Instant): string {
  const { attempts: before, isOwnFailure } = failed;
  const attempts = isOwnFailure
    ? before + 1
    : Math.max(before, Math.min(before + 1, MAX_GENERAL_TRIES));
  const pauseMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(before, 10));
  const isDead = becomesDead(failed);
  const lastError = literal(
    outbox,
    'lastError',
    [...failed.error].slice(0, MAX_ERROR_LENGTH).join(''),
  );
  const dueAt = time.literal(isDead ? NEVER : instant(now + pauseMs));
  return `UPDATE outbox SET attempts=${attempts}, last_error=${lastError}, due_at=${dueAt}${isDead ? `, dead_at=${time.literal(now)}` : ''}
    WHERE id=${uuid.literal(failed.id)}`;
}

/** The tenants with due entries, that with the oldest last, because it gets what the others leave. */
export function dueTenantsSql(limit: number, now: Instant): string {
  return `SELECT tenant_id FROM (SELECT tenant_id, MIN(due_at) AS oldest FROM outbox GROUP BY tenant_id
    HAVING oldest<=${time.literal(now)} ORDER BY oldest LIMIT ${Math.trunc(limit)}) AS waiting ORDER BY oldest DESC`;
}

/** Reads in index order, because a sort would lock the whole backlog. */
export function dueSql(tenantId: Uuid, limit: number, now: Instant): string {
  return `SELECT ${columnList(outbox)} FROM outbox FORCE INDEX (due)
    WHERE tenant_id=${uuid.literal(tenantId)} AND due_at<=${time.literal(now)}
    ORDER BY due_at, id LIMIT ${Math.trunc(limit)} FOR UPDATE SKIP LOCKED`;
}

/** Returns those of the ids that have an outbox entry, dead letters included. */
export async function idsWithOutboxEntry(
  reader: Reader,
  resourceIds: readonly Uuid[],
): Promise<ReadonlySet<Uuid>> {
  if (resourceIds.length === 0) return new Set();
  const rows = await reader.query(
    `SELECT resource_id FROM outbox WHERE ${equalsSql(outbox, { resourceId: resourceIds })}`,
  );
  return new Set(rows.map((row) => uuid.parse(row.resource_id)));
}

function idsSql(rows: readonly Pick<OutboxRow, 'id'>[]): string {
  return equalsSql(outbox, { id: rows.map(({ id }) => id) });
}

function conditionsOf({ tenantId, resourceId, onlyDead = false }: OutboxFilter): string {
  const conditions = ['TRUE'];
  if (tenantId !== undefined) conditions.push(`tenant_id=${literal(outbox, 'tenantId', tenantId)}`);
  if (resourceId !== undefined)
    conditions.push(`resource_id=${literal(outbox, 'resourceId', resourceId)}`);
  if (onlyDead) conditions.push('dead_at IS NOT NULL');
  return conditions.join(' AND ');
}

/** Time for the process that wrote an entry to relay it, before a sweep does. */
const HEAD_START_MS = 2_000;

interface ChangedResource {
  /** Chosen by the caller, to relay the entry right after the commit. */
  readonly outboxId: Uuid;
  readonly tenantId: Uuid;
  readonly resourceType: WorkflowResourceType;
  readonly resourceId: Uuid;
}

/** Returns the entry that notifies a resource's workflow of a change. */
export function outboxEntry(
  { outboxId, tenantId, resourceType, resourceId }: ChangedResource,
  at: Instant,
): OutboxRow {
  return {
    id: outboxId,
    tenantId,
    resourceType,
    resourceId,
    createdAt: at,
    dueAt: instant(at + HEAD_START_MS),
    attempts: 0,
    lastError: null,
    deadAt: null,
    traceparent: null,
  };
}

export function outboxWrite(changed: ChangedResource, at: Instant): RowWrite {
  return insertRow(outbox, outboxEntry(changed, at));
}
