import { AMOUNT_QUERY, CREATED_AT_QUERY, PAGE_QUERY, uuidField } from './schemas.js';
import type { z } from './zod.js';

/** The filters of every list of operations, or of batches. */
export const KEYED_QUERY = {
  ...PAGE_QUERY,
  ...CREATED_AT_QUERY,
  source_account: uuidField.optional().describe('Paid from this account.'),
  idempotency_key: uuidField
    .optional()
    .describe('Created under this `Idempotency-Key`: at most one item.'),
};

export const OPERATION_QUERY = {
  ...KEYED_QUERY,
  ...AMOUNT_QUERY,
  request_id: uuidField
    .optional()
    .describe('Created by the request whose response had this `Svc-Request-Id`: at most one item.'),
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
