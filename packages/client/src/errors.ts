import type { components } from './generated/schema.js';

type Asset = components['schemas']['Asset'];
/** Every error code of the API. */
export type ErrorCode = components['schemas']['Error']['error']['code'];

export interface FieldProblem {
  readonly code: 'missing_field' | 'invalid_field';
  /** Dotted: `amount.raw`; empty for the body as a whole. */
  readonly field: string;
  /** A stable word, such as `not_a_uuid`. */
  readonly reason: string;
}

interface Capturable {
  readonly raw: bigint;
  readonly asset: Asset;
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
  invalid_state: { readonly current: string; readonly allowed: readonly string[] };
  capability_cannot_send: { readonly reason: string };
  below_minimum: { readonly minimum: bigint; readonly requested: bigint; readonly asset: Asset };
  above_per_operation_limit: {
    readonly maximum: bigint;
    readonly requested: bigint;
    readonly asset: Asset;
  };
  monthly_limit_exceeded: {
    readonly used: bigint;
    readonly limit: bigint;
    readonly resets_at: string;
  };
  insufficient_funds: { readonly available: bigint; readonly requested: bigint };
  capture_exceeds_amount: { readonly capturable: Capturable };
  quota_exceeded: { readonly quota: string; readonly used: bigint; readonly limit: bigint };
}

export type DetailsOf<Code extends ErrorCode> = Code extends keyof DetailsByCode
  ? DetailsByCode[Code]
  : undefined;

/** The API refused: `code` says why, and nothing happened. */
export class ApiError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: Code,
    message: string,
    readonly details: DetailsOf<Code>,
    /** The HTTP status. */
    readonly status: number,
    /** The page about the code. */
    readonly docUrl: string,
    /** Quote it when you ask for help. */
    readonly requestId: string | null,
  ) {
    super(message);
  }
}

/**
 * Thrown if it is unknown whether the operation happened: no attempt got a conclusive answer. With
 * a key, make the same call again with `{ idempotencyKey: error.idempotencyKey }`, now or tomorrow:
 * it acts at most once. Without one (`null`: the operation takes none), read the resource to find
 * out.
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
    const advice =
      idempotencyKey === null
        ? 'read the resource to find out'
        : `make the same call again with the idempotency key ${idempotencyKey}`;
    super(`the result of ${operation} is UNKNOWN: it may have happened; ${advice}`, { cause });
  }
}

/**
 * The service could not be reached, or did not respond in time. The request changed nothing, or was
 * only a read.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code = 'no_answer';

  constructor(operation: string, cause: unknown) {
    super(`${operation} got no answer, and nothing happened`, { cause });
  }
}

/**
 * The response is not from this API, or from a version that this client cannot read. Check the
 * address, or update the client.
 */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError';
  readonly code = 'unexpected_answer';

  constructor(
    operation: string,
    readonly status: number,
    /** The beginning of the body. */
    readonly body: string,
  ) {
    super(`${operation} was answered ${status} with something that this client cannot read`);
  }
}

/** An ApiError of any code: testing `code` determines the type of `details`. */
export type AnyApiError = { [Code in ErrorCode]: ApiError<Code> }[ErrorCode];
/** Everything that a call can throw, besides the reason of your own AbortSignal. */
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
