import type { Asset } from '../core/amount.js';
import { feeFor } from '../core/fees.js';
import type { Uuid } from '../core/ids.js';
import { asset, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type FeeKey, type FeeOperation, feeSchedules, tenants } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';
import { type LockedState, need, type Need } from '../ledger/desk/types.js';
import type { Fee } from './rules.js';

/** Which account receives a tenant's fees in an asset, if the operation charges one. */
type FeeAccounts = (tenantId: Uuid, asset: Asset) => Uuid | undefined;

/** Read before the lock, so that the fee accounts are locked with the others. One SELECT. */
export async function readFeeAccounts(
  reader: Reader,
  operation: FeeOperation,
  tenantIds: ReadonlySet<Uuid>,
): Promise<FeeAccounts> {
  const rows = await reader.query(
    `SELECT s.tenant_id, s.asset, t.fee_account_id FROM fee_schedules s JOIN tenants t ON t.id=s.tenant_id
     WHERE s.tenant_id IN (${literals(tenants, 'id', tenantIds)}) AND s.operation=${literal(feeSchedules, 'operation', operation)}
       AND t.fee_account_id IS NOT NULL`,
  );
  const found = new Map(
    rows.map((row) => [`${uuid.parse(row.tenant_id)}|${asset.parse(row.asset)}`, uuid.parse(row.fee_account_id)]),
  );
  return (tenantId, ofAsset) => found.get(`${tenantId}|${ofAsset}`);
}

export function feeNeeds(key: FeeKey): Need[] {
  return [need(tenants, { id: key.tenantId }), need(feeSchedules, key)];
}

/**
 * What the operation costs, and which account receives it. The fee account itself pays no fee. (docs/contract.md,
 * Limits and fees)
 */
export function feeOf(state: LockedState, key: FeeKey, payerId: Uuid, amountRaw: bigint): Fee {
  const schedule = state.row(feeSchedules, key);
  const accountId = state.row(tenants, { id: key.tenantId })?.feeAccountId ?? null;
  if (schedule === undefined || accountId === null || accountId === payerId) return { raw: 0n, accountId: null };
  const raw = feeFor(schedule, amountRaw);
  return raw === 0n ? { raw, accountId: null } : { raw, accountId };
}
