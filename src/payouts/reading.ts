import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import { integer, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { type Payout, payouts, type PayoutStatus } from '../db/entities/payouts.js';
import { memberRoles } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { isOwn, readOwners } from '../accounts/reachable.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';

export interface PayoutFilter {
  readonly status?: PayoutStatus | undefined;
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** What this key made. An empty list is no proof that it will not appear. */
  readonly idempotencyKey?: string | undefined;
}

/** True in SQL when the caller's member has a role in the source account of the row. */
function visibleSql(caller: Caller, row: string): string {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${member}
    AND r.account_id=${row}.source_account_id)`;
}

/** One of the tenant's payouts. Throws not_found, authority_insufficient. */
export async function readPayout(reader: Reader, caller: Caller, id: Uuid): Promise<Payout> {
  const [row] = await reader.query(
    `SELECT ${columnList(payouts, 't')}, ${visibleSql(caller, 't')} AS visible FROM payouts t
     WHERE t.id=${literal(payouts, 'id', id)} AND t.tenant_id=${literal(payouts, 'tenantId', caller.tenantId)}`,
  );
  if (row === undefined) throw notFound();
  // A number with MariaDB, text with MySQL.
  if (integer.parse(row.visible) !== 1) throw new ApiError(AUTHORITY_INSUFFICIENT);
  return parseRow(payouts, row);
}

/** The tenant's payouts that the member may see, newest first, those before `before`. */
export async function listPayouts(
  reader: Reader,
  caller: Caller,
  filter: PayoutFilter,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Payout>> {
  const { tenantId } = caller;
  const { status, sourceAccountId, idempotencyKey, from, to } = filter;
  if (idempotencyKey !== undefined) return madeBy(reader, caller, filter, idempotencyKey);
  // Whose account it is comes first: a stranger's is as empty, and as quickly so, as one that does not exist.
  if (sourceAccountId !== undefined && !isOwn(await readOwners(reader, [sourceAccountId]), tenantId, sourceAccountId))
    return { items: [], next: null };
  const within: string[] = [];
  const shown = [visibleSql(caller, 'l'), `l.tenant_id=${literal(payouts, 'tenantId', tenantId)}`];
  if (sourceAccountId === undefined) within.push(`t.tenant_id=${literal(payouts, 'tenantId', tenantId)}`);
  else within.push(`t.source_account_id=${literal(payouts, 'sourceAccountId', sourceAccountId)}`);
  const hasStatusIndex = status !== undefined && sourceAccountId === undefined;
  if (hasStatusIndex) within.push(`t.status=${literal(payouts, 'status', status)}`);
  else if (status !== undefined) shown.push(`l.status=${literal(payouts, 'status', status)}`);
  if (from !== undefined) within.push(`t.created_at>=${time.literal(from)}`);
  if (to !== undefined) within.push(`t.created_at<=${time.literal(to)}`);
  const index = sourceAccountId !== undefined ? 'source' : hasStatusIndex ? 'status' : 'tenant';
  return readVisible(reader, { table: payouts, index, within, shown }, before, limit);
}

/** At most one: what the key made, if the other filters and the member's roles let it be seen. */
async function madeBy(reader: Reader, caller: Caller, filter: PayoutFilter, key: string): Promise<Page<Payout>> {
  const { tenantId } = caller;
  const bound = await reader.find(idempotencyKeys, { tenantId, idempotencyKey: key, resourceType: 'payout' });
  const id = bound?.resourceId ?? null;
  if (id === null) return { items: [], next: null };
  const { status, sourceAccountId, from, to } = filter;
  const payout = await readPayout(reader, caller, id).catch((refusal: unknown) => {
    if (refusal instanceof ApiError) return undefined;
    throw refusal;
  });
  const isWanted =
    payout !== undefined &&
    (status === undefined || payout.status === status) &&
    (sourceAccountId === undefined || payout.sourceAccountId === sourceAccountId) &&
    (from === undefined || payout.createdAt >= from) &&
    (to === undefined || payout.createdAt <= to);
  return { items: isWanted ? [payout] : [], next: null };
}
