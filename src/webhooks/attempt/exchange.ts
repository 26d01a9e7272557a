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
  /** The only addresses that may be connected to; null where a proxy connects. */
  readonly addresses: readonly PinnedAddress[] | null;
  readonly certificateAuthorities: readonly string[] | undefined;
}

/** The error of a connection that the receiver had given up while it lay idle: the request is none of its business yet. */
export class StaleConnection extends Error {
  override name = 'StaleConnection';
}

const MAX_HEADER_BYTES = 16_384;
/** A slow first address is given up for the next after this. */
const NEXT_ADDRESS_MS = 1_000;

/**
 * The receiver has answered when its headers are complete, whatever becomes of the body: its head is what came before it
 * ended, broke off, passed 64 KiB or `stop` came. Without an answer it rejects: as Node does, with the reason of
 * `stop`, or with StaleConnection.
 */
export function exchange(one: Exchange, agents: Agents, stop: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = start(one, agents);
    let answer: http.IncomingMessage | undefined;
    const body: Buffer[] = [];
    // Once there are headers no error takes the answer back.
    const settle = (error: Error): void => (answer === undefined ? reject(error) : resolve(kept(answer, body)));
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

function kept({ statusCode: status = 0, headers }: http.IncomingMessage, body: readonly Buffer[]): Answer {
  return { status, head: headText(Buffer.concat(body)), retryAfterMs: retryAfterMs(status, headers, Date.now()) };
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
  // An address is verified as an address of the certificate; it is no name to ask the server for.
  const servername = isIP(host) === 0 ? host : '';
  return https.request({ ...options, agent: agents.https, servername, ...(ca === undefined ? {} : { ca: [...ca] }) });
}

/** Node looks nothing up: it is told the addresses that were checked, and tries them one after the other. */
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
