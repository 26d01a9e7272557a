/** The result of an attempt. Times in milliseconds. */

export type FailureReason =
  | 'forbidden_address'
  | 'unresolvable'
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'invalid_url'
  | 'invalid_answer'
  | 'canceled';

interface Answered {
  readonly outcome: 'answered';
  /** Whatever the receiver answered, including redirects: none is followed. */
  readonly status: number;
  readonly durationMs: number;
  /** The first KiB of the answer as printable text; anything else is shown as U+FFFD. */
  readonly responseHead: string;
  /** How long a 429 or 503 asks us to wait, at most a day; null if it does not. */
  readonly retryAfterMs: number | null;
}

interface Failed {
  readonly outcome: 'failed';
  readonly reason: FailureReason;
  /** Shown to the tenant: contains neither the address nor any part of the URL. */
  readonly message: string;
  readonly durationMs: number;
}

export type AttemptResult = Answered | Failed;
