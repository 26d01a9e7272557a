import { AMOUNT_QUERY, CREATED_AT_QUERY, PAGE_QUERY, uuidField } from './schemas.js';
import type { z } from './zod.js';

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

type OperationQuery = Partial<z.output<z.ZodObject<typeof OPERATION_QUERY>>>;

export function operationFilter(query: OperationQuery) {
  return {
    sourceAccountId: query.source_account,
    from: query['created_at[gte]'],
    to: query['created_at[lte]'],
    idempotencyKey: query.idempotency_key,
    requestId: query.request_id,
    asset: query.asset,
    least: query['amount[gte]'],
    most: query['amount[lte]'],
  };
}
