import { type Asset, eachAsset } from '../../core/amount.js';
import type { FeeSchedule } from '../../core/fees.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import type { BonusBatch } from '../../db/entities/bonuses.js';
import { accountLimits } from '../../db/entities/identity.js';
import { accounts, feeSchedules, isFeeOf, tenants } from '../../db/entities/parties.js';
import { type Limits, limitsOf } from '../../accounts/limits.js';
import type { BatchTerms } from './rows.js';

export async function readTerms(
  reader: Reader,
  { tenantId, sourceAccountId }: BonusBatch,
): Promise<{ readonly terms: BatchTerms; readonly feeAccountId: Uuid | null }> {
  const [source, tenant, own, schedules] = await Promise.all([
    reader.find(accounts, { id: sourceAccountId }),
    reader.find(tenants, { id: tenantId }),
    reader.select(accountLimits, { accountId: sourceAccountId }),
    reader.select(feeSchedules, { tenantId, operation: 'bonus' }),
  ]);
  if (source === undefined || tenant === undefined) throw new Error('a batch is of no account');
  // The fee account itself pays no fee.
  const feeAccountId = tenant.feeAccountId === sourceAccountId ? null : tenant.feeAccountId;
  const limits = (asset: Asset): Limits =>
    limitsOf(
      source,
      asset,
      own.find((one) => one.asset === asset),
    );
  const fee = (asset: Asset): FeeSchedule | null =>
    feeAccountId === null
      ? null
      : (schedules.find((one) => isFeeOf(one, { tenantId, operation: 'bonus', asset })) ?? null);
  return {
    terms: { sourceAccountId, limits: eachAsset(limits), fees: eachAsset(fee) },
    feeAccountId,
  };
}
