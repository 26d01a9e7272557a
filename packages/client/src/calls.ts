import {
  type AnyApiError,
  ApiError,
  ConnectionError,
  UnexpectedAnswerError,
  UnknownResultError,
} from './errors.js';
import { type Answer, attempt, type Call, type Endpoint, type Outcome } from './attempt.js';
import { List, type Page } from './list.js';
import { pause } from './pause.js';

export interface ClientOptions {
  /** `https://api.example.com`, without `/v1`. */
  readonly baseUrl: string;
  readonly token: string;
  /** How long a call keeps trying to get its result, in ms; by default 60,000. */
  readonly patienceMs?: number;
  /** How long one attempt may take, in ms; by default 15,000, and ten times that for files. */
  readonly attemptTimeoutMs?: number;
  /** Replaces the global fetch. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /**
   * For an operation that takes one: a UUID. A new one for each call, unless you give an earlier
   * call's to continue that call.
   */
  readonly idempotencyKey?: string;
  /** Ends the call; if its result is unknown by then, it still throws UnknownResultError. */
  readonly signal?: AbortSignal;
  /** Replaces the client's. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 60_000;
const ATTEMPT_TIMEOUT_MS = 15_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** The service's address, even if given that of its API. */
function serviceAt(baseUrl: string): string {
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
      patienceMs = PATIENCE_MS,
      attemptTimeoutMs = ATTEMPT_TIMEOUT_MS,
    } = options;
    this.patienceMs = patienceMs;
    this.endpoint = {
      baseUrl: serviceAt(baseUrl),
      token,
      attemptTimeoutMs,
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    };
  }

  /** The parsed JSON result; undefined if the answer has none. */
  protected async send(call: Call, options: CallOptions = {}): Promise<unknown> {
    return (await this.settle(call, options)).json;
  }

  protected async download(call: Call, options: CallOptions = {}): Promise<Blob> {
    const { file } = await this.settle({ ...call, answersFile: true }, options);
    if (file === null) throw new TypeError(`${call.operation} answered no file`);
    return file;
  }

  protected list<P extends Page>(call: Call, options: CallOptions = {}): List<P> {
    const read = async (cursor: string | undefined): Promise<P> => {
      const query = cursor === undefined ? call.query : { ...call.query, cursor };
      return (await this.send({ ...call, query }, options)) as P;
    };
    return new List(read, isFollowedUpward(call));
  }

  /**
   * Repeats what is safe to repeat until an answer gives the result. After an attempt that may have
   * acted, an answer is believed only if the key binds it: any other (the token was revoked
   * meanwhile) says nothing about that attempt.
   */
  private async settle(call: Call, options: CallOptions): Promise<Answer> {
    const key = call.repeats === 'by_key' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    // The wall clock may be set while it waits.
    const until = performance.now() + (options.patienceMs ?? this.patienceMs);
    // A key from the caller may have been sent before: a refusal now says nothing about that
    // attempt.
    let isOpen = call.repeats === 'by_key' && options.idempotencyKey !== undefined;
    const give = (cause: unknown): never => {
      if (isOpen) throw new UnknownResultError(call.operation, key, cause);
      throw cause;
    };
    for (let tries = 0; ; tries += 1) {
      if (options.signal?.aborted === true) return give(options.signal.reason);
      const outcome = await attempt(this.endpoint, call, key, options.signal);
      if (outcome.is === 'answered') return outcome.answer;
      if (outcome.is === 'refused' && isBinding(outcome.error)) throw outcome.error;
      if (outcome.is !== 'unavailable') return give(outcome.error);
      isOpen ||= outcome.mayHaveActed && call.repeats !== 'freely';
      const pauseMs = pauseOf(tries, outcome);
      if ((isOpen && call.repeats === 'never') || performance.now() + pauseMs > until)
        return give(failureOf(call, outcome));
      await pause(pauseMs, options.signal);
    }
  }
}

/** The log in ascending order has no last page: its cursor says where to continue. */
function isFollowedUpward({ query = {} }: Call): boolean {
  return 'order' in query && query.order === 'asc';
}

/**
 * Whether the key is bound to this answer forever, so that it is the result of every attempt. (A
 * quota is checked before the key.)
 */
function isBinding({ code, status }: AnyApiError): boolean {
  return (status === 422 && code !== 'quota_exceeded') || code === 'idempotency_key_reused';
}

/** Exponential with full jitter, and at least `Retry-After`. */
function pauseOf(tries: number, { retryAfterMs }: Extract<Outcome, { is: 'unavailable' }>): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** tries, LONGEST_PAUSE_MS);
  return retryAfterMs + Math.random() * most;
}

/** The service's last response, or the fact that none arrived. */
function failureOf({ operation }: Call, { cause }: Extract<Outcome, { is: 'unavailable' }>): Error {
  const isAnswer = cause instanceof ApiError || cause instanceof UnexpectedAnswerError;
  return isAnswer ? cause : new ConnectionError(operation, cause);
}
