import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import { integer, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { memberRoles } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import { isOwn, readOwners } from '../accounts/reachable.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';

export interface BonusFilter {
  readonly sourceAccountId?: Uuid | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
  /** What this key made. An empty list is no proof that it will not appear. */
  readonly idempotencyKey?: string | undefined;
}

/** True in SQL when the caller's member has a role in the source or recipient account of the row. */
function visibleSql(caller: Caller, row: string): string {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  return `EXISTS (SELECT 1 FROM member_roles r WHERE r.member_id=${member}
    AND r.account_id IN (${row}.source_account_id, ${row}.recipient_account_id))`;
}

/** One of the tenant's bonuses. Throws not_found, authority_insufficient. */
export async function readBonus(reader: Reader, caller: Caller, id: Uuid): Promise<Bonus> {
  const [row] = await reader.query(
    `SELECT ${columnList(bonuses, 't')}, ${visibleSql(caller, 't')} AS visible FROM bonuses t
     WHERE t.id=${literal(bonuses, 'id', id)} AND t.tenant_id=${literal(bonuses, 'tenantId', caller.tenantId)}`,
  );
  if (row === undefined) throw notFound();
  // A number with MariaDB, text with MySQL.
  if (integer.parse(row.visible) !== 1) throw new ApiError(AUTHORITY_INSUFFICIENT);
  return parseRow(bonuses, row);
}

/** The tenant's bonuses that the member may see, newest first, those before `before`. */
export async function listBonuses(
  reader: Reader,
  caller: Caller,
  filter: BonusFilter,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Bonus>> {
  const { tenantId } = caller;
  const { sourceAccountId, idempotencyKey, from, to } = filter;
  if (idempotencyKey !== undefined) return madeBy(reader, caller, filter, idempotencyKey);
  // Whose account it is comes first: a stranger's is as empty, and as quickly so, as one that does not exist.
  if (sourceAccountId !== undefined && !isOwn(await readOwners(reader, [sourceAccountId]), tenantId, sourceAccountId))
    return { items: [], next: null };
  const shown = [visibleSql(caller, 'l'), `l.tenant_id=${literal(bonuses, 'tenantId', tenantId)}`];
  const within = [
    sourceAccountId === undefined
      ? `t.tenant_id=${literal(bonuses, 'tenantId', tenantId)}`
      : `t.source_account_id=${literal(bonuses, 'sourceAccountId', sourceAccountId)}`,
  ];
  if (from !== undefined) within.push(`t.created_at>=${time.literal(from)}`);
  if (to !== undefined) within.push(`t.created_at<=${time.literal(to)}`);
  const index = sourceAccountId === undefined ? 'tenant' : 'source';
  return readVisible(reader, { table: bonuses, index, within, shown }, before, limit);
}

/** At most one: what the key made, if the other filters and the member's roles let it be seen. */
async function madeBy(reader: Reader, caller: Caller, filter: BonusFilter, key: string): Promise<Page<Bonus>> {
  const { tenantId } = caller;
  const bound = await reader.find(idempotencyKeys, { tenantId, idempotencyKey: key, resourceType: 'bonus' });
  const id = bound?.resourceId ?? null;
  if (id === null) return { items: [], next: null };
  const { sourceAccountId, from, to } = filter;
  const bonus = await readBonus(reader, caller, id).catch((refusal: unknown) => {
    if (refusal instanceof ApiError) return undefined;
    throw refusal;
  });
  const isWanted =
    bonus !== undefined &&
    (sourceAccountId === undefined || bonus.sourceAccountId === sourceAccountId) &&
    (from === undefined || bonus.createdAt >= from) &&
    (to === undefined || bonus.createdAt <= to);
  return { items: isWanted ? [bonus] : [], next: null };
}
