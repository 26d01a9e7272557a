import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import {
  type AddressRefusal,
  hostOf,
  type PinnedAddress,
  type UrlRefusal,
} from './address-guard.js';
import { type Agents, type PinnedOptions, ProxyRefused } from './connections.js';
import { retryAfterMs } from './retry-after.js';

/** Why an attempt got no answer, and what to do. (docs/webhooks.md) */
export const FAILURE_MEANINGS = {
  timeout: 'no response within 10 seconds. Respond before you process the event',
  connection:
    'the connection failed or broke off. Check that your receiver runs, and that its firewall lets us in',
  tls: 'the certificate is not trusted: it has expired, is self-signed or of another host, or lacks the certificates that issue it',
  unresolvable: 'the host name has no address. Check its DNS',
  forbidden_address: 'the host is not on the public internet',
  invalid_url: 'the URL is not allowed any more, for example because it is not `https`',
  invalid_answer: 'the response is not HTTP',
  canceled: 'the service stopped during the attempt, and repeats it at once',
} as const;
type FailureReason = keyof typeof FAILURE_MEANINGS;

export interface AnsweredAttempt {
  readonly outcome: 'answered';
  /** The receiver's status. Redirects are not followed. */
  readonly status: number;
  /** The first KiB of the answer as printable text. */
  readonly responseHead: string;
  /** The wait that a 429 or 503 asks for, at most a day; null if it asks for none. */
  readonly retryAfterMs: number | null;
}

export interface FailedAttempt {
  readonly outcome: 'failed';
  readonly reason: FailureReason;
  /** Shown to the tenant: contains neither the address nor any part of the URL. */
  readonly message: string;
}

export type AttemptResult = (AnsweredAttempt | FailedAttempt) & { readonly durationMs: number };

export interface OutgoingRequest {
  readonly url: URL;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer;
  /** The only addresses that may be connected to; null if a proxy connects. */
  readonly addresses: readonly PinnedAddress[] | null;
  readonly certificateAuthorities: readonly string[] | undefined;
}

/** The reused connection was closed, or the receiver had written more to it than its last answer. */
export class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const MAX_HEADER_BYTES = 16_384;
/** Time after which a slow address is abandoned for the next. */
const NEXT_ADDRESS_MS = 1_000;

/**
 * Resolves once the headers are complete, even if the body breaks off, exceeds 64 KiB or is ended
 * by `stop`. Before, rejects with Node's error, the reason of `stop`, or StaleConnection.
 */
export function sendOnce(
  outgoing: OutgoingRequest,
  agents: Agents,
  stop: AbortSignal,
): Promise<AnsweredAttempt> {
  return new Promise((resolve, reject) => {
    const request = openRequest(outgoing, agents);
    let answer: http.IncomingMessage | undefined;
    const body: Buffer[] = [];
    // An error after the headers only ends the body.
    const settle = (error: Error): void =>
      answer === undefined ? reject(error) : resolve(answeredResult(answer, body));
    const onStop = (): void => {
      settle(stop.reason as Error);
      request.destroy();
    };
    request.once('response', (incoming) => {
      answer = incoming;
      readBody(incoming, body, () => resolve(answeredResult(incoming, body)));
    });
    request.once('upgrade', (incoming, socket) => {
      resolve(answeredResult(incoming, body));
      socket.destroy();
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale =
        request.reusedSocket && /^(ECONNRESET|EPIPE|HPE_[A-Z_]+)$/.test(error.code ?? '');
      settle(isStale ? new StaleConnection() : error);
    });
    request.once('close', () => {
      stop.removeEventListener('abort', onStop);
      settle(new Error('the connection closed'));
    });
    if (stop.aborted) return onStop();
    stop.addEventListener('abort', onStop);
    request.end(outgoing.body);
  });
}

function answeredResult(
  { statusCode: status = 0, headers }: http.IncomingMessage,
  body: readonly Buffer[],
): AnsweredAttempt {
  return {
    outcome: 'answered',
    status,
    responseHead: headText(Buffer.concat(body)),
    retryAfterMs: retryAfterMs(status, headers['retry-after'], Date.now()),
  };
}

