import { STATUS_CODES } from 'node:http';
import { ApiError, ERRORS, LEDGER_UNAVAILABLE, type Refusal } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import { UnknownEnumValue } from '../db/columns.js';
import { isUnavailable } from '../db/failures.js';

/** Where the service shows its error codes, under the docs' own address. (docs/contract.md, Error object) */
export const ERRORS_PAGE = '/conceptos/errores';

const INTERNAL_ERROR: Refusal = {
  code: 'internal_error',
  message: 'something failed on our side; tell us the Svc-Request-Id if it stays',
};

/** What the client is told about anything that was thrown, and whether it was a fault of ours. */
export interface ToldError {
  readonly refusal: Refusal;
  readonly headers: Readonly<Record<string, string>>;
  readonly isFault: boolean;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * The one place that turns errors into answers. What the database could not answer is `ledger_unavailable` on every
 * endpoint, and so is what was made under a key that this process lacks, or
 * that only a newer process can read; a fault of ours says nothing of its inside, and where money may have moved it is answered as unknown.
 */
export function toldError(thrown: unknown, movesMoney: boolean): ToldError {
  if (thrown instanceof ApiError) return { refusal: thrown.refusal, headers: thrown.headers, isFault: false };
  // Another process can answer, and so can this one as soon as it has the key, or is replaced.
  if (isUnavailable(thrown) || thrown instanceof UnknownKey || thrown instanceof UnknownEnumValue)
    return { refusal: LEDGER_UNAVAILABLE, headers: NO_HEADERS, isFault: false };
  return { refusal: movesMoney ? LEDGER_UNAVAILABLE : INTERNAL_ERROR, headers: NO_HEADERS, isFault: true };
}

/** `allow` lists the methods that the path has. */
export function methodNotAllowed(allow: string): ApiError {
  return new ApiError({ code: 'method_not_allowed', message: `this path takes ${allow}` }, { Allow: allow });
}

/** Writes refusals as the Error object. */
export class ErrorWriter {
  private readonly page: string;

  constructor(docsUrl: string) {
    this.page = `${docsUrl.replace(/\/+$/, '')}${ERRORS_PAGE}`;
  }

  text({ code, message, details }: Refusal): string {
    const error = { code, message, doc_url: `${this.page}#${code}` };
    return JSON.stringify({ error: details === undefined ? error : { ...error, details } });
  }

  /** A whole response, for where Node has none to offer (what could not be parsed). The connection ends with it. */
  raw(refusal: Refusal, requestId: string): string {
    const { status } = ERRORS[refusal.code];
    const text = this.text(refusal);
    return [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      `Svc-Request-Id: ${requestId}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Cache-Control: no-store',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      text,
    ].join('\r\n');
  }
}
