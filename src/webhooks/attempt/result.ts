/** What an attempt came to. Times in milliseconds. */

export type FailureReason =
  | 'forbidden_address'
  | 'unresolvable'
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'invalid_url'
  | 'invalid_answer'
  | 'canceled';

export interface Answered {
  readonly outcome: 'answered';
  /** Whatever the receiver said, a redirect too: none is followed. */
  readonly status: number;
  readonly durationMs: number;
  /** The first KiB of the answer as printable text; what is no text shows as U+FFFD. */
  readonly responseHead: string;
  /** How long a 429 or 503 asks us to wait, at most a day; null when it does not. */
  readonly retryAfterMs: number | null;
}

export interface Failed {
  readonly outcome: 'failed';
  readonly reason: FailureReason;
  /** For the tenant's eyes: names neither the address nor anything of the URL. */
  readonly message: string;
  readonly durationMs: number;
}

export type AttemptResult = Answered | Failed;
