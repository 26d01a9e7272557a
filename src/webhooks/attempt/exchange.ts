import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import { hostOf, type PinnedAddress } from '../address-guard/guard.js';
import type { Agents, PinnedOptions } from './agents.js';
import { type Answer, headText, MAX_BODY_BYTES, retryAfterMs } from './answer.js';

/** One HTTP request of a delivery and its answer. */

export interface Exchange {
  readonly url: URL;
  readonly headers: http.OutgoingHttpHeaders;
  readonly body: Buffer;
  /** The only addresses that may be connected to; null if a proxy connects. */
  readonly addresses: readonly PinnedAddress[] | null;
  readonly certificateAuthorities: readonly string[] | undefined;
}

/** The receiver had closed the connection while it was idle, so it has not seen the request. */
export class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const MAX_HEADER_BYTES = 16_384;
/** A slow first address is abandoned for the next after this. */
const NEXT_ADDRESS_MS = 1_000;

/**
 * The receiver has answered once its headers are complete, whatever happens to the body: its head is what arrived
 * before it ended, broke off, exceeded 64 KiB or `stop` came. Without an answer this rejects: with Node's error, the
 * reason of `stop`, or StaleConnection.
 */
export function exchange(one: Exchange, agents: Agents, stop: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = start(one, agents);
    let answer: http.IncomingMessage | undefined;
    const body: Buffer[] = [];
    // Once there are headers, no error takes the answer back.
    const settle = (error: Error): void =>
      answer === undefined ? reject(error) : resolve(kept(answer, body));
    const onStop = (): void => {
      settle(stop.reason as Error);
      request.destroy();
    };
    request.once('response', (incoming) => {
      answer = incoming;
      readBody(incoming, body, () => resolve(kept(incoming, body)));
    });
    request.once('upgrade', (incoming, socket) => {
      resolve(kept(incoming, body));
      socket.destroy();
    });
    request.on('error', (error) => settle(isStale(request, error) ? new StaleConnection() : error));
    request.once('close', () => {
      stop.removeEventListener('abort', onStop);
      settle(new Error('the connection closed'));
    });
    if (stop.aborted) return onStop();
    stop.addEventListener('abort', onStop);
    request.end(one.body);
  });
}

function kept(
  { statusCode: status = 0, headers }: http.IncomingMessage,
  body: readonly Buffer[],
): Answer {
  return {
    status,
    head: headText(Buffer.concat(body)),
    retryAfterMs: retryAfterMs(status, headers, Date.now()),
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

function start(
  { url, headers, body, addresses, certificateAuthorities: ca }: Exchange,
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
  // An address is verified as an address in the certificate; it is not a server name to send.
  const servername = isIP(host) === 0 ? host : '';
  return https.request({
    ...options,
    agent: agents.https,
    servername,
    ...(ca === undefined ? {} : { ca: [...ca] }),
  });
}

/** Node does no look-up: it gets the checked addresses, and tries them one after the other. */
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

function isStale(request: http.ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
