// Generated from the OpenAPI document by `npm run docs:client`. Do not edit.

/** Every error code of the API. */
export const ERROR_CODES = [
  'missing_field',
  'invalid_field',
  'missing_query',
  'missing_idempotency_key',
  'unauthorized',
  'insufficient_scope',
  'authority_insufficient',
  'not_found',
  'method_not_allowed',
  'idempotency_key_reused',
  'invalid_state',
  'phone_taken',
  'body_too_large',
  'unsupported_media_type',
  'capability_cannot_send',
  'below_minimum',
  'above_per_operation_limit',
  'monthly_limit_exceeded',
  'insufficient_funds',
  'capture_exceeds_amount',
  'not_refundable',
  'refund_exceeds_amount',
  'alias_taken',
  'alias_reserved',
  'alias_in_quarantine',
  'last_owner',
  'too_many_endpoints',
  'quota_exceeded',
  'rate_limited',
  'internal_error',
  'ledger_unavailable',
  'rail_unavailable',
] as const;

/** The codes of refusals that are the final result of their idempotency key. */
export const KEY_SETTLING_CODES = [
  'idempotency_key_reused',
  'capability_cannot_send',
  'below_minimum',
  'above_per_operation_limit',
  'monthly_limit_exceeded',
  'insufficient_funds',
  'capture_exceeds_amount',
  'not_refundable',
  'refund_exceeds_amount',
  'alias_taken',
  'alias_reserved',
  'alias_in_quarantine',
  'last_owner',
  'too_many_endpoints',
] as const;

/** The fields that hold amounts of money, wherever they occur. */
export const AMOUNT_FIELDS = [
  'available',
  'held',
  'limit',
  'maximum',
  'minimum',
  'raw',
  'requested',
  'shortfall',
  'threshold',
  'total',
  'used',
] as const;

/** Every event type, and those that a webhook endpoint can subscribe to. */
export const EVENT_TYPES = [
  'transfer.completed',
  'transfer.rejected',
  'transfer.expired',
  'payout.approved',
  'payout.completed',
  'payout.rejected',
  'payout.failed',
  'payout.returned',
  'payout.canceled',
  'bonus_batch.ready',
  'bonus_batch.rejected',
  'bonus_batch.completed',
  'bonus_batch.partially_failed',
  'account.verified',
] as const;
export const SUBSCRIBABLE_EVENTS = [
  'transfer.completed',
  'payout.completed',
  'payout.failed',
  'payout.returned',
  'bonus_batch.ready',
  'bonus_batch.completed',
  'account.verified',
] as const;
