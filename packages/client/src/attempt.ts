import { type AnyApiError, ApiError, type ErrorCode, UnexpectedAnswerError } from './errors.js';
import { ERROR_CODES } from './generated/constants.js';
import { readJson, writeJson } from './json.js';

export interface Endpoint {
  readonly baseUrl: string;
  readonly token: string;
  readonly version: string | undefined;
  readonly attemptTimeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
}

export interface Call {
  /** For example `createTransfer`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with its parameters filled in. */
  readonly path: string;
  /**
   * Effect of repeating the request. `freely`: it changes nothing. `by_key`: the Idempotency-Key
   * makes it act once. `by_itself`: it has the same effect as the first. `never`: it would act
   * again.
   */
  readonly repeats: 'freely' | 'by_key' | 'by_itself' | 'never';
  readonly query?: object | undefined;
  readonly body?: object;
  readonly form?: object;
  readonly returnsFile?: boolean;
}

export interface Answer {
  readonly json: unknown;
  readonly file: Blob | null;
}

export type Outcome =
  | { readonly is: 'answered'; readonly answer: Answer }
  | { readonly is: 'refused'; readonly error: AnyApiError }
  /** The response is not from this API, or from a newer version. */
  | { readonly is: 'unexpected'; readonly error: UnexpectedAnswerError }
  /** Another attempt may succeed. `mayHaveActed`: this attempt may have taken effect. */
  | {
      readonly is: 'unavailable';
      readonly mayHaveActed: boolean;
      readonly retryAfterMs: number;
      /** An ApiError if there was an answer. */
      readonly cause: unknown;
    };

const NO_CONTENT = 204;
/** Failures to connect, before which the request was never sent. */
const UNSENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
const FILES_TAKE_LONGER = 10;
const SHOWN_CHARACTERS = 500;

export async function attempt(
  endpoint: Endpoint,
  call: Call,
  key: string | null,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const isFile = call.form !== undefined || call.returnsFile === true;
  const timeout = AbortSignal.timeout(endpoint.attemptTimeoutMs * (isFile ? FILES_TAKE_LONGER : 1));
  const ended = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  try {
    const response = await endpoint.fetch(addressOf(endpoint, call), {
      method: call.method,
      headers: headersOf(endpoint, call, key),
      ...bodyOf(call),
      // `fetch` would follow a redirect with another method, or without the token.
      redirect: 'manual',
      signal: ended,
    });
    if (response.ok && call.returnsFile === true)
      return { is: 'answered', answer: { json: undefined, file: await response.blob() } };
    return outcomeOf(call, response, await response.text());
  } catch (cause) {
    return { is: 'unavailable', mayHaveActed: !UNSENT.has(codeOf(cause)), retryAfterMs: 0, cause };
  }
}

function outcomeOf(call: Call, response: Response, text: string): Outcome {
  const { status } = response;
  const json = jsonOrNull(text);
  if (response.ok) {
    // The service sends no other empty responses, so a proxy has responded instead.
    if (text === '' && status === NO_CONTENT)
      return { is: 'answered', answer: { json: undefined, file: null } };
    if (json !== null) return { is: 'answered', answer: { json, file: null } };
  }
  const unexpected = new UnexpectedAnswerError(
    call.operation,
    status,
    text.slice(0, SHOWN_CHARACTERS),
  );
  const error = errorOf(json, response);
  const retryAfterMs = retryAfterOf(response);
  // A proxy may respond like this too, after the service has acted.
  if (status >= 500 || response.ok)
    return { is: 'unavailable', mayHaveActed: true, retryAfterMs, cause: error ?? unexpected };
  if (status === 429)
    return { is: 'unavailable', mayHaveActed: false, retryAfterMs, cause: error ?? unexpected };
  return error === null ? { is: 'unexpected', error: unexpected } : { is: 'refused', error };
}

type Value = string | number | boolean | null | undefined;
type Query = Readonly<Record<string, Value | Readonly<Record<string, string>>>>;

function addressOf({ baseUrl }: Endpoint, { path, query = {} }: Call): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Query))
    if (typeof value === 'object' && value !== null)
      for (const [key, text] of Object.entries(value)) search.append(`${name}[${key}]`, text);
    else if (value !== undefined && value !== null) search.append(name, String(value));
  return baseUrl + path + (search.size === 0 ? '' : `?${search.toString()}`);
}

function headersOf(
  { token, version }: Endpoint,
  { body }: Call,
  key: string | null,
): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    ...(version === undefined ? {} : { 'svc-version': version }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === null ? {} : { 'idempotency-key': key }),
  };
}

/** Returns a new body for each attempt, with the same content. */
function bodyOf({ body, form }: Call): { body?: string | FormData } {
  if (body !== undefined) return { body: writeJson(body) };
  if (form === undefined) return {};
  const parts = new FormData();
  for (const [name, value] of Object.entries(
    form as Readonly<Record<string, Blob | string | null | undefined>>,
  )) {
    if (value instanceof Blob) parts.append(name, value, value instanceof File ? value.name : name);
    else if (value !== undefined && value !== null) parts.append(name, value);
  }
  return { body: parts };
}

function jsonOrNull(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

/** Returns null if it is not an error of this API, or its code is not known to this client. */
function errorOf(json: unknown, { status, headers }: Response): AnyApiError | null {
  const { code, message, doc_url: docUrl, details } = recordOf(recordOf(json).error);
  if (typeof code !== 'string' || !isErrorCode(code)) return null;
  const [text, page] = [String(message), String(docUrl)];
  // A test compares the types of details with the OpenAPI document.
  return new ApiError(
    code,
    text,
    details as never,
    status,
    page,
    headers.get('svc-request-id'),
  ) as AnyApiError;
}

function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** Returns the time in Retry-After, which is in seconds or an HTTP date. */
function retryAfterOf({ headers }: Response): number {
  const text = headers.get('retry-after');
  if (text === null) return 0;
  const ms = /^\d+$/.test(text) ? Number.parseInt(text, 10) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

/** Returns Node's code for a failed connection. Empty in browsers. */
function codeOf(failure: unknown): string {
  const { cause } = recordOf({ cause: failure instanceof Error ? failure.cause : undefined });
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
