import { reasonInWords } from './field-reasons.js';
import { type ErrorCode, type ErrorDetails, ERRORS, type SPENDING_CODES } from './error-table.js';

/** Returned by pure rules and stored under an idempotency key. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
}

export type Outcome<Resource> =
  | { readonly done: true; readonly resource: Resource }
  | { readonly done: false; readonly refusal: Refusal };

/** Result of a command of the ledger, or of another request with an idempotency key. */
export interface CommandResult<Resource> {
  readonly outcome: Outcome<Resource>;
  /** True if the key had been used before, so that this request changed nothing. */
  readonly replayed: boolean;
}

export interface SpendingRefusal extends Refusal {
  readonly code: (typeof SPENDING_CODES)[number];
}

export class ApiError extends Error {
  constructor(
    readonly refusal: Refusal,
    /** Headers of the response, for example Retry-After. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(refusal.message);
    this.name = 'ApiError';
  }

  get status(): number {
    return ERRORS[this.refusal.code].status;
  }
}

/** `field` is dotted (`amount.raw`), and empty for the body as a whole. */
export interface FieldProblem {
  readonly code: 'missing_field' | 'invalid_field';
  readonly field: string;
  readonly reason: string;
}

const MAX_PROBLEMS = 50;

/** Returns a refusal whose message states the first problem and whose details list the first 50. */
export function fieldRefusal(problems: readonly [FieldProblem, ...FieldProblem[]]): Refusal {
  const [first] = problems;
  const what = first.field === '' ? 'the body' : first.field;
  const isMissing = first.code === 'missing_field';
  const fault = isMissing ? 'is required' : `is not valid: ${reasonInWords(first.reason)}`;
  return {
    code: first.code,
    message: `${what} ${fault}`,
    details: {
      field: first.field,
      ...(isMissing ? {} : { reason: first.reason }),
      errors: problems.slice(0, MAX_PROBLEMS),
    },
  };
}

export function invalidField(field: string, reason: string): Refusal {
  return fieldRefusal([{ code: 'invalid_field', field, reason }]);
}

/** `allowed` lists the states that permit the action. (docs/contract.md, Invalid state) */
export function invalidState(
  message: string,
  current?: string,
  allowed: readonly string[] = [],
): Refusal {
  return {
    code: 'invalid_state',
    message,
    ...(current === undefined ? {} : { details: { current, allowed } }),
  };
}

/**
 * Returns the same refusal for missing and foreign resources. `field` named the resource in the
 * request: `path`, or a field of the body or query.
 */
export function missing(field: string): Refusal {
  return { code: 'not_found', message: 'the resource does not exist', details: { field } };
}

export const NOT_FOUND = missing('path');

export const LEDGER_UNAVAILABLE: Refusal = {
  code: 'ledger_unavailable',
  message:
    'the ledger did not answer, so the result is unknown; only repeating the same request with the same Idempotency-Key tells what happened',
};

export function notFound(field = 'path'): ApiError {
  return new ApiError(missing(field));
}

export function assertFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound();
  return found;
}

export function ledgerUnavailable(): ApiError {
  return new ApiError(LEDGER_UNAVAILABLE);
}
