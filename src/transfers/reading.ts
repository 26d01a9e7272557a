import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import { integer, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { type Transfer, transfers, type TransferStatus } from '../db/entities/operations.js';
import { memberRoles } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { isOwn, readOwners } from '../accounts/reachable.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';

export interface TransferFilter {
  readonly status?: TransferStatus | undefined;
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** What this key made. An empty list is no proof that it will not appear. */
  readonly idempotencyKey?: string | undefined;
}

/** True in SQL when the caller's member has a role in the source or destination account of the row. */
function visibleSql(caller: Caller, row: string): string {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${member}
    AND r.account_id IN (${row}.source_account_id, ${row}.destination_account_id))`;
}

/** One of the tenant's transfers. Throws not_found, authority_insufficient. */
export async function readTransfer(reader: Reader, caller: Caller, id: Uuid): Promise<Transfer> {
  const [row] = await reader.query(
    `SELECT ${columnList(transfers, 't')}, ${visibleSql(caller, 't')} AS visible FROM transfers t
     WHERE t.id=${literal(transfers, 'id', id)} AND t.tenant_id=${literal(transfers, 'tenantId', caller.tenantId)}`,
  );
  if (row === undefined) throw notFound();
  // A number with MariaDB, text with MySQL.
  if (integer.parse(row.visible) !== 1) throw new ApiError(AUTHORITY_INSUFFICIENT);
  return parseRow(transfers, row);
}

/** The tenant's transfers that the member may see, newest first, those before `before`. */
export async function listTransfers(
  reader: Reader,
  caller: Caller,
  filter: TransferFilter,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Transfer>> {
  const { tenantId } = caller;
  const { status, sourceAccountId, idempotencyKey, from, to } = filter;
  if (idempotencyKey !== undefined) return madeBy(reader, caller, filter, idempotencyKey);
  // Whose account it is comes first: a stranger's is as empty, and as quickly so, as one that does not exist.
  if (sourceAccountId !== undefined && !isOwn(await readOwners(reader, [sourceAccountId]), tenantId, sourceAccountId))
    return { items: [], next: null };
  const within: string[] = [];
  const shown = [visibleSql(caller, 'l'), `l.tenant_id=${literal(transfers, 'tenantId', tenantId)}`];
  if (sourceAccountId === undefined) within.push(`t.tenant_id=${literal(transfers, 'tenantId', tenantId)}`);
  else within.push(`t.source_account_id=${literal(transfers, 'sourceAccountId', sourceAccountId)}`);
  const hasStatusIndex = status !== undefined && sourceAccountId === undefined;
  if (hasStatusIndex) within.push(`t.status=${literal(transfers, 'status', status)}`);
  else if (status !== undefined) shown.push(`l.status=${literal(transfers, 'status', status)}`);
  if (from !== undefined) within.push(`t.created_at>=${time.literal(from)}`);
  if (to !== undefined) within.push(`t.created_at<=${time.literal(to)}`);
  const index = sourceAccountId !== undefined ? 'source' : hasStatusIndex ? 'status' : 'tenant';
  return readVisible(reader, { table: transfers, index, within, shown }, before, limit);
}

/** At most one: what the key made, if the other filters and the member's roles let it be seen. */
async function madeBy(reader: Reader, caller: Caller, filter: TransferFilter, key: string): Promise<Page<Transfer>> {
  const { tenantId } = caller;
  const bound = await reader.find(idempotencyKeys, { tenantId, idempotencyKey: key, resourceType: 'transfer' });
  const id = bound?.resourceId ?? null;
  if (id === null) return { items: [], next: null };
  const { status, sourceAccountId, from, to } = filter;
  const transfer = await readTransfer(reader, caller, id).catch((refusal: unknown) => {
    if (refusal instanceof ApiError) return undefined;
    throw refusal;
  });
  const isWanted =
    transfer !== undefined &&
    (status === undefined || transfer.status === status) &&
    (sourceAccountId === undefined || transfer.sourceAccountId === sourceAccountId) &&
    (from === undefined || transfer.createdAt >= from) &&
    (to === undefined || transfer.createdAt <= to);
  return { items: isWanted ? [transfer] : [], next: null };
}
