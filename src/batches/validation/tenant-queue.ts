import type { Uuid } from '../../core/ids.js';
import { uuid } from '../../db/columns.js';
import type { Reader, Transaction } from '../../db/database.js';
import { type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import { tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';

/**
 * The first two batches of a tenant that wait for validation have a workflow; the next ones get
 * theirs when these end, or were begun too often. Otherwise one tenant's many files would put
 * hundreds of tasks ahead of other tenants.
 */

/** The batch being read and the next one. */
const WITH_A_WORKFLOW = 2;
/** Attempts after which a batch whose content makes reading fail no longer delays the queue. */
const BEGUN_TOO_OFTEN = 5;

const IN_QUEUE = `status='validating' AND validation_run<${BEGUN_TOO_OFTEN}`;

/** Returns the last queued batch that has a workflow; null if one more batch may get one. */
export async function lastWithWorkflow(
  reader: Reader,
  tenantId: Uuid,
  except: Uuid | null,
): Promise<Uuid | null> {
  const others = except === null ? '' : ` AND id<>${uuid.literal(except)}`;
  const [row] = await reader.query(
    `SELECT id FROM bonus_batches FORCE INDEX (status)
     WHERE tenant_id=${literal(bonusBatches, 'tenantId', tenantId)} AND ${IN_QUEUE}${others}
     ORDER BY created_at, id LIMIT 1 OFFSET ${WITH_A_WORKFLOW - 1}`,
  );
  return row === undefined ? null : uuid.parse(row.id);
}

export function leavesQueue({ validationRun }: Pick<BonusBatch, 'validationRun'>): boolean {
  return validationRun === BEGUN_TOO_OFTEN;
}

export async function lockQueue(transaction: Transaction, tenantId: Uuid): Promise<void> {
  await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
}

export const MAY_HAVE_WORKFLOW_SQL = `(t.status<>'validating' OR ${WITH_A_WORKFLOW}>(
  SELECT COUNT(*) FROM bonus_batches ahead FORCE INDEX (status)
  WHERE ahead.tenant_id=t.tenant_id AND ahead.status='validating' AND ahead.validation_run<${BEGUN_TOO_OFTEN}
    AND (ahead.created_at<t.created_at OR (ahead.created_at=t.created_at AND ahead.id<t.id))))`;
