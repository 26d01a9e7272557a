import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { AMOUNT_QUERY, CREATED_AT_QUERY, PAGE_QUERY, uuidField } from './schemas.js';

/** The filters of every list of operations, or of batches. */
export const KEYED_QUERY = {
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  source_account: uuidField.optional(),
  idempotency_key: uuidField.optional(),
};

export const OPERATION_QUERY = {
  ...KEYED_QUERY,
  ...AMOUNT_QUERY,
  request_id: uuidField.optional(),
};

type Wanted = Readonly<{
  source_account?: Uuid | undefined;
  'created_at[gte]'?: Instant | undefined;
  'created_at[lte]'?: Instant | undefined;
  idempotency_key?: string | undefined;
  request_id?: Uuid | undefined;
  asset?: Asset | undefined;
  'amount[gte]'?: bigint | undefined;
  'amount[lte]'?: bigint | undefined;
}>;

export function operationFilter(wanted: Wanted) {
  return {
    sourceAccountId: wanted.source_account,
    from: wanted['created_at[gte]'],
    to: wanted['created_at[lte]'],
    idempotencyKey: wanted.idempotency_key,
    requestId: wanted.request_id,
    asset: wanted.asset,
    least: wanted['amount[gte]'],
    most: wanted['amount[lte]'],
  };
}
