import type { components } from './generated/schema.js';

/** What the client throws: one closed union, told apart by `code`. */

type Asset = components['schemas']['Asset'];
/** Every code that the API answers. */
export type ErrorCode = components['schemas']['Error']['error']['code'];

export interface FieldProblem {
  readonly code: 'missing_field' | 'invalid_field';
  /** Dotted: `amount.raw`; empty for the body as a whole. */
  readonly field: string;
  /** A stable word, such as `not_a_uuid`. */
  readonly reason: string;
}

/** What `details` holds by code; codes that are not here have none. Amounts are in the smallest unit. */
export interface DetailsByCode {
  missing_field: { readonly field: string; readonly errors: readonly FieldProblem[] };
  invalid_field: { readonly field: string; readonly reason: string; readonly errors: readonly FieldProblem[] };
  invalid_state: { readonly current: string; readonly allowed: readonly string[] };
  capability_cannot_send: { readonly reason: string };
  below_minimum: { readonly minimum: bigint; readonly requested: bigint; readonly asset: Asset };
  above_per_operation_limit: { readonly maximum: bigint; readonly requested: bigint; readonly asset: Asset };
  monthly_limit_exceeded: { readonly used: bigint; readonly limit: bigint; readonly resets_at: string };
  insufficient_funds: { readonly available: bigint; readonly requested: bigint };
  quota_exceeded: { readonly quota: string; readonly used: bigint; readonly limit: bigint };
}

export type DetailsOf<Code extends ErrorCode> = Code extends keyof DetailsByCode ? DetailsByCode[Code] : undefined;

/** The API has refused: `code` says why, and nothing happened. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: Code,
    message: string,
    readonly details: DetailsOf<Code>,
    /** Of the HTTP answer. */
    readonly status: number,
    /** The page about the code. */
    readonly docUrl: string,
    /** Name it when you ask for help. */
    readonly requestId: string | null,
  ) {
    super(message);
  }
}

/**
 * Nobody knows whether the operation happened: no attempt got an answer that tells. With a key, make the same call again with
 * `{ idempotencyKey: error.idempotencyKey }`, now or tomorrow: it acts at most once. Without one (`null`: the operation takes none),
 * read the resource to see.
 */
export class UnknownResultError extends Error {
  override readonly name = 'UnknownResultError';
  readonly code = 'result_unknown';

  constructor(
    readonly operation: string,
    readonly idempotencyKey: string | null,
    /** The last failure. */
    cause: unknown,
  ) {
    const goOn =
      idempotencyKey === null
        ? 'read the resource to find out'
        : `make the same call again with the idempotency key ${idempotencyKey}`;
    super(`the result of ${operation} is UNKNOWN: it may have happened; ${goOn}`, { cause });
  }
}

/** The service could not be reached, or did not answer in time. Nothing has happened, or was only to be read. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'no_answer';

  constructor(operation: string, cause: unknown) {
    super(`${operation} got no answer, and nothing happened`, { cause });
  }
}

/** What answered is not this API, or one that this client does not know: look at the address, or for a newer client. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError';
  readonly code = 'unexpected_answer';

  constructor(
    operation: string,
    readonly status: number,
    /** Its beginning. */
    readonly body: string,
  ) {
    super(`${operation} was answered ${status} with something that this client cannot read`);
  }
}

/** An ApiError of any code: a test of its `code` tells what `details` holds. */
export type AnyApiError = { [Code in ErrorCode]: ApiError<Code> }[ErrorCode];
/** Whatever a call can throw, beside what your own AbortSignal gives as its reason. */
export type MoneyError = AnyApiError | UnknownResultError | ConnectionError | UnexpectedAnswerError;

export function isApiError(error: unknown): error is AnyApiError {
  return error instanceof ApiError;
}

export function isMoneyError(error: unknown): error is MoneyError {
  return (
    isApiError(error) ||
    error instanceof UnknownResultError ||
    error instanceof ConnectionError ||
    error instanceof UnexpectedAnswerError
  );
}
