import { type AuditEntry, type Actor, recordAction } from '../access/audit-log.js';
import { MAX_RAW } from '../core/amount.js';
import { ApiError, existing, invalidField, invalidState, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database, Reader } from '../db/database.js';
import {
  type Account,
  FEE_KEY,
  type FeeKey,
  feeKeyOf,
  type FeeScheduleRow,
  feeSchedules,
  tenants,
} from '../db/entities/parties.js';
import { deleteSql, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockOpenAccount } from './access.js';

/** More than the whole amount is a typing mistake. */
const MAX_BASIS_POINTS = 10_000n;

/** Sends the tenant's fees to this account. Throws not_found, invalid_state (closed). */
export async function setFeeAccount(
  database: Database,
  clock: Clock,
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
    await recordAction(transaction, actor, clock(), {
      ...actOn(tenantId, 'tenant.set_fee_account'),
      details: { account_id: accountId, previous },
    });
    return account;
  });
}

/** Throws invalid_field, not_found, invalid_state (the tenant has no fee account). */
export async function setFeeSchedule(
  database: Database,
  clock: Clock,
  schedule: FeeScheduleRow,
  actor: Actor,
): Promise<void> {
  assertSchedule(schedule);
  await transact(database, async (transaction) => {
    const tenant = existing(
      await transaction.find(tenants, { id: schedule.tenantId }, { forUpdate: true }),
    );
    if (tenant.feeAccountId === null)
      throw new ApiError(
        invalidState('the tenant has no fee account: set one first', 'no_fee_account', [
          'fee_account',
        ]),
      );
    await transaction.execute(
      upsertSql(feeSchedules, [schedule], ['flatRaw', 'basisPoints', 'floorRaw', 'capRaw']),
    );
    const { flatRaw, basisPoints, floorRaw, capRaw } = schedule;
    const { tenantId, ...of } = feeKeyOf(schedule);
    await recordAction(transaction, actor, clock(), {
      ...actOn(tenantId, 'fees.set'),
      details: {
        ...of,
        flat: flatRaw.toString(),
        basis_points: basisPoints.toString(),
        floor: floorRaw.toString(),
        cap: capRaw?.toString() ?? null,
      },
    });
  });
}

function assertSchedule({ flatRaw, basisPoints, floorRaw, capRaw }: FeeScheduleRow): void {
  const outOfRange = (raw: bigint): boolean => raw < 0n || raw > MAX_RAW;
  if (outOfRange(flatRaw)) throw new ApiError(invalidField('flat', 'out_of_range'));
  if (basisPoints < 0n || basisPoints > MAX_BASIS_POINTS)
    throw new ApiError(invalidField('basis_points', 'out_of_range'));
  if (outOfRange(floorRaw)) throw new ApiError(invalidField('floor', 'out_of_range'));
  if (capRaw !== null && (outOfRange(capRaw) || capRaw < floorRaw))
    throw new ApiError(invalidField('cap', 'below_the_floor'));
}

export async function removeFeeSchedule(
  database: Database,
  clock: Clock,
  key: FeeKey,
  actor: Actor,
): Promise<boolean> {
  const { tenantId, ...details } = feeKeyOf(key);
  return transact(database, async (transaction) => {
    if ((await transaction.execute(deleteSql(feeSchedules, { tenantId, ...details }))) === 0)
      return false;
    await recordAction(transaction, actor, clock(), { ...actOn(tenantId, 'fees.remove'), details });
    return true;
  });
}

function actOn(
  tenantId: Uuid,
  action: string,
): Pick<AuditEntry, 'tenantId' | 'action' | 'subjectType' | 'subjectId'> {
  return { tenantId, action, subjectType: 'tenant', subjectId: tenantId };
}

export function listFeeSchedules(reader: Reader, tenantId: Uuid): Promise<FeeScheduleRow[]> {
  return reader.select(feeSchedules, { tenantId }, { orderBy: FEE_KEY });
}
