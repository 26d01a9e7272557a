import type { ErrorCode } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { Database } from '../db/database.js';
import { KEY_RESOURCE_TYPES, type KeyResourceType } from '../db/entities/ledger.js';
import { requests, type StoredRequest } from '../db/entities/requests.js';
import { upsertSql } from '../db/statements.js';

/** The outcome of a request, as reported by the HTTP side. */
export interface ToldRequest {
  readonly id: Uuid;
  readonly caller: Pick<Caller, 'tenantId' | 'memberId'>;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly resourceId: Uuid | null;
}

/** Where a POST creates each; null for what no request creates. */
const COLLECTIONS: Readonly<Record<KeyResourceType, string | null>> = {
  transfer: '/v1/transfers',
  bonus: '/v1/bonuses',
  payout: '/v1/payouts',
  bonus_batch: '/v1/bonus_batches',
  webhook_endpoint: '/v1/webhook_endpoints',
  statement: '/v1/statements',
  payin: null,
  adjustment: null,
};
const MADE_IN = new Map(KEY_RESOURCE_TYPES.map((type) => [COLLECTIONS[type], type]));

/** Requests wait this long to share a statement, and this many share one. */
const GATHER_MS = 250;
const ROWS_A_STATEMENT = 500;
/** While MySQL is away, the newest of these wait. */
const MAX_WAITING = 10_000;
/** Limits what a tenant can make this process write to ten a second, however many of its requests are refused. */
const WINDOW_MS = 600_000;
const MAX_OF_A_TENANT = 6_000;

export interface RequestLogObserver {
  /** Requests that will not be remembered: a tenant had too many refused, or MySQL was away too long. */
  forgotten(count: number): void;
}

/**
 * Records requests after their answers, in large batches: never in the path of a request, and outside every
 * transaction. What a killed process has not written is lost. (docs/contract.md, Request ids)
 */
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

  note(told: ToldRequest): void {
    if (!isRemembered(told)) return;
    if (!this.hasRoomFor(told.caller.tenantId)) return this.observer.forgotten(1);
    this.waiting.push(rowOf(told));
    if (this.waiting.length > MAX_WAITING) this.forget(this.waiting.length - MAX_WAITING);
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  /** Writes what is waiting. Never rejects: what cannot be written is retried with the next batch. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.writeAll());
    return this.writing;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const rows = this.waiting.slice(0, ROWS_A_STATEMENT);
      // After an unknown commit the same rows may already be there.
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

  private forget(count: number): void {
    this.waiting.splice(0, count);
    this.observer.forgotten(count);
  }
}

/**
 * Requests that change something, and those that failed through our fault; except those whose created resource shows it
 * (it has the request's id), and those refused by the rate limit, which were not examined.
 */
function isRemembered({ id, method, status, resourceId }: ToldRequest): boolean {
  const isRead = method === 'GET' && status < 500;
  return !isRead && status !== 429 && resourceId !== id;
}

function rowOf({ caller, resourceId, ...told }: ToldRequest): StoredRequest {
  const { id, operation, method, path, status, code } = told;
  const resourceType = resourceId === null ? null : (MADE_IN.get(path) ?? null);
  const { tenantId, memberId } = caller;
  return {
    ...{ id, tenantId, memberId, operation, method, path, status, code, resourceType },
    resourceId: resourceType === null ? null : resourceId,
  };
}
