import { ApiError, ConnectionError, UnexpectedAnswerError, UnknownResultError } from './errors.js';
import { KEY_SETTLING_CODES } from './generated/constants.js';
import { type Answer, attempt, type Call, type Endpoint, type Outcome } from './attempt.js';
import { List, type Page } from './list.js';
import { pause } from './pause.js';

export interface ClientOptions {
  /** `https://api.example.com`, with or without `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  /** Version of the API, sent as `Svc-Version`; by default the newest. */
  readonly version?: string;
  /** How long a call keeps trying to get its result, in ms; by default 60,000. */
  readonly patienceMs?: number;
  /** How long one attempt may take, in ms; by default 15,000, and ten times that for files. */
  readonly attemptTimeoutMs?: number;
  /** Replaces the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /**
   * UUID for an operation that takes an idempotency key. By default each call has a new one. Give
   * the key of an earlier call to continue that call.
   */
  readonly idempotencyKey?: string;
  /** Ends the call, which throws UnknownResultError if its result is unknown by then. */
  readonly signal?: AbortSignal;
  /** Replaces `patienceMs` of the client. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 60_000;
const ATTEMPT_TIMEOUT_MS = 15_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const SETTLING: ReadonlySet<string> = new Set(KEY_SETTLING_CODES);

/** Returns the service's address, also if `/v1` follows it. */
function serviceUrl(baseUrl: string): string {
  if (!/^https?:\/\/./.test(baseUrl))
    throw new TypeError(`baseUrl is not an address such as https://api.example.com: ${baseUrl}`);
  return baseUrl.replace(/(\/v1)?\/*$/, '');
}

/** Makes calls, and keeps trying until their results are known. */
export class Calls {
  private readonly endpoint: Endpoint;
  private readonly patienceMs: number;

  constructor(options: ClientOptions) {
    const {
      baseUrl,
      token,
      version,
      patienceMs = PATIENCE_MS,
      attemptTimeoutMs = ATTEMPT_TIMEOUT_MS,
    } = options;
    this.patienceMs = patienceMs;
    this.endpoint = {
      baseUrl: serviceUrl(baseUrl),
      token,
      version,
      attemptTimeoutMs,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    };
  }

  /** Returns the parsed JSON result. Undefined if the response has none. */
  protected async send(call: Call, options: CallOptions = {}): Promise<unknown> {
    return (await this.settle(call, options)).json;
  }

  protected async download(call: Call, options: CallOptions = {}): Promise<Blob> {
    const { file } = await this.settle({ ...call, returnsFile: true }, options);
    if (file === null) throw new TypeError(`the response to ${call.operation} has no file`);
    return file;
  }

  protected list<P extends Page>(call: Call, options: CallOptions = {}): List<P> {
    const read = async (cursor: string | undefined): Promise<P> => {
      const query = cursor === undefined ? call.query : { ...call.query, cursor };
      return (await this.send({ ...call, query }, options)) as P;
    };
    return new List(read, isEndless(call));
  }

  /**
   * Repeats the request, if that is safe, until a response gives the result. After an attempt that
   * may have taken effect, a refusal counts only if it is bound to the key. Any other refusal, for
   * example of a token revoked meanwhile, does not show what that attempt did.
   */
  private async settle(call: Call, options: CallOptions): Promise<Answer> {
    const key = call.repeats === 'by_key' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    // Not by the wall clock, which may be set during the call.
    const until = performance.now() + (options.patienceMs ?? this.patienceMs);
    // A key from the caller may have been sent before, and a refusal does not show with what result.
    let isUnknown = call.repeats === 'by_key' && options.idempotencyKey !== undefined;
    const fail = (cause: unknown): never => {
      if (isUnknown) throw new UnknownResultError(call.operation, key, cause);
      throw cause;
    };
    for (let tries = 0; ; tries += 1) {
      if (options.signal?.aborted === true) return fail(options.signal.reason);
      const outcome = await attempt(this.endpoint, call, key, options.signal);
      if (outcome.is === 'answered') return outcome.answer;
      // The key's result is then the same for every attempt.
      if (outcome.is === 'refused' && SETTLING.has(outcome.error.code)) throw outcome.error;
      if (outcome.is !== 'unavailable') return fail(outcome.error);
      isUnknown ||= outcome.mayHaveActed && call.repeats !== 'freely';
      const pauseMs = pauseOf(tries, outcome);
      if ((isUnknown && call.repeats === 'never') || performance.now() + pauseMs > until)
        return fail(failureOf(call, outcome));
      await pause(pauseMs, options.signal);
    }
  }
}

/** Returns whether the list has no last page, as the event log in ascending order. */
function isEndless({ query = {} }: Call): boolean {
  return 'order' in query && query.order === 'asc';
}

/** Returns an exponential pause with full jitter, at least `Retry-After`. */
function pauseOf(tries: number, { retryAfterMs }: Extract<Outcome, { is: 'unavailable' }>): number {
  const maxMs = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  return retryAfterMs + Math.random() * maxMs;
}

/** Returns the service's last response as an error, or ConnectionError if none arrived. */
function failureOf({ operation }: Call, { cause }: Extract<Outcome, { is: 'unavailable' }>): Error {
  const isAnswer = cause instanceof ApiError || cause instanceof UnexpectedAnswerError;
  return isAnswer ? cause : new ConnectionError(operation, cause);
}
