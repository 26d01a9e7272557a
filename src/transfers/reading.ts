import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { type Page, pageOf, type TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { type Transfer, transfers, type TransferStatus } from '../db/entities/operations.js';
import { memberRoles } from '../db/entities/parties.js';
import { behindSql, columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';

export interface TransferFilter {
  readonly status?: TransferStatus | undefined;
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** What this key made. An empty list is no proof that it will not appear. */
  readonly idempotencyKey?: string | undefined;
}

/** True in SQL when the caller's member has a role in the transfer's source or destination account. */
function visibleSql(caller: Caller): string {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${member}
    AND r.account_id IN (t.source_account_id, t.destination_account_id))`;
}

/** One of the tenant's transfers. Throws not_found, authority_insufficient. */
export async function readTransfer(reader: Reader, caller: Caller, id: Uuid): Promise<Transfer> {
  const [row] = await reader.query(
    `SELECT ${columnList(transfers, 't')}, ${visibleSql(caller)} AS visible FROM transfers t
     WHERE t.id=${literal(transfers, 'id', id)} AND t.tenant_id=${literal(transfers, 'tenantId', caller.tenantId)}`,
  );
  if (row === undefined) throw notFound();
  if (row.visible !== 1) throw new ApiError(AUTHORITY_INSUFFICIENT);
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
  const conditions = [`t.tenant_id=${literal(transfers, 'tenantId', caller.tenantId)}`, visibleSql(caller)];
  if (filter.idempotencyKey !== undefined)
    conditions.push(`t.id=(SELECT resource_id FROM idempotency_keys WHERE resource_type='transfer'
      AND tenant_id=${literal(idempotencyKeys, 'tenantId', caller.tenantId)}
      AND idempotency_key=${literal(idempotencyKeys, 'idempotencyKey', filter.idempotencyKey)})`);
  if (filter.status !== undefined) conditions.push(`t.status=${literal(transfers, 'status', filter.status)}`);
  if (filter.sourceAccountId !== undefined)
    conditions.push(`t.source_account_id=${literal(transfers, 'sourceAccountId', filter.sourceAccountId)}`);
  if (filter.from !== undefined) conditions.push(`t.created_at>=${column.time.literal(filter.from)}`);
  if (filter.to !== undefined) conditions.push(`t.created_at<=${column.time.literal(filter.to)}`);
  if (before !== null) conditions.push(behindSql('t', before));
  const rows = await reader.query(
    `SELECT ${columnList(transfers, 't')} FROM transfers t ${indexFor(filter)} WHERE ${conditions.join(' AND ')}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit + 1}`,
  );
  return pageOf(
    rows.map((row) => parseRow(transfers, row)),
    limit,
  );
}

/** The index that already has the order, so that a page costs a page. */
function indexFor(filter: TransferFilter): string {
  if (filter.idempotencyKey !== undefined) return '';
  if (filter.sourceAccountId !== undefined) return 'FORCE INDEX (source)';
  return filter.status !== undefined ? 'FORCE INDEX (status)' : 'FORCE INDEX (tenant)';
}
