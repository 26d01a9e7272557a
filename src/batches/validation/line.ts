import type { Uuid } from '../../core/ids.js';
import { uuid } from '../../db/columns.js';
import type { Reader, Transaction } from '../../db/database.js';
import { type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import { tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';

/**
 * The queue of a tenant's batches that wait for validation. The first few have a workflow each;
 * further batches get theirs as these end, or after they were begun too often. Temporal serves
 * tasks in the order in which it receives them, so sixty files of one tenant at once would put
 * hundreds of tasks ahead of other tenants. Changing the queue takes its lock.
 */

/** The batch being read and the next: a worker process validates one of a tenant at a time. */
const WITH_A_WORKFLOW = 2;
/** A batch begun this often no longer delays the queue, because its content makes reading fail. */
const BEGUN_TOO_OFTEN = 5;

const WAITS = `status='validating' AND validation_run<${BEGUN_TOO_OFTEN}`;

/**
 * Returns the last of the tenant's queued batches with a workflow, except `except`; null if another
 * may have one.
 */
export async function lastWithWorkflow(
  reader: Reader,
  tenantId: Uuid,
  except: Uuid | null,
): Promise<Uuid | null> {
  const others = except === null ? '' : ` AND id<>${uuid.literal(except)}`;
  const [row] = await reader.query(
    `SELECT id FROM bonus_batches FORCE INDEX (status)
     WHERE tenant_id=${literal(bonusBatches, 'tenantId', tenantId)} AND ${WAITS}${others}
     ORDER BY created_at, id LIMIT 1 OFFSET ${WITH_A_WORKFLOW - 1}`,
  );
  return row === undefined ? null : uuid.parse(row.id);
}

/** Returns true if the batch, when its reading begins, no longer delays the queue. */
export function leavesLine({ validationRun }: Pick<BonusBatch, 'validationRun'>): boolean {
  return validationRun === BEGUN_TOO_OFTEN;
}

/** Locks the tenant's queue by the tenant's row. */
export async function lockLine(transaction: Transaction, tenantId: Uuid): Promise<void> {
  await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
}

/** SQL that is true if the queue lets the batch `t` have a workflow. */
export const HAS_TURN_SQL = `(t.status<>'validating' OR ${WITH_A_WORKFLOW}>(
  SELECT COUNT(*) FROM bonus_batches ahead FORCE INDEX (status)
  WHERE ahead.tenant_id=t.tenant_id AND ahead.status='validating' AND ahead.validation_run<${BEGUN_TOO_OFTEN}
    AND (ahead.created_at<t.created_at OR (ahead.created_at=t.created_at AND ahead.id<t.id))))`;
