import { newId, type Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant } from '../core/instant.js';
import { integer, nullable, time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { outbox, type OutboxRow, type WaitingType } from '../db/entities/outbox.js';
import { columnList, insertSql, literal, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { outboxEntry } from './outbox-entry.js';

/** For how long a claimed entry is left alone: longer than relaying it can take. */
const CLAIM_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
const MAX_ERROR = 300;

export interface OutboxDepth {
  readonly entries: number;
  readonly oldestAt: Instant | null;
}

export interface OutboxFilter {
  readonly tenantId?: Uuid | undefined;
  readonly resourceId?: Uuid | undefined;
}

/** The outbox as the relay, the sweeper and operators see it. */
export class Outbox {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Takes the entries that are due, oldest first, so that no other sweeper does. Throws DatabaseUnavailable. */
  async claim(limit: number): Promise<readonly OutboxRow[]> {
    return transact(this.database, async (transaction) => {
      const now = this.clock();
      const found = await transaction.query(
        `SELECT ${columnList(outbox)} FROM outbox WHERE due_at<=${time.literal(now)}
         ORDER BY due_at, id LIMIT ${Math.trunc(limit)} FOR UPDATE SKIP LOCKED`,
      );
      const rows = found.map((row) => parseRow(outbox, row));
      if (rows.length > 0)
        await transaction.execute(
          `UPDATE outbox SET due_at=${time.literal(instant(now + CLAIM_MS))} WHERE id IN (${idsOf(rows)})`,
        );
      return rows;
    });
  }

  /** Temporal has taken them, or there was nothing to tell. */
  async remove(rows: readonly Pick<OutboxRow, 'id'>[]): Promise<void> {
    if (rows.length === 0) return;
    await this.write(`DELETE FROM outbox WHERE id IN (${idsOf(rows)})`);
  }

  /** Gives an entry another time, later after each failure. `error` is a line for operators. */
  async postpone(row: OutboxRow, error: string): Promise<void> {
    const attempts = row.attempts + 1;
    const pauseMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 10));
    const dueAt = instant(this.clock() + pauseMs);
    await this.write(
      `UPDATE outbox SET attempts=${attempts}, last_error=${literal(outbox, 'lastError', [...error].slice(0, MAX_ERROR).join(''))},
       due_at=${time.literal(dueAt)} WHERE id=${literal(outbox, 'id', row.id)}`,
    );
  }

  /** Claimed entries that were not tried: they are due again at once. */
  async giveBack(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.write(`UPDATE outbox SET due_at=created_at WHERE id IN (${idsOf(rows)})`);
  }

  /** Writes entries for resources whose workflow has to be made to know them. Answers how many. */
  async add(
    resources: readonly { readonly tenantId: Uuid; readonly resourceType: WaitingType; readonly resourceId: Uuid }[],
  ): Promise<void> {
    if (resources.length === 0) return;
    const now = this.clock();
    const rows = resources.map((resource) => ({ ...outboxEntry({ ...resource, outboxId: newId() }, now), dueAt: now }));
    await this.write(insertSql(outbox, rows));
  }

  async depth(): Promise<OutboxDepth> {
    const [row] = await this.database.reader.query('SELECT COUNT(*) AS entries, MIN(created_at) AS oldest FROM outbox');
    return { entries: integer.parse(row?.entries ?? 0), oldestAt: nullable(time).parse(row?.oldest ?? null) };
  }

  /** Oldest first. */
  async list(filter: OutboxFilter, limit: number): Promise<readonly OutboxRow[]> {
    const rows = await this.database.reader.query(
      `SELECT ${columnList(outbox)} FROM outbox WHERE ${conditionsOf(filter)} ORDER BY created_at, id LIMIT ${Math.trunc(limit)}`,
    );
    return rows.map((row) => parseRow(outbox, row));
  }

  /** Makes entries due at once, their failures forgotten. Answers how many. */
  async release(filter: OutboxFilter): Promise<number> {
    return transact(this.database, (transaction) =>
      transaction.execute(
        `UPDATE outbox SET due_at=created_at, attempts=0, last_error=NULL WHERE ${conditionsOf(filter)}`,
      ),
    );
  }

  private async write(sql: string): Promise<void> {
    await transact(this.database, (transaction) => transaction.execute(sql));
  }
}

function idsOf(rows: readonly Pick<OutboxRow, 'id'>[]): string {
  return literals(
    outbox,
    'id',
    rows.map((row) => row.id),
  );
}

function conditionsOf({ tenantId, resourceId }: OutboxFilter): string {
  const conditions = ['TRUE'];
  if (tenantId !== undefined) conditions.push(`tenant_id=${literal(outbox, 'tenantId', tenantId)}`);
  if (resourceId !== undefined) conditions.push(`resource_id=${literal(outbox, 'resourceId', resourceId)}`);
  return conditions.join(' AND ');
}
