import { STATUS_CODES } from 'node:http';
import { ERRORS } from '../core/error-table.js';
import { ApiError, LEDGER_UNAVAILABLE, type Refusal } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import { isUnavailable } from '../db/failures.js';

const ERRORS_PAGE = '/conceptos/errores';

const INTERNAL_ERROR: Refusal = {
  code: 'internal_error',
  message: 'an internal error; if it persists, report it with its Svc-Request-Id',
};

/** The advice for a request that takes no key. */
const UNAVAILABLE: Refusal = {
  code: LEDGER_UNAVAILABLE.code,
  message: 'the ledger did not answer; repeat the request',
};

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Reveals nothing of a fault. If a request with a key may have moved money, the response is "unknown". */
export function errorResponse(thrown: unknown, isKeyed: boolean) {
  if (thrown instanceof ApiError && thrown.refusal !== LEDGER_UNAVAILABLE)
    return { refusal: thrown.refusal, headers: thrown.headers, isFault: false };
  const isFault =
    !(thrown instanceof ApiError) && !isUnavailable(thrown) && !(thrown instanceof UnknownKey);
  const unkeyed = isFault ? INTERNAL_ERROR : UNAVAILABLE;
  return { refusal: isKeyed ? LEDGER_UNAVAILABLE : unkeyed, headers: NO_HEADERS, isFault };
}

export function methodNotAllowed(allow: string): ApiError {
  return new ApiError(
    { code: 'method_not_allowed', message: `this path takes ${allow}` },
    { Allow: allow },
  );
}

export class ErrorWriter {
  private readonly page: string;

  constructor(docsUrl: string) {
    this.page = `${docsUrl.replace(/\/+$/, '')}${ERRORS_PAGE}`;
  }

  text({ code, message, details }: Refusal): string {
    const error = { code, message, doc_url: `${this.page}#${code}` };
    return JSON.stringify({ error: details === undefined ? error : { ...error, details } });
  }

  /** Returns a whole response for a request that Node could not parse, the connection's last. */
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
