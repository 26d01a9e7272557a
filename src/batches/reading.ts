import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import { type Caller, ROLES, roleAllows } from '../core/permissions.js';
import { nullable, oneOf, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  type BatchRowStatus,
  type BatchStatus,
  type BonusBatch,
  bonusBatches,
  type BonusBatchRow,
  bonusBatchRows,
} from '../db/entities/bonuses.js';
import { balances, idempotencyKeys } from '../db/entities/ledger.js';
import { accounts, memberRoles } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { isOwn, readOwners } from '../accounts/reachable.js';
import { AUTHORITY_INSUFFICIENT, capabilityRefusal } from '../accounts/rules.js';
import type { BatchReview } from './presenter.js';
import { isAccepted } from './rules.js';

export interface BatchFilter {
  readonly status?: BatchStatus | undefined;
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** What this key made. An empty list is no proof that it will not appear. */
  readonly idempotencyKey?: string | undefined;
}

const role = nullable(oneOf(ROLES));

/** One of the tenant's batches. Throws not_found, authority_insufficient. */
export async function readBatch(reader: Reader, caller: Caller, id: Uuid): Promise<BonusBatch> {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  const [row] = await reader.query(
    `SELECT ${columnList(bonusBatches, 'b')}, r.role AS caller_role FROM bonus_batches b
     LEFT JOIN member_roles r ON r.account_id=b.source_account_id AND r.member_id=${member}
     WHERE b.id=${literal(bonusBatches, 'id', id)} AND b.tenant_id=${literal(bonusBatches, 'tenantId', caller.tenantId)}`,
  );
  if (row === undefined) throw notFound();
  if (!roleAllows('readBatches', role.parse(row.caller_role) ?? undefined)) throw new ApiError(AUTHORITY_INSUFFICIENT);
  return parseRow(bonusBatches, row);
}

/** The tenant's batches from accounts in which the member has a role, newest first, those before `before`. */
export async function listBatches(
  reader: Reader,
  caller: Caller,
  filter: BatchFilter,
  before: TimePosition | null,
  limit: number,
): Promise<Page<BonusBatch>> {
  const { tenantId, memberId } = caller;
  const { status, sourceAccountId, idempotencyKey, from, to } = filter;
  if (idempotencyKey !== undefined) return madeBy(reader, caller, filter, idempotencyKey);
  // Whose account it is comes first: a stranger's is as empty, and as quickly so, as one that does not exist.
  if (sourceAccountId !== undefined && !isOwn(await readOwners(reader, [sourceAccountId]), tenantId, sourceAccountId))
    return { items: [], next: null };
  const shown = [
    `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${literal(memberRoles, 'memberId', memberId)}
      AND r.account_id=l.source_account_id)`,
    `l.tenant_id=${literal(bonusBatches, 'tenantId', tenantId)}`,
  ];
  const within = [
    sourceAccountId === undefined
      ? `t.tenant_id=${literal(bonusBatches, 'tenantId', tenantId)}`
      : `t.source_account_id=${literal(bonusBatches, 'sourceAccountId', sourceAccountId)}`,
  ];
  const hasStatusIndex = status !== undefined && sourceAccountId === undefined;
  if (hasStatusIndex) within.push(`t.status=${literal(bonusBatches, 'status', status)}`);
  else if (status !== undefined) shown.push(`l.status=${literal(bonusBatches, 'status', status)}`);
  if (from !== undefined) within.push(`t.created_at>=${time.literal(from)}`);
  if (to !== undefined) within.push(`t.created_at<=${time.literal(to)}`);
  const index = sourceAccountId !== undefined ? 'source' : hasStatusIndex ? 'status' : 'tenant';
  return readVisible(reader, { table: bonusBatches, index, within, shown }, before, limit);
}

/** At most one: what the key made or executed, if the other filters and the member's roles let it be seen. */
async function madeBy(reader: Reader, caller: Caller, filter: BatchFilter, key: string): Promise<Page<BonusBatch>> {
  const { tenantId } = caller;
  const bound = await reader.find(idempotencyKeys, { tenantId, idempotencyKey: key, resourceType: 'bonus_batch' });
  const id = bound?.resourceId ?? null;
  if (id === null) return { items: [], next: null };
  const { status, sourceAccountId, from, to } = filter;
  const batch = await readBatch(reader, caller, id).catch((refusal: unknown) => {
    if (refusal instanceof ApiError) return undefined;
    throw refusal;
  });
  const isWanted =
    batch !== undefined &&
    (status === undefined || batch.status === status) &&
    (sourceAccountId === undefined || batch.sourceAccountId === sourceAccountId) &&
    (from === undefined || batch.createdAt >= from) &&
    (to === undefined || batch.createdAt <= to);
  return { items: isWanted ? [batch] : [], next: null };
}

/** For each of these batches that is ready, whether it can be paid now, by its id. One SELECT. */
export async function readReviews(
  reader: Reader,
  batches: readonly BonusBatch[],
): Promise<ReadonlyMap<Uuid, BatchReview>> {
  const ready = batches.filter(({ status, asset }) => status === 'ready' && asset !== null);
  if (ready.length === 0) return new Map();
  const ids = [...new Set(ready.map(({ sourceAccountId }) => sourceAccountId))];
  const [own, sources] = await Promise.all([
    reader.select(balances, { accountId: ids }),
    reader.select(accounts, { id: ids }),
  ]);
  return new Map(
    ready.flatMap(({ id, sourceAccountId, asset }): [Uuid, BatchReview][] => {
      const balance = own.find((one) => one.accountId === sourceAccountId && one.asset === asset);
      const source = sources.find((one) => one.id === sourceAccountId);
      if (balance === undefined || source === undefined) return [];
      return [[id, { available: balance.available, canSend: capabilityRefusal(source) === null }]];
    }),
  );
}

/** Rows of an accepted batch behind a row number, in the order of the file. */
export async function readBatchRows(
  reader: Reader,
  batch: BonusBatch,
  status: BatchRowStatus | undefined,
  after: number,
  limit: number,
): Promise<readonly BonusBatchRow[]> {
  // What a validation has written so far is nobody's business yet.
  if (!isAccepted(batch)) return [];
  const inStatus = status === undefined ? '' : ` AND status=${literal(bonusBatchRows, 'status', status)}`;
  const rows = await reader.query(
    `SELECT ${columnList(bonusBatchRows)} FROM bonus_batch_rows FORCE INDEX (${status === undefined ? 'PRIMARY' : 'status'})
     WHERE batch_id=${literal(bonusBatchRows, 'batchId', batch.id)}${inStatus} AND number>${Math.trunc(after)}
     ORDER BY number LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => parseRow(bonusBatchRows, row));
}
