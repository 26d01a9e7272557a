import type { Registry } from 'prom-client';
import type { ErrorCode } from '../core/error-table.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { metersOf } from '../core/meters.js';
import type { Caller, Operation } from '../core/permissions.js';
import { uuid } from '../db/columns.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { KEY_RESOURCE_TYPES, type KeyResourceType } from '../db/entities/ledger.js';
import { requests, type StoredRequest } from '../db/entities/requests.js';
import { upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { Sweep } from '../temporal/sweeper.js';

export interface RequestOutcome {
  readonly id: Uuid;
  readonly caller: Pick<Caller, 'tenantId' | 'memberId'>;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly resourceId: Uuid | null;
}

/** Path of the POST that creates each resource. Null for resources that no request creates. */
export const COLLECTIONS = {
  transfer: '/v1/transfers',
  bonus: '/v1/bonuses',
  payout: '/v1/payouts',
  bonus_batch: '/v1/bonus_batches',
  webhook_endpoint: '/v1/webhook_endpoints',
  statement: '/v1/statements',
  payin: null,
  adjustment: null,
} as const satisfies Readonly<Record<KeyResourceType, string | null>>;
const TYPE_BY_COLLECTION = new Map<string | null, KeyResourceType>(
  KEY_RESOURCE_TYPES.map((type) => [COLLECTIONS[type], type]),
);

/** Requests are collected for this long, to share a statement. */
const GATHER_MS = 250;
const ROWS_A_STATEMENT = 500;
/** Requests kept while MySQL is unavailable. */
const MAX_WAITING = 10_000;
/** A tenant's stored requests are limited to ten a second. */
const WINDOW_MS = 600_000;
const MAX_OF_A_TENANT = 6_000;

interface RequestLogObserver {
  /** Called for requests that are not stored: the tenant has too many, or MySQL was unavailable for too long. */
  dropped(count: number): void;
}

/** Records requests in batches after their responses. (docs/contract.md, Request ids) */
export class RequestLog {
  private waiting: StoredRequest[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private window = { until: 0, counts: new Map<Uuid, number>() };

  constructor(
    private readonly database: Pick<Database, 'withTransaction'>,
    private readonly observer: RequestLogObserver,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  note(outcome: RequestOutcome): void {
    if (!isStored(outcome)) return;
    if (!this.hasRoomFor(outcome.caller.tenantId)) return this.observer.dropped(1);
    this.waiting.push(rowOf(outcome));
    if (this.waiting.length > MAX_WAITING) this.drop(this.waiting.length - MAX_WAITING);
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  /** Writes the pending requests. Never rejects: rows that fail are retried with the next batch. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.writeAll());
    return this.writing;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const rows = this.waiting.slice(0, ROWS_A_STATEMENT);
      // After an unknown commit, the rows may already exist.
      const sql = upsertSql(requests, rows, ['id']);
      try {
        await this.database.withTransaction((transaction) => transaction.execute(sql));
      } catch {
        return;
      }
      const written = new Set(rows);
      this.waiting = this.waiting.filter((row) => !written.has(row));
    }
  }

  private hasRoomFor(tenantId: Uuid): boolean {
    const now = this.elapsed();
    if (now > this.window.until) this.window = { until: now + WINDOW_MS, counts: new Map() };
    const count = (this.window.counts.get(tenantId) ?? 0) + 1;
    this.window.counts.set(tenantId, count);
    return count <= MAX_OF_A_TENANT;
  }

  private drop(count: number): void {
    this.waiting.splice(0, count);
    this.observer.dropped(count);
  }
}

/**
 * Returns whether the request changed something or failed because of the service. A resource has
 * its request's id, so its request is not stored.
 */
function isStored({ id, method, status, resourceId }: RequestOutcome): boolean {
  const isRead = method === 'GET' && status < 500;
  return !isRead && status !== 429 && resourceId !== id;
}

function rowOf({ caller, resourceId, ...outcome }: RequestOutcome): StoredRequest {
  const { id, operation, method, path, status, code } = outcome;
  const resourceType = resourceId === null ? null : (TYPE_BY_COLLECTION.get(path) ?? null);
  const { tenantId, memberId } = caller;
  return {
    ...{ id, tenantId, memberId, operation, method, path, status, code, resourceType },
    resourceId: resourceType === null ? null : resourceId,
  };
}

export function requestLogMetrics(registry: Registry): RequestLogObserver {
  const forgotten = metersOf(registry).counter(
    'requests_forgotten_total',
    'Requests unknown to GET /v1/requests: a tenant had more than are kept, or MySQL was away for long',
  );
  return { dropped: (count) => forgotten.inc(count) };
}

export const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

export function keptSince(now: Instant): Instant {
  return instant(now - KEPT_DAYS * DAY_MS);
}

const REMOVE_EVERY_MS = 600_000;
const ROWS_A_DELETE = 2_000;

export function requestsSweep({ database, clock }: DatabaseDeps): Sweep {
  const run = () => removeOldRequests(database, keptSince(clock()));
  return { name: 'old requests', everyMs: REMOVE_EVERY_MS, run };
}

/** Removes some requests that are older than `before`. Returns true if more remain. */
export async function removeOldRequests(database: Database, before: Instant): Promise<boolean> {
  const some = `DELETE FROM requests WHERE id<${uuid.literal(firstIdAt(before))} ORDER BY id LIMIT ${ROWS_A_DELETE}`;
  return (await transact(database, (transaction) => transaction.execute(some))) === ROWS_A_DELETE;
}
