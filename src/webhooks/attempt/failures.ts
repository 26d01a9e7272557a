import type { AddressRefusal, UrlRefusal } from '../address-guard/guard.js';
import type { FailureReason } from './result.js';

/** Why an attempt has no answer. */

export interface Failure {
  readonly reason: FailureReason;
  readonly message: string;
}

export class AttemptEnded extends Error {
  override name = 'AttemptEnded';

  constructor(readonly reason: 'timeout' | 'canceled') {
    super(reason);
  }
}

/** The egress proxy refused to connect to the receiver. */
export class ProxyRefused extends Error {
  override name = 'ProxyRefused';
}

const REFUSALS: Readonly<Record<UrlRefusal | AddressRefusal, Failure>> = {
  malformed: { reason: 'invalid_url', message: 'the URL is malformed' },
  too_long: { reason: 'invalid_url', message: 'the URL is too long' },
  https_only: { reason: 'invalid_url', message: 'the URL is not https' },
  credentials: { reason: 'invalid_url', message: 'the URL has credentials in it' },
  fragment: { reason: 'invalid_url', message: 'the URL has a fragment' },
  forbidden_address: {
    reason: 'forbidden_address',
    message: 'the host is not on the public internet',
  },
  unresolvable: { reason: 'unresolvable', message: 'the host name has no address' },
};

export function refused(reason: UrlRefusal | AddressRefusal): Failure {
  return REFUSALS[reason];
}

/** Errors of the network itself; any other failure on a TLS connection is TLS. */
const NETWORK_CODE =
  /^(E(CONN[A-Z]+|HOST[A-Z]+|NET[A-Z]+|PIPE|TIMEDOUT|ADDR[A-Z]+|ACCES|PERM|INVAL|AI_[A-Z]+)|ENOTFOUND)$/;

/** Node's messages name addresses and certificate contents, so only the error's code is passed on. */
export function failureOf(error: unknown, isTls: boolean): Failure {
  if (error instanceof AttemptEnded)
    return error.reason === 'timeout'
      ? { reason: 'timeout', message: 'the answer did not come in time' }
      : { reason: 'canceled', message: 'the service stopped during the attempt' };
  if (error instanceof ProxyRefused) return { reason: 'connection', message: error.message };
  const code = codeOf(error);
  if (code.startsWith('HPE_'))
    return { reason: 'invalid_answer', message: `the answer is not HTTP (${code})` };
  if (isTls && !NETWORK_CODE.test(code))
    return { reason: 'tls', message: `no trusted TLS connection (${code})` };
  return { reason: 'connection', message: `the connection failed (${code})` };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code) ? code : 'UNKNOWN';
}
