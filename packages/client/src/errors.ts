import type { DetailsByCode } from './generated/details.js';
import type { components } from './generated/schema.js';

/** Every error code of the API. */
export type ErrorCode = components['schemas']['Error']['error']['code'];

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
