import type { Asset } from '../core/amount.js';
import { feeFor } from '../core/fees.js';
import type { Uuid } from '../core/ids.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import { perReader } from '../db/coalesced-reads.js';
import { asset, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type FeeKey, type FeeOperation, feeSchedules, tenants } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';
import { type LockedState, need, type Need } from '../ledger/writer/types.js';
import type { Fee } from './rules.js';

/** Returns the account that receives a tenant's fees in an asset, if the operation charges one. */
type FeeAccounts = (tenantId: Uuid, asset: Asset) => Uuid | undefined;

type FeeAccountsOfTenant = ReadonlyMap<Asset, Uuid>;

const MAX_REMEMBERED = 20_000;
const MAX_AGE_MS = 1_000;
const rememberedOf = perReader(
  () => new ExpiringCache<FeeAccountsOfTenant>(MAX_REMEMBERED, MAX_AGE_MS),
);

/**
 * Reads the fee accounts, cached for a second unless `isRetry`, so that they are locked together
 * with the other accounts. The decision reads again behind the lock which of them is paid.
 */
export async function readFeeAccounts(
  reader: Reader,
  operation: FeeOperation,
  tenantIds: ReadonlySet<Uuid>,
  isRetry: boolean,
): Promise<FeeAccounts> {
  const remembered = rememberedOf(reader);
  const now = performance.now();
  const found = new Map<Uuid, FeeAccountsOfTenant>();
  const asked = new Set<Uuid>();
  for (const tenantId of tenantIds) {
    const known = isRetry ? undefined : remembered.get(`${operation}|${tenantId}`, now);
    if (known === undefined) asked.add(tenantId);
    else found.set(tenantId, known);
  }
  if (asked.size > 0)
    for (const [tenantId, accounts] of await selectFeeAccounts(reader, operation, asked)) {
      found.set(tenantId, accounts);
      remembered.set(`${operation}|${tenantId}`, accounts, now);
    }
  return (tenantId, ofAsset) => found.get(tenantId)?.get(ofAsset);
}

async function selectFeeAccounts(
  reader: Reader,
  operation: FeeOperation,
  tenantIds: ReadonlySet<Uuid>,
): Promise<ReadonlyMap<Uuid, FeeAccountsOfTenant>> {
  const rows = await reader.query(
    `SELECT s.tenant_id, s.asset, t.fee_account_id FROM fee_schedules s JOIN tenants t ON t.id=s.tenant_id
     WHERE s.tenant_id IN (${literals(tenants, 'id', tenantIds)}) AND s.operation=${literal(feeSchedules, 'operation', operation)}
       AND t.fee_account_id IS NOT NULL`,
  );
  const found = new Map(Array.from(tenantIds, (id) => [id, new Map<Asset, Uuid>()]));
  for (const row of rows)
    found
      .get(uuid.parse(row.tenant_id))
      ?.set(asset.parse(row.asset), uuid.parse(row.fee_account_id));
  return found;
}

export function feeNeeds(key: FeeKey): Need[] {
  return [need(tenants, { id: key.tenantId }), need(feeSchedules, key)];
}

/**
 * Returns the fee and its recipient; the fee account itself pays none. (docs/contract.md, Limits
 * and fees)
 */
export function feeOf(state: LockedState, key: FeeKey, payerId: Uuid, amountRaw: bigint): Fee {
  const schedule = state.row(feeSchedules, key);
  const accountId = state.row(tenants, { id: key.tenantId })?.feeAccountId ?? null;
  if (schedule === undefined || accountId === null || accountId === payerId)
    return { raw: 0n, accountId: null };
  const raw = feeFor(schedule, amountRaw);
  return raw === 0n ? { raw, accountId: null } : { raw, accountId };
}
