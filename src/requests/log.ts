import type { Registry } from 'prom-client';
import type { ErrorCode } from '../core/error-table.js';
import { firstIdAt, timeOfId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { metersOf } from '../core/meters.js';
import {
  type Operation,
  type Permission,
  PERMISSIONS,
  type TokenHolder,
} from '../core/permissions.js';
import { uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader } from '../db/database.js';
import type { KeyResourceType } from '../db/entities/ledger.js';
import { requests, type StoredRequest } from '../db/entities/requests.js';
import { upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { Sweep } from '../temporal/sweeper.js';
import { notFound } from '../core/errors.js';
import { bonuses } from '../db/entities/bonuses.js';
import { type Transfer, transfers } from '../db/entities/operations.js';
import { payouts } from '../db/entities/payouts.js';
import { schedules } from '../db/entities/schedules.js';
import { statements } from '../db/entities/statements.js';

export interface RequestOutcome {
  readonly id: Uuid;
  readonly caller: Pick<TokenHolder, 'tenantId' | 'memberId'>;
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly resourceId: Uuid | null;
}

interface OwnId {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly createdBy: Uuid;
}
type CreatedRow = Pick<Transfer, 'id'> &
  Partial<Pick<Transfer, 'approvalsRequired' | 'refundOfType' | 'refundOfId'>>;

interface Creation {
  /** Path of the POST; null if no request creates the resource. */
  readonly path: string | null;
  /** Set for a resource that has the id of its request. */
  readonly byId: {
    readonly operation: Operation;
    find(reader: Reader, own: OwnId): Promise<CreatedRow | undefined>;
  } | null;
}

/** How a request creates each type of resource. */
const CREATIONS: Readonly<Record<KeyResourceType, Creation>> = {
  transfer: {
    path: '/v1/transfers',
    byId: {
      operation: 'createTransfer',
      // A request does not create the transfers of a schedule.
      find: (reader, own) => reader.find(transfers, { ...own, scheduleId: null }),
    },
  },
  bonus: {
    path: '/v1/bonuses',
    byId: {
      operation: 'createBonus',
      // A request does not create the bonuses of a batch.
      find: (reader, own) => reader.find(bonuses, { ...own, batchId: null }),
    },
  },
  payout: {
    path: '/v1/payouts',
    byId: { operation: 'createPayout', find: (reader, own) => reader.find(payouts, own) },
  },
  payin: { path: null, byId: null },
  adjustment: { path: null, byId: null },
  bonus_batch: { path: '/v1/bonus_batches', byId: null },
  payout_batch: { path: '/v1/payout_batches', byId: null },
  webhook_endpoint: { path: '/v1/webhook_endpoints', byId: null },
  statement: {
    path: '/v1/statements',
    byId: { operation: 'readAccount', find: (reader, own) => reader.find(statements, own) },
  },
  schedule: {
    path: '/v1/schedules',
    byId: { operation: 'createTransfer', find: (reader, own) => reader.find(schedules, own) },
  },
  account: { path: '/v1/accounts', byId: null },
  member: { path: '/v1/members', byId: null },
  token: { path: '/v1/tokens', byId: null },
};
export const CREATED_TYPES = Object.keys(CREATIONS) as readonly KeyResourceType[];
const TYPE_BY_PATH = new Map(CREATED_TYPES.map((type) => [CREATIONS[type].path, type]));

/** How long requests are collected before they are stored together. */
const GATHER_MS = 250;
const ROWS_PER_STATEMENT = 500;
/** Requests kept while MySQL is unavailable. */
const MAX_WAITING = 10_000;
/** A tenant may store `MAX_PER_TENANT` requests per window, which is ten a second. */
const WINDOW_MS = 600_000;
const MAX_PER_TENANT = 6_000;

interface RequestLogObserver {
  /** Called for requests that are not stored: over the tenant's limit, or over MAX_WAITING. */
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
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {}

  record(outcome: RequestOutcome): void {
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
      const rows = this.waiting.slice(0, ROWS_PER_STATEMENT);
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
    const now = this.monotonicMs();
    if (now > this.window.until) this.window = { until: now + WINDOW_MS, counts: new Map() };
    const count = (this.window.counts.get(tenantId) ?? 0) + 1;
    this.window.counts.set(tenantId, count);
    return count <= MAX_PER_TENANT;
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
  // A refund is a transfer, and its path has the id of what it refunds.
  const createdAs = path.endsWith('/refunds') ? CREATIONS.transfer.path : path;
  const resourceType = resourceId === null ? null : (TYPE_BY_PATH.get(createdAs) ?? null);
  const { tenantId, memberId } = caller;
  return {
    id,
    tenantId,
    memberId,
    operation,
    method,
    path,
    status,
    code,
    resourceType,
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

export const REQUESTS_KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

function keptSince(now: Instant): Instant {
  return instant(now - REQUESTS_KEPT_DAYS * DAY_MS);
}

const REMOVE_EVERY_MS = 600_000;
const ROWS_PER_DELETE = 2_000;

export function requestsSweep({ database, clock }: DatabaseDeps): Sweep {
  const run = () => removeOldRequests(database, keptSince(clock()));
  return { name: 'old requests', everyMs: REMOVE_EVERY_MS, run };
}

/** Removes some requests that are older than `before`. Returns true if more remain. */
export async function removeOldRequests(database: Database, before: Instant): Promise<boolean> {
  const sql = `DELETE FROM requests WHERE id<${uuid.literal(firstIdAt(before))} ORDER BY id LIMIT ${ROWS_PER_DELETE}`;
  return (await transact(database, (transaction) => transaction.execute(sql))) === ROWS_PER_DELETE;
}

interface CreatedResource {
  readonly type: KeyResourceType;
  readonly operation: Operation;
  readonly path: string;
  readonly status: 201 | 202;
}

export interface RequestResult {
  readonly id: Uuid;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly resource: { readonly type: KeyResourceType; readonly id: Uuid } | null;
  readonly createdAt: Instant;
}

/**
 * Returns the outcome of a request by the caller's own member, if the token has a scope that the
 * request required. Otherwise throws `not_found`. (docs/contract.md, Request ids)
 */
export async function readRequest(
  reader: Reader,
  caller: TokenHolder,
  id: Uuid,
  now: Instant,
): Promise<RequestResult> {
  const { tenantId, memberId } = caller;
  const [stored, created] = await Promise.all([
    reader.find(requests, { id, tenantId, memberId }),
    findCreatedResource(reader, caller, id),
  ]);
  const operation = stored?.operation ?? created?.operation;
  const createdAt = instant(timeOfId(id));
  if (!mayRead(operation, caller) || createdAt < keptSince(now)) throw notFound();
  if (stored === undefined) {
    if (created === null) throw notFound();
    const { type, path, status } = created;
    return { id, method: 'POST', path, status, code: null, resource: { type, id }, createdAt };
  }
  const { method, path, status, code, resourceType, resourceId } = stored;
  const known =
    resourceType === null || resourceId === null ? null : { type: resourceType, id: resourceId };
  // The response was a 503 with an unknown outcome, and the request succeeded later.
  const ownResource = created === null ? null : { type: created.type, id };
  return { id, method, path, status, code, resource: known ?? ownResource, createdAt };
}

/** Returns the id of the resource that a request created or replayed, or else the request's id. */
export async function findRequestResource(reader: Reader, tenantId: Uuid, id: Uuid): Promise<Uuid> {
  const stored = await reader.find(requests, { id, tenantId });
  return stored?.resourceId ?? id;
}

function mayRead(operation: string | undefined, { scopes }: TokenHolder): boolean {
  const permission: Permission | undefined = Object.entries(PERMISSIONS).find(
    ([name]) => name === operation,
  )?.[1];
  return permission?.scopes.some((scope) => scopes.includes(scope)) ?? false;
}

async function findCreatedResource(
  reader: Reader,
  { tenantId, memberId }: TokenHolder,
  id: Uuid,
): Promise<CreatedResource | null> {
  const own = { id, tenantId, createdBy: memberId };
  const found = await Promise.all(
    CREATED_TYPES.map(async (type): Promise<CreatedResource | null> => {
      const { path, byId } = CREATIONS[type];
      const row = await byId?.find(reader, own);
      if (path === null || byId === null || row === undefined) return null;
      const { approvalsRequired = null, refundOfType = null, refundOfId } = row;
      return {
        type,
        operation: byId.operation,
        path:
          refundOfType === null ? path : `${CREATIONS[refundOfType].path}/${refundOfId}/refunds`,
        status: approvalsRequired === null ? 201 : 202,
      };
    }),
  );
  return found.find((one) => one !== null) ?? null;
}
