import type { Amount } from '../core/amount.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';

/** The period includes both moments. */
export interface StatementRequest {
  readonly accountId: Uuid;
  readonly asset: Amount['asset'];
  readonly from: Instant;
  readonly to: Instant;
}

/** In all assets: the rows that a spreadsheet program can open. */
export const MAX_MOVEMENTS = 500_000;

export function assertPeriod({ from, to }: Pick<StatementRequest, 'from' | 'to'>): void {
  if (to < from) throw new ApiError(invalidField('to', 'before_from'));
}

export function assertNotTooLong(movements: bigint): void {
  if (movements <= BigInt(MAX_MOVEMENTS)) return;
  const refusal: Refusal = {
    code: 'quota_exceeded',
    message: `the account has ${movements} movements in the period, and a statement at most ${MAX_MOVEMENTS}`,
    details: { quota: 'movements', used: movements.toString(), limit: String(MAX_MOVEMENTS) },
  };
  throw new ApiError(refusal);
}