function readBody(incoming: http.IncomingMessage, body: Buffer[], finish: () => void): void {
  let bytes = 0;
  incoming.on('data', (piece: Buffer) => {
    bytes += piece.length;
    body.push(piece);
    if (bytes < MAX_BODY_BYTES) return;
    finish();
    incoming.destroy();
  });
  incoming.once('end', finish);
  incoming.once('error', finish);
}

function openRequest(
  { url, headers, body, addresses, certificateAuthorities: ca }: OutgoingRequest,
  agents: Agents,
): http.ClientRequest {
  const host = hostOf(url);
  const options: PinnedOptions = {
    method: 'POST',
    host,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': body.length },
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(url.port === '' ? {} : { port: url.port }),
    ...(addresses === null ? {} : pinnedTo(addresses)),
  };
  if (url.protocol === 'http:') return http.request({ ...options, agent: agents.http });
  // A server name may not be an address. The certificate is still checked for the address.
  const servername = isIP(host) === 0 ? host : '';
  return https.request({
    ...options,
    agent: agents.https,
    servername,
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
}

/** Returns options with which Node tries only the checked addresses, without a look-up. */
function pinnedTo(addresses: readonly PinnedAddress[]): PinnedOptions {
  return {
    pins: addresses
      .map(({ address }) => address)
      .sort()
      .join(),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    lookup: (_name, _options, found) => found(null, [...addresses]),
  };
}

const MAX_BODY_BYTES = 65_536;
const HEAD_BYTES = 1_024;
/** Characters that control a terminal, break a line or change its direction. */
const UNPRINTABLE = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The first KiB of an answer as text for people. */
export function headText(body: Buffer): string {
  if (body.length === 0) return '';
  const isCut = body.length > HEAD_BYTES;
  // A character divided by the cut is dropped.
  const text = new TextDecoder().decode(body.subarray(0, HEAD_BYTES), { stream: isCut });
  return text.replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, '\uFFFD');
}

export class AttemptAborted extends Error {
  override name = 'AttemptAborted';

  constructor(readonly reason: 'timeout' | 'canceled') {
    super(reason);
  }
}

const REFUSALS: Readonly<Record<UrlRefusal | AddressRefusal, readonly [FailureReason, string]>> = {
  malformed: ['invalid_url', 'the URL is malformed'],
  too_long: ['invalid_url', 'the URL is too long'],
  https_only: ['invalid_url', 'the URL is not https'],
  credentials: ['invalid_url', 'the URL has credentials in it'],
  fragment: ['invalid_url', 'the URL has a fragment'],
  forbidden_address: ['forbidden_address', 'the host is not on the public internet'],
  unresolvable: ['unresolvable', 'the host name has no address'],
};

export function refusedResult(reason: UrlRefusal | AddressRefusal): FailedAttempt {
  return failedResult(...REFUSALS[reason]);
}

function failedResult(reason: FailureReason, message: string): FailedAttempt {
  return { outcome: 'failed', reason, message };
}

/** Codes of network errors. Any other error on a TLS connection counts as a fault of TLS. */
const NETWORK_CODE =
  /^(E(CONN[A-Z]+|HOST[A-Z]+|NET[A-Z]+|PIPE|TIMEDOUT|ADDR[A-Z]+|ACCES|PERM|INVAL|AI_[A-Z]+)|ENOTFOUND)$/;

/** Shows only the error's code, because messages name addresses and certificates. */
export function failureOf(error: unknown, isTls: boolean): FailedAttempt {
  if (error instanceof AttemptAborted)
    return error.reason === 'timeout'
      ? failedResult('timeout', 'the answer did not come in time')
      : failedResult('canceled', 'the service stopped during the attempt');
  if (error instanceof ProxyRefused) return failedResult('connection', error.message);
  const code = codeOf(error);
  if (code.startsWith('HPE_'))
    return failedResult('invalid_answer', `the answer is not HTTP (${code})`);
  if (isTls && !NETWORK_CODE.test(code))
    return failedResult('tls', `no trusted TLS connection (${code})`);
  return failedResult('connection', `the connection failed (${code})`);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'UNKNOWN';
}
