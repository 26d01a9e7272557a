import { type Asset, MAX_RAW } from '../core/amount.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Database, Reader } from '../db/database.js';
import {
  type Account,
  accounts,
  type FeeOperation,
  type FeeScheduleRow,
  feeSchedules,
  tenants,
} from '../db/entities/parties.js';
import { literal, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { ACCOUNT_CLOSED } from './rules.js';

/** What a tenant charges, and into which account. (decisions.md, Limits and fees) */

/** More than the whole amount is a slip of the pen. */
const MAX_BASIS_POINTS = 10_000n;

/** Fees of the tenant go into this account from now on. Throws ApiError not_found, invalid_state (closed). */
export async function setFeeAccount(database: Database, tenantId: Uuid, accountId: Uuid): Promise<Account> {
  return transact(database, async (transaction) => {
    // Locked, so that it is not closed meanwhile.
    const account = await transaction.find(accounts, { id: accountId, tenantId }, { forUpdate: true });
    if (account === undefined || account.type === 'system') throw notFound();
    if (account.status === 'closed') throw new ApiError(ACCOUNT_CLOSED);
    await transaction.execute(updateSql(tenants, { feeAccountId: accountId }, { id: tenantId }));
    return account;
  });
}

/** Sets the one schedule of an operation and asset. The tenant needs a fee account. Throws ApiError invalid_field, not_found, invalid_state. */
export async function setFeeSchedule(database: Database, schedule: FeeScheduleRow): Promise<void> {
  assertSchedule(schedule);
  await transact(database, async (transaction) => {
    const tenant = await transaction.find(tenants, { id: schedule.tenantId }, { forUpdate: true });
    if (tenant === undefined) throw notFound();
    if (tenant.feeAccountId === null)
      throw new ApiError({
        code: 'invalid_state',
        message: 'the tenant has no fee account: set one first',
        details: { current: 'no_fee_account', allowed: ['fee_account'] },
      });
    await transaction.execute(upsertSql(feeSchedules, [schedule], ['flatRaw', 'basisPoints', 'floorRaw', 'capRaw']));
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

/** False when there was none. */
export async function removeFeeSchedule(
  database: Database,
  tenantId: Uuid,
  operation: FeeOperation,
  asset: Asset,
): Promise<boolean> {
  const removed = await transact(database, (transaction) =>
    transaction.execute(
      `DELETE FROM fee_schedules WHERE tenant_id=${literal(feeSchedules, 'tenantId', tenantId)}
       AND operation=${literal(feeSchedules, 'operation', operation)} AND asset=${literal(feeSchedules, 'asset', asset)}`,
    ),
  );
  return removed > 0;
}

export function listFeeSchedules(reader: Reader, tenantId: Uuid): Promise<FeeScheduleRow[]> {
  return reader.select(feeSchedules, { tenantId }, { orderBy: ['operation', 'asset'] });
}
