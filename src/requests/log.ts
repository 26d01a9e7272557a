import type { ErrorCode } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Caller, Operation } from '../core/permissions.js';
import type { Database } from '../db/database.js';
import type { KeyResourceType } from '../db/entities/ledger.js';
import { requests, type StoredRequest } from '../db/entities/requests.js';
import { upsertSql } from '../db/statements.js';

/** What became of a request, as the HTTP side tells it. */
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

/** What a POST to each collection makes. */
const MADE_IN: Readonly<Record<string, KeyResourceType>> = {
  '/v1/transfers': 'transfer',
  '/v1/bonuses': 'bonus',
  '/v1/payouts': 'payout',
  '/v1/bonus_batches': 'bonus_batch',
  '/v1/webhook_endpoints': 'webhook_endpoint',
  '/v1/statements': 'statement',
};

/** Requests wait so long to share a statement, and so many do. */
const GATHER_MS = 250;
const ROWS_A_STATEMENT = 500;
/** While MySQL is away the newest wait. */
const MAX_WAITING = 10_000;
/** What a tenant can have this process write, however many of its requests are refused: ten a second. */
const WINDOW_MS = 600_000;
const MAX_OF_A_TENANT = 6_000;

export interface RequestLogObserver {
  /** Requests of which nothing will be known: a tenant had too many refused, or MySQL was away for too long. */
  forgotten(count: number): void;
}

/**
 * Remembers requests, behind their answers and in batches of many: never on the way of a request, and apart from every
 * transaction. What a process that dies has not written is lost. (docs/contract.md, Request ids)
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

  /** Writes what waits. Never rejects: what cannot be written is tried again with the next. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.writeAll());
    return this.writing;
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const rows = this.waiting.slice(0, ROWS_A_STATEMENT);
      // After an unknown commit the rows may be there already: the same ones.
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
 * Requests that change something, and those that failed by our fault; but none of which what it made tells (it has the request's
 * id), and none that was refused for the rate, when nothing of it was looked at.
 */
function isRemembered({ id, method, status, resourceId }: ToldRequest): boolean {
  const isRead = method === 'GET' && status < 500;
  return !isRead && status !== 429 && resourceId !== id;
}

function rowOf({ caller, resourceId, ...told }: ToldRequest): StoredRequest {
  const { id, operation, method, path, status, code } = told;
  const resourceType = resourceId === null ? null : (MADE_IN[path] ?? null);
  const { tenantId, memberId } = caller;
  return {
    ...{ id, tenantId, memberId, operation, method, path, status, code, resourceType },
    resourceId: resourceType === null ? null : resourceId,
  };
}
