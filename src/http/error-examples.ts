import type { ErrorCode, ErrorDetails } from '../core/errors.js';

/** An example answer for each code, for the document. The code's docs page says what it means. */
export const ERROR_EXAMPLES: Readonly<
  Record<ErrorCode, { readonly message: string; readonly details?: ErrorDetails }>
> = {
  missing_field: {
    message: 'amount is required',
    details: { field: 'amount', errors: [{ code: 'missing_field', field: 'amount', reason: 'required' }] },
  },
  invalid_field: {
    message: 'amount.raw is not valid: not_an_integer_string',
    details: {
      field: 'amount.raw',
      reason: 'not_an_integer_string',
      errors: [{ code: 'invalid_field', field: 'amount.raw', reason: 'not_an_integer_string' }],
    },
  },
  missing_query: { message: 'exactly one of alias or phone is needed' },
  missing_idempotency_key: {
    message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
  },
  unauthorized: { message: 'the token is not valid' },
  insufficient_scope: { message: 'the token does not have the scope transfers' },
  authority_insufficient: { message: 'the role of this member in the account does not allow it' },
  not_found: { message: 'the resource does not exist' },
  method_not_allowed: { message: 'this path does not take this method' },
  idempotency_key_reused: { message: 'this Idempotency-Key was used for another request' },
  invalid_state: {
    message: 'not possible in the state completed',
    details: { current: 'completed', allowed: ['pending_approval'] },
  },
  body_too_large: { message: 'the body is larger than 65536 bytes' },
  unsupported_media_type: { message: 'the Content-Type must be application/json' },
  capability_cannot_send: {
    message: 'the account has no declared verification',
    details: { reason: 'not_verified' },
  },
  below_minimum: {
    message: 'the amount is under the minimum',
    details: { minimum: '100000', requested: '50000', asset: 'COPM' },
  },
  above_per_operation_limit: {
    message: 'the amount is over the maximum of one operation',
    details: { maximum: '1200000000', requested: '1500000000', asset: 'COPM' },
  },
  monthly_limit_exceeded: {
    message: "the month's allowance does not cover the amount",
    details: { used: '4900000000', limit: '5000000000', resets_at: '2026-12-01T05:00:00.000Z' },
  },
  insufficient_funds: {
    message: 'the available balance does not cover the amount and its fee',
    details: { available: '100000', requested: '150150' },
  },
  alias_taken: { message: 'another account has this alias' },
  alias_reserved: { message: 'the alias is reserved' },
  alias_in_quarantine: { message: 'the alias was released less than 90 days ago' },
  too_many_endpoints: { message: 'the tenant has 16 webhook endpoints' },
  quota_exceeded: {
    message: 'the tenant has as many open batches as it may have',
    details: { quota: 'open_batches', used: '100', limit: '100' },
  },
  rate_limited: { message: 'too many requests with this token: retry in 2 s' },
  internal_error: { message: 'a fault of ours' },
  ledger_unavailable: {
    message:
      'the ledger did not answer, so the result is unknown; only repeating the same request with the same Idempotency-Key tells what happened',
  },
};
