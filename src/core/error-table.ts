import { EXAMPLE_ASSET } from './amount.js';
import { FIELD_REASONS, SENDING_REASONS } from './field-reasons.js';

/** Every error code of the API. (docs/contract.md, Errors) */

export interface ErrorEntry {
  readonly status: number;
  readonly meaning: string;
  readonly remedy: string;
  /**
   * Every error with this code has the same keys in its details. The client's types are generated
   * from them: text of digits is an amount in the smallest unit.
   */
  readonly example: { readonly message: string; readonly details?: ErrorDetails };
  /** Whether it is the final result of its idempotency key. By default, as its status is 422. */
  readonly settlesKey?: boolean;
  /** The values of `error.details.reason`, if the list is closed. */
  readonly reasons?: Readonly<Record<string, string>>;
}

/** Values of `details.reason` of `authority_insufficient`. */
export const AUTHORITY_REASONS = {
  role: "The member's role in the account does not allow it, or the member has none.",
  role_of_member: 'The member in question has a role in some account that the caller lacks.',
  scope: 'The new token would have a scope that the token of the request lacks.',
  creator: 'Its creator cannot approve or reject it.',
  uploader: 'A member other than its uploader must execute the batch.',
  above_approval_threshold:
    'From this amount on the account requires an approval, for which a bonus cannot wait.',
} as const;

