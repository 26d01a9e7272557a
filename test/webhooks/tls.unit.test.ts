import assert from 'node:assert/strict';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { AttemptResult } from '../../src/webhooks/attempt.js';
import type { Sender } from '../../src/webhooks/sender.js';
import { type Certificate, makeAuthority, makeCertificate } from '../helpers/certificates.js';
import {
  allow,
  closeAll,
  guardWith,
  listening,
  type Listener,
  send,
  senderWith,
} from './receivers.js';

const NAME = 'hooks.acme.example';
const DAY_MS = 86_400_000;

/** The name that each connection asked the receiver for. */
interface TlsReceiver extends Listener {
  readonly asked: string[];
  readonly requests: () => number;
}

describe('a delivery over TLS', () => {
  const authority = makeAuthority('Test Authority');
  const stranger = makeAuthority('Another Authority');
  afterEach(closeAll);

  async function tlsReceiver(
    certificate: Certificate,
    options: ServerOptions = {},
  ): Promise<TlsReceiver> {
    const asked: string[] = [];
    let requests = 0;
    const server = createHttpsServer({ ...certificate, ...options }, (incoming, response) => {
      requests++;
      incoming.resume();
      response.writeHead(204).end();
    });
    server.on('secureConnection', (socket: TLSSocket) => asked.push(String(socket.servername)));
    return { ...(await listening(server)), asked, requests: () => requests };
  }

  /** Trusts the authority, and believes the name to be at 127.0.0.1. */
  function trusting(): Sender {
    const guard = guardWith({ allowedHosts: allow(`https://${NAME}:*`, 'https://127.0.0.1:*') });
    guard.resolve = async () => ({ ok: true, addresses: [{ address: '127.0.0.1', family: 4 }] });
    return senderWith({ guard, certificateAuthorities: [authority.cert] });
  }

  const assertTls = (result: AttemptResult, code: RegExp): void => {
    assert.ok(result.outcome === 'failed' && result.reason === 'tls', JSON.stringify(result));
    assert.match(result.message, code);
  };

  it('verifies the certificate by name although it connects by address', async () => {
    const receiver = await tlsReceiver(
      makeCertificate({ subject: NAME, names: [NAME] }, authority),
    );
    const sender = trusting();
    for (let i = 0; i < 3; i++) {
      const result = await send(sender, `https://${NAME}:${receiver.port}/`);
      assert.ok(result.outcome === 'answered' && result.status === 204, JSON.stringify(result));
    }
    assert.deepEqual(receiver.asked, [NAME]);
  });

  it('goes to an address that the certificate names as an address', async () => {
    const receiver = await tlsReceiver(
      makeCertificate({ subject: 'any', names: ['127.0.0.1'] }, authority),
    );
    const result = await send(trusting(), `https://127.0.0.1:${receiver.port}/`);
    assert.ok(result.outcome === 'answered' && result.status === 204, JSON.stringify(result));
    // An address is not a server name.
    assert.deepEqual(receiver.asked, ['false']);
  });

  const BAD: Record<string, readonly [Certificate, RegExp]> = {
    'self-signed': [
      makeCertificate({ subject: NAME, names: [NAME] }),
      /DEPTH_ZERO_SELF_SIGNED_CERT/,
    ],
    'of an authority that nobody trusts': [
      makeCertificate({ subject: NAME, names: [NAME] }, stranger),
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE/,
    ],
    'for another name': [
      makeCertificate({ subject: 'evil.example', names: ['evil.example'] }, authority),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    ],
    'for the address alone': [
      makeCertificate({ subject: 'any', names: ['127.0.0.1'] }, authority),
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    ],
    expired: [
      makeCertificate(
        { subject: NAME, names: [NAME], notAfter: new Date(Date.now() - DAY_MS / 2) },
        authority,
      ),
      /CERT_HAS_EXPIRED/,
    ],
    'of tomorrow': [
      makeCertificate(
        { subject: NAME, names: [NAME], notBefore: new Date(Date.now() + DAY_MS / 2) },
        authority,
      ),
      /CERT_NOT_YET_VALID/,
    ],
  };
  for (const [what, [certificate, code]] of Object.entries(BAD))
    it(`sends nothing when the certificate is ${what}`, async () => {
      const receiver = await tlsReceiver(certificate);
      const result = await send(trusting(), `https://${NAME}:${receiver.port}/`);
      assertTls(result, code);
      assert.equal(receiver.requests(), 0);
    });

  it('no delivery is sent over an outdated version of TLS', async () => {
    const certificate = makeCertificate({ subject: NAME, names: [NAME] }, authority);
    const receiver = await tlsReceiver(certificate, {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    });
    assertTls(await send(trusting(), `https://${NAME}:${receiver.port}/`), /EPROTO|ERR_SSL/);
  });
});
