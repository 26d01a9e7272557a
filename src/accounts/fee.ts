import { type Actor, recordAction, tenantAudit } from '../access/audit-log.js';
import { type Asset, feeFor, MAX_RAW } from '../core/amount.js';
import { ApiError, existing, invalidField, invalidState, notFound } from '../core/errors.js';
import { ExpiringCache } from '../core/expiring-cache.js';
import type { Uuid } from '../core/ids.js';
import { perReader } from '../db/coalesced-reads.js';
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
import { deleteSql, literal, literals, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { type LockedState, need, type Need } from '../ledger/writer/types.js';
import { lockOpenAccount } from './access.js';
import type { Fee } from './rules.js';

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
): Promise<(tenantId: Uuid, asset: Asset) => Uuid | undefined> {
  const remembered = rememberedOf(reader);
  const now = performance.now();
  const found = new Map<Uuid, FeeAccountsOfTenant>();
  const unknown = new Set<Uuid>();
  for (const tenantId of tenantIds) {
    const known = isRetry ? undefined : remembered.get(`${operation}|${tenantId}`, now);
    if (known === undefined) unknown.add(tenantId);
    else found.set(tenantId, known);
  }
  if (unknown.size > 0)
    for (const [tenantId, accounts] of await selectFeeAccounts(reader, operation, unknown)) {
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

/** The fee account itself pays no fee. (docs/contract.md, Limits and fees) */
export function feeOf(state: LockedState, key: FeeKey, payerId: Uuid, amountRaw: bigint): Fee {
  const schedule = state.row(feeSchedules, key);
  const accountId = state.row(tenants, { id: key.tenantId })?.feeAccountId ?? null;
  if (schedule === undefined || accountId === null || accountId === payerId)
    return { raw: 0n, accountId: null };
  const raw = feeFor(schedule, amountRaw);
  return raw === 0n ? { raw, accountId: null } : { raw, accountId };
}

/** More than the whole amount is a typing mistake. */
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
    const tenant = existing(
      await transaction.find(tenants, { id: schedule.tenantId }, { forUpdate: true }),
    );
    const missing = 'the tenant has no fee account: set one first';
    if (tenant.feeAccountId === null)
      throw new ApiError(invalidState(missing, 'no_fee_account', ['fee_account']));
    await transaction.execute(
      upsertSql(feeSchedules, [schedule], ['flatRaw', 'basisPoints', 'floorRaw', 'capRaw']),
    );
    const { flatRaw, basisPoints, floorRaw, capRaw } = schedule;
    const { tenantId, ...of } = feeKeyOf(schedule);
    const entry = tenantAudit(tenantId, 'fees.set', {
      ...of,
      flat: flatRaw.toString(),
      basis_points: basisPoints.toString(),
      floor: floorRaw.toString(),
      cap: capRaw?.toString() ?? null,
    });
    await recordAction(transaction, actor, clock(), entry);
  });
}

function assertSchedule({ flatRaw, basisPoints, floorRaw, capRaw }: FeeScheduleRow): void {
  const assertWithin = (field: string, raw: bigint, most: bigint): void => {
    if (raw < 0n || raw > most) throw new ApiError(invalidField(field, 'out_of_range'));
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
  const { tenantId, ...details } = feeKeyOf(key);
  return transact(database, async (transaction) => {
    const deleted = await transaction.execute(deleteSql(feeSchedules, { tenantId, ...details }));
    if (deleted === 0) return false;
    const entry = tenantAudit(tenantId, 'fees.remove', details);
    await recordAction(transaction, actor, clock(), entry);
    return true;
  });
}

export function listFeeSchedules(reader: Reader, tenantId: Uuid): Promise<FeeScheduleRow[]> {
  return reader.select(feeSchedules, { tenantId }, { orderBy: FEE_KEY });
}
