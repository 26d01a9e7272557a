/** What this feature asks of those who sign, guard addresses and speak HTTP: given to it by app.ts. */

/** One HTTP request as it goes out. */
export interface SendRequest {
  readonly url: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Why no answer came. `canceled` is our own doing and says nothing about the receiver. */
export type SendFailure =
  | 'forbidden_address'
  | 'unresolvable'
  | 'timeout'
  | 'connection'
  | 'tls'
  | 'invalid_url'
  | 'invalid_answer'
  | 'canceled';

/** What came of one attempt. */
export type AttemptResult =
  | {
      readonly outcome: 'answered';
      readonly status: number;
      readonly durationMs: number;
      /** The first KiB of the answer's body. */
      readonly responseHead: string;
      /** What `Retry-After` asks for; null where it is absent or malformed. */
      readonly retryAfterMs: number | null;
    }
  | {
      readonly outcome: 'failed';
      readonly reason: SendFailure;
      readonly message: string;
      readonly durationMs: number;
    };

export interface Sender {
  /** Sends the request once. Never throws; over within the attempt's time, or soon after the signal. */
  send(request: SendRequest, signal: AbortSignal): Promise<AttemptResult>;
}

export interface Signing {
  /** Text that begins with `whsec_`. */
  newSecret(): string;
  /** The headers that prove who sent the body. `previousSecret` signs beside the other where there is one. */
  signatureHeaders(signable: {
    readonly id: string;
    readonly body: Buffer;
    readonly secret: string;
    readonly previousSecret: string | null;
    readonly timestampS: number;
  }): Readonly<Record<string, string>>;
}

/** The address as it is stored and asked, or why it may not be asked, in a stable word. */
export type CheckUrl = (
  text: string,
) => Promise<{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string }>;

/** The three of them. */
export interface Sending {
  readonly sender: Sender;
  readonly signing: Signing;
  readonly checkUrl: CheckUrl;
}