export const ERRORS = {
  missing_field: {
    status: 400,
    meaning: 'A required field of the body is absent or null.',
    remedy:
      'Add the field named by `details.field`; `details.errors` lists all problems of the request, up to 50.',
    example: {
      message: 'amount is required',
      details: {
        field: 'amount',
        errors: [{ code: 'missing_field', field: 'amount', reason: 'required' }],
      },
    },
  },
  invalid_field: {
    status: 400,
    meaning: 'A field, parameter or header is malformed, unknown or out of range.',
    remedy:
      'Correct the field named by `details.field`, for the reason in `details.reason`; `details.errors` lists all problems, up to 50. The field is "" for the body as a whole, such as one that is `unexpected`.',
    reasons: FIELD_REASONS,
    example: {
      message:
        'amount.raw is not valid: it is not text of digits only, such as "150000". A JSON number, a sign, a decimal point and leading zeros are refused',
      details: {
        field: 'amount.raw',
        reason: 'not_an_integer_string',
        errors: [{ code: 'invalid_field', field: 'amount.raw', reason: 'not_an_integer_string' }],
      },
    },
  },
  missing_query: {
    status: 400,
    meaning: 'A lookup needs exactly one of alias and phone.',
    remedy: 'Send exactly one of the two.',
    example: { message: 'exactly one of alias or phone is needed' },
  },
  missing_idempotency_key: {
    status: 400,
    meaning: 'An operation that needs an Idempotency-Key was sent without it.',
    remedy: 'Send a new UUID for a new operation, and the same UUID when you repeat it.',
    example: {
      message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
    },
  },
  unauthorized: {
    status: 401,
    meaning: 'The token is absent, invalid, expired, revoked or not allowed from this address.',
    remedy: 'Send Authorization: Bearer with a live token of your tenant.',
    example: { message: 'the token is not valid' },
  },
  insufficient_scope: {
    status: 401,
    meaning: 'The token is valid but lacks the scope of this operation.',
    remedy: 'Use a token with one of the scopes that the operation requires.',
    example: { message: 'the token does not have the scope transfers' },
  },
  authority_insufficient: {
    status: 403,
    meaning: 'This member may not perform this operation in the account.',
    remedy:
      'Use the token of another member: `details.reason` says what this one lacks. From an approval threshold on, send a transfer or a batch.',
    reasons: AUTHORITY_REASONS,
    example: {
      message: "the member's role in this account does not allow the operation",
      details: { reason: 'role' },
    },
  },
  not_found: {
    status: 404,
    meaning: 'The resource does not exist, or belongs to another tenant; the answer is the same.',
    remedy:
      'Check what `details.field` names: the `path`, or a field of the body or query, such as `source_account` or `recipient`.',
    example: { message: 'the resource does not exist', details: { field: 'path' } },
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the Allow header.',
    example: { message: 'this path does not take this method' },
  },
  idempotency_key_reused: {
    status: 409,
    settlesKey: true,
    meaning: 'The Idempotency-Key was already used for another request.',
    remedy:
      'Use a new key for a new operation; repeat the original request unchanged to see its result.',
    example: { message: 'this Idempotency-Key was used for another request' },
  },
  invalid_state: {
    status: 409,
    meaning: 'The operation is not possible in the current state of the resource.',
    remedy:
      '`details.current` is the current state; `details.allowed` lists the states in which the operation is possible.',
    example: {
      message: 'not possible in the state completed',
      details: { current: 'completed', allowed: ['pending_approval'] },
    },
  },
  phone_taken: {
    status: 409,
    meaning: 'Another account of the tenant has this phone.',
    remedy: 'Open the account without a phone, or use the account that has it.',
    example: { message: 'another account of the tenant has this phone' },
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is larger than this operation accepts.',
    remedy: 'Send less: at most 64 KiB of JSON, or a file of at most 10 MiB.',
    example: { message: 'the body is larger than 65536 bytes' },
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'This operation does not read this Content-Type.',
    remedy:
      'Send application/json in UTF-8, with the body `{}` if you send no field, or multipart/form-data if the request includes a file.',
    example: { message: 'the Content-Type must be application/json' },
  },
  capability_cannot_send: {
    status: 422,
    meaning:
      'The account may receive but not send: it has no declared verification, or it is frozen or closed.',
    remedy: 'Declare its verification, or ask the operator why it is frozen.',
    reasons: SENDING_REASONS,
    example: {
      message: 'the account has no declared verification',
      details: { reason: 'not_verified' },
    },
  },
  below_minimum: {
    status: 422,
    meaning: 'The amount is below the minimum for a single operation.',
    remedy: 'Send at least `details.minimum`.',
    example: {
      message: 'the amount is under the minimum',
      details: { minimum: '100000', requested: '50000', asset: EXAMPLE_ASSET },
    },
  },
  above_per_operation_limit: {
    status: 422,
    meaning: 'The amount is above the maximum for a single operation.',
    remedy: 'Send at most `details.maximum`, or ask the operator for a higher limit.',
    example: {
      message: 'the amount is over the maximum of one operation',
      details: { maximum: '1200000000', requested: '1500000000', asset: EXAMPLE_ASSET },
    },
  },
  monthly_limit_exceeded: {
    status: 422,
    meaning: "The account's allowance for the month does not cover the amount.",
    remedy: 'Wait until `details.resets_at`, send less, or ask the operator for a higher limit.',
    example: {
      message: "the month's allowance does not cover the amount",
      details: { used: '4900000000', limit: '5000000000', resets_at: '2026-12-01T05:00:00.000Z' },
    },
  },
  insufficient_funds: {
    status: 422,
    meaning:
      'The available balance does not cover amount and fee, in the asset of the request. Held funds cannot be spent.',
    remedy: 'Fund the account in the asset of the request, then send it again with a new key.',
    example: {
      message: 'the available balance does not cover the amount and its fee',
      details: { available: '100000', requested: '150150' },
    },
  },
  capture_exceeds_amount: {
    status: 422,
    meaning: 'The amount to capture is more than the transfer holds.',
    remedy: 'Capture at most `details.capturable`.',
    example: {
      message: 'the amount is more than the transfer holds',
      details: { capturable: { raw: '150000', asset: EXAMPLE_ASSET } },
    },
  },
  not_refundable: {
    status: 422,
    meaning: 'The transfer is itself a refund.',
    remedy: 'Send a new transfer instead.',
    example: { message: 'it is a refund, which cannot be refunded itself' },
  },
  refund_exceeds_amount: {
    status: 422,
    meaning:
      'The amount is more than can still be refunded: what the account received, without completed and waiting refunds.',
    remedy: 'Refund at most `details.refundable`, or wait until a waiting refund has ended.',
    example: {
      message: `1,000.00 ${EXAMPLE_ASSET} were requested, 500.00 ${EXAMPLE_ASSET} can still be refunded`,
      details: { refundable: { raw: '50000', asset: EXAMPLE_ASSET } },
    },
  },
  alias_taken: {
    status: 422,
    meaning: 'Another account of the tenant has this alias.',
    remedy: 'Choose another alias.',
    example: { message: 'another account has this alias' },
  },
  alias_reserved: {
    status: 422,
    meaning: "The alias is on the platform's reserved list.",
    remedy: 'Choose another alias.',
    example: { message: 'the alias is reserved' },
  },
  alias_in_quarantine: {
    status: 422,
    meaning: 'The alias was released less than 90 days ago.',
    remedy: 'Choose another alias, or wait until the 90 days are over.',
    example: { message: 'the alias was released less than 90 days ago' },
  },
  last_owner: {
    status: 422,
    meaning: 'An account would be left without an owner.',
    remedy: 'Make another member the owner of the account in `details.account_id` first.',
    example: {
      message: 'the member is the only owner of an account: make another member its owner first',
      details: { account_id: '0198f2a0-1c5e-7b02-9f3d-5a1be7c04d11' },
    },
  },
  too_many_endpoints: {
    status: 422,
    meaning: 'The tenant already has the maximum number of webhook endpoints.',
    remedy: 'Delete an endpoint that you no longer use.',
    example: { message: 'the tenant has 16 webhook endpoints' },
  },
  quota_exceeded: {
    status: 422,
    settlesKey: false,
    meaning:
      'The tenant has as many schedules, batches, rows, files, statements, accounts, members or tokens as it may have, or a statement would have too many movements.',
    remedy:
      'Make room in the quota that `details.quota` names, choose a shorter period, or ask the operator for more. This error does not bind the idempotency key: repeat the request with the same key.',
    example: {
      message: 'the tenant has as many open batches as it may have',
      details: { quota: 'open_batches', used: '100', limit: '100' },
    },
  },
  rate_limited: {
    status: 429,
    meaning:
      'Too many requests with this token, or too many recipients named by alias or phone that the tenant has never named before.',
    remedy: 'Wait for the number of seconds in Retry-After, then retry with backoff and jitter.',
    example: { message: 'too many requests with this token: retry in 2 s' },
  },
  internal_error: {
    status: 500,
    meaning:
      'A fault of the service, in a request that takes no Idempotency-Key. No money was moved.',
    remedy: 'Retry later; if it persists, report the Svc-Request-Id. With a key, it is a 503.',
    example: { message: 'a fault of ours' },
  },
  ledger_unavailable: {
    status: 503,
    meaning: 'The ledger did not answer. Whether the operation happened is not known.',
    remedy:
      'Repeat the same request with the same Idempotency-Key: only that returns the outcome. A request that takes no key is repeated as it is.',
    example: {
      message:
        'the ledger did not answer, so the result is unknown; only repeating the same request with the same Idempotency-Key tells what happened',
    },
  },
  rail_unavailable: {
    status: 503,
    meaning:
      'The rail did not answer, or not understandably. Nothing is known about the Bre-B key.',
    remedy: 'Repeat the request later. It costs nothing from the budget of new recipients.',
    example: { message: 'the rail did not say who holds the key: nothing is known about it' },
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as readonly ErrorCode[];

/** (docs/contract.md, Idempotency) */
export function settlesKey(code: ErrorCode): boolean {
  const { status, settlesKey: isSettled = status === 422 }: ErrorEntry = ERRORS[code];
  return isSettled;
}

export type ErrorDetails = Readonly<Record<string, unknown>>;

/** In the order of the rules. (docs/contract.md, Limits and fees) */
export const SPENDING_CODES = [
  'capability_cannot_send',
  'below_minimum',
  'above_per_operation_limit',
  'monthly_limit_exceeded',
  'insufficient_funds',
] as const satisfies readonly ErrorCode[];
