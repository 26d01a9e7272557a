import type { Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { type BatchStatus, type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';

/** The operators' view of batches: of any account, without roles. */

/** The newest `limit` batches of the tenant in this status (null: in any). */
export async function listTenantBatches(
  reader: Reader,
  tenantId: Uuid,
  status: BatchStatus | null,
  limit: number,
): Promise<readonly BonusBatch[]> {
  const inStatus = status === null ? '' : ` AND status=${literal(bonusBatches, 'status', status)}`;
  const rows = await reader.query(
    `SELECT ${columnList(bonusBatches)} FROM bonus_batches FORCE INDEX (${status === null ? 'tenant' : 'status'})
     WHERE tenant_id=${literal(bonusBatches, 'tenantId', tenantId)}${inStatus}
     ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit)}`,
  );
  return rows.map((row) => parseRow(bonusBatches, row));
}
