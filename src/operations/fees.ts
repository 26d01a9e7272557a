import {
  type Actor,
  type AuditDetails,
  changedFrom,
  recordAction,
  tenantAudit,
} from '../access/audit-log.js';
import { lockOpenAccount } from '../accounts/access.js';
import type { Fee } from '../accounts/rules.js';
import { type Asset, calculateFee, formatAmount, MAX_RAW } from '../core/amount.js';
import { ApiError, assertFound, invalidField, invalidState, notFound } from '../core/errors.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import type { Uuid } from '../core/ids.js';
import { asset, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import {
  type Account,
  FEE_KEY,
  type FeeKey,
  feeKeyOf,
  type FeeOperation,
  type FeeScheduleRow,
  feeSchedules,
  tenants,
} from '../db/entities/parties.js';
import { perReader, transact } from '../db/reader.js';
import { deleteSql, literal, literals, updateSql, upsertSql } from '../db/statements.js';
import { type LockedState, rowKey, type RowKey } from '../ledger/writer/types.js';

type FeeAccountByAsset = ReadonlyMap<Asset, Uuid>;

const MAX_CACHED = 20_000;
const MAX_AGE_MS = 1_000;
const feeAccountCache = perReader(
  () => new ExpiringCache<FeeAccountByAsset>(MAX_CACHED, MAX_AGE_MS),
);

/**
 * Reads the fee accounts, so that each is locked together with the accounts of its command. Cached
 * for a second unless `isRetry`, because the decision reads the fee account again under the lock.
 */
export async function readFeeAccounts(
  reader: Reader,
  operation: FeeOperation,
  tenantIds: ReadonlySet<Uuid>,
  isRetry: boolean,
): Promise<(tenantId: Uuid, asset: Asset) => Uuid | undefined> {
  const cache = feeAccountCache(reader);
  const now = performance.now();
  const found = new Map<Uuid, FeeAccountByAsset>();
  const uncached = new Set<Uuid>();
  for (const tenantId of tenantIds) {
    const cached = isRetry ? undefined : cache.get(`${operation}|${tenantId}`, now);
    if (cached === undefined) uncached.add(tenantId);
    else found.set(tenantId, cached);
  }
  if (uncached.size > 0)
    for (const [tenantId, accounts] of await selectFeeAccounts(reader, operation, uncached)) {
      found.set(tenantId, accounts);
      cache.set(`${operation}|${tenantId}`, accounts, now);
    }
  return (tenantId, feeAsset) => found.get(tenantId)?.get(feeAsset);
}

async function selectFeeAccounts(
  reader: Reader,
  operation: FeeOperation,
  tenantIds: ReadonlySet<Uuid>,
): Promise<ReadonlyMap<Uuid, FeeAccountByAsset>> {
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

export function feeRowKeys(key: FeeKey): RowKey[] {
  return [rowKey(tenants, { id: key.tenantId }), rowKey(feeSchedules, key)];
}

/** Returns the operation's fee. The fee account itself pays none. (docs/contract.md, Limits and fees) */
export function feeOf(state: LockedState, key: FeeKey, payerId: Uuid, amountRaw: bigint): Fee {
  const schedule = state.row(feeSchedules, key);
  const accountId = state.row(tenants, { id: key.tenantId })?.feeAccountId ?? null;
  if (schedule === undefined || accountId === null || accountId === payerId)
    return { raw: 0n, accountId: null };
  const raw = calculateFee(schedule, amountRaw);
  return raw === 0n ? { raw, accountId: null } : { raw, accountId };
}

/** A fee of more than the whole amount is a typing mistake. */
const MAX_BASIS_POINTS = 10_000n;

/** Sends the tenant's fees to this account. Throws not_found, invalid_state (closed). */
export async function setFeeAccount(
  { database, clock }: DatabaseDeps,
  tenantId: Uuid,
  accountId: Uuid,
  actor: Actor,
): Promise<Account> {
  return transact(database, async (transaction) => {
    // Locked, so that it cannot be closed meanwhile.
    const account = await lockOpenAccount(transaction, accountId);
    if (account.tenantId !== tenantId) throw notFound();
    const tenant = await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    const previous = tenant?.feeAccountId ?? null;
    if (previous === accountId) return account;
    await transaction.execute(updateSql(tenants, { feeAccountId: accountId }, { id: tenantId }));
    const details = { account_id: accountId, previous };
    const entry = tenantAudit(tenantId, 'tenant.set_fee_account', details);
    await recordAction(transaction, actor, clock(), entry);
    return account;
  });
}

/** Throws invalid_field, not_found, invalid_state (the tenant has no fee account). */
export async function setFeeSchedule(
  { database, clock }: DatabaseDeps,
  schedule: FeeScheduleRow,
  actor: Actor,
): Promise<void> {
  assertSchedule(schedule);
  await transact(database, async (transaction) => {
    const tenant = assertFound(
      await transaction.find(tenants, { id: schedule.tenantId }, { forUpdate: true }),
    );
    const missing = 'the tenant has no fee account: set one first';
    if (tenant.feeAccountId === null)
      throw new ApiError(invalidState(missing, 'no_fee_account', ['fee_account']));
    const { tenantId, ...key } = feeKeyOf(schedule);
    const before = await transaction.find(feeSchedules, { tenantId, ...key });
    await transaction.execute(
      upsertSql(feeSchedules, [schedule], ['flatRaw', 'basisPoints', 'floorRaw', 'capRaw']),
    );
    const terms = termsOf(schedule);
    const changed = before === undefined ? {} : changedFrom(termsOf(before), terms);
    const entry = tenantAudit(tenantId, 'fees.set', { ...key, ...terms, ...changed });
    await recordAction(transaction, actor, clock(), entry);
  });
}

/** Returns the terms of a schedule as the audit log has them. */
function termsOf({ asset, flatRaw, basisPoints, floorRaw, capRaw }: FeeScheduleRow): AuditDetails {
  return {
    flat: formatAmount({ raw: flatRaw, asset }),
    basis_points: basisPoints.toString(),
    floor: formatAmount({ raw: floorRaw, asset }),
    cap: capRaw === null ? null : formatAmount({ raw: capRaw, asset }),
  };
}

function assertSchedule({ flatRaw, basisPoints, floorRaw, capRaw }: FeeScheduleRow): void {
  const assertWithin = (field: string, raw: bigint, max: bigint): void => {
    if (raw < 0n || raw > max) throw new ApiError(invalidField(field, 'out_of_range'));
  };
  assertWithin('flat', flatRaw, MAX_RAW);
  assertWithin('basis_points', basisPoints, MAX_BASIS_POINTS);
  assertWithin('floor', floorRaw, MAX_RAW);
  if (capRaw !== null && (capRaw < floorRaw || capRaw > MAX_RAW))
    throw new ApiError(invalidField('cap', 'below_the_floor'));
}

export async function removeFeeSchedule(
  { database, clock }: DatabaseDeps,
  key: FeeKey,
  actor: Actor,
): Promise<boolean> {
  const { tenantId, ...own } = feeKeyOf(key);
  return transact(database, async (transaction) => {
    const before = await transaction.find(feeSchedules, { tenantId, ...own }, { forUpdate: true });
    if (before === undefined) return false;
    await transaction.execute(deleteSql(feeSchedules, { tenantId, ...own }));
    const details = { ...own, ...changedFrom(termsOf(before), {}) };
    const entry = tenantAudit(tenantId, 'fees.remove', details);
    await recordAction(transaction, actor, clock(), entry);
    return true;
  });
}

export function listFeeSchedules(reader: Reader, tenantId: Uuid): Promise<FeeScheduleRow[]> {
  return reader.select(feeSchedules, { tenantId }, { orderBy: FEE_KEY });
}
