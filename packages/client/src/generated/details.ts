// Generated from the OpenAPI document by `npm run docs:client`. Do not edit.

import type { components } from './schema.js';

export interface FieldProblem {
  readonly code: 'missing_field' | 'invalid_field';
  /** Dotted: `amount.raw`; empty for the body as a whole. */
  readonly field: string;
  /** A stable word, such as `not_a_uuid`. */
  readonly reason: string;
}

/**
 * The content of `details` by code; codes that are not listed have none. Amounts are in the
 * smallest unit.
 */
export interface DetailsByCode {
  missing_field: { readonly field: string; readonly errors: readonly FieldProblem[] };
  invalid_field: {
    readonly field: string;
    readonly reason: string;
    readonly errors: readonly FieldProblem[];
  };
  authority_insufficient: { readonly reason: string };
  not_found: { readonly field: string };
  invalid_state: { readonly current: string; readonly allowed: readonly string[] };
  capability_cannot_send: { readonly reason: string };
  below_minimum: {
    readonly minimum: bigint;
    readonly requested: bigint;
    readonly asset: components['schemas']['Asset'];
  };
  above_per_operation_limit: {
    readonly maximum: bigint;
    readonly requested: bigint;
    readonly asset: components['schemas']['Asset'];
  };
  monthly_limit_exceeded: {
    readonly used: bigint;
    readonly limit: bigint;
    readonly resets_at: string;
  };
  insufficient_funds: { readonly available: bigint; readonly requested: bigint };
  capture_exceeds_amount: {
    readonly capturable: { readonly raw: bigint; readonly asset: components['schemas']['Asset'] };
  };
  refund_exceeds_amount: {
    readonly refundable: { readonly raw: bigint; readonly asset: components['schemas']['Asset'] };
  };
  last_owner: { readonly account_id: string };
  quota_exceeded: { readonly quota: string; readonly used: bigint; readonly limit: bigint };
}
