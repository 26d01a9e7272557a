import assert from 'node:assert/strict';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Sender } from '../../src/webhooks/sender.js';
import { makeAuthority, makeCertificate } from '../helpers/certificates.js';
import {
  allow,
  closeAll,
  guardWith,
  httpReceiver,
  listening,
  type Listener,
  NEVER,
  send,
  senderWith,
} from './receivers.js';

const NAME = 'hooks.acme.example';

interface Proxy extends Listener {
  /** The requested hosts, with their credentials. */
  readonly asked: { readonly authority: string; readonly credentials: string | undefined }[];
}

type Answer = (client: Duplex, authority: string) => void;

async function proxyThat(answer: Answer): Promise<Proxy> {
  const asked: Proxy['asked'] = [];
  const server = createHttpServer().on('connect', (request, client: Duplex) => {
    client.on('error', () => undefined);
    asked.push({
      authority: request.url ?? '',
      credentials: request.headers['proxy-authorization'],
    });
    answer(client, request.url ?? '');
  });
  return { ...(await listening(server)), asked };
}

/** Passes everything on to this port of 127.0.0.1, wherever it was meant for. */
const passingTo =
  (port: () => number): Answer =>
  (client) => {
    const onward: Socket = connect(port(), '127.0.0.1', () =>
      client.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    onward
      .on('error', () => client.destroy())
      .pipe(client)
      .pipe(onward);
  };

describe('an egress proxy', () => {
  const authority = makeAuthority('Test Authority');
  afterEach(closeAll);

  function through(proxy: Proxy, credentials = ''): Sender {
    return senderWith({
      guard: guardWith({ allowedHosts: allow(`http://${NAME}:*`), namesAreLeftToProxy: true }),
      proxyUrl: new URL(`http://${credentials}127.0.0.1:${proxy.port}`),
      timeoutMs: 2_000,
      certificateAuthorities: [authority.cert],
    });
  }

  it('carries deliveries to names that only it resolves, over TLS with the receiver itself', async () => {
    const asked: string[] = [];
    const server = createHttpsServer(
      makeCertificate({ subject: NAME, names: [NAME] }, authority),
      (incoming, response) => {
        incoming.resume();
        response.writeHead(204).end();
      },
    );
    server.on('secureConnection', ({ servername }: { servername: string }) =>
      asked.push(servername),
    );
    const receiver = await listening(server);
    const proxy = await proxyThat(passingTo(() => receiver.port));
    const sender = through(proxy, 'user:p%40ss@');
    for (let i = 0; i < 3; i++) {
      const result = await send(sender, `https://${NAME}/`);
      assert.ok(result.outcome === 'answered' && result.status === 204, JSON.stringify(result));
    }
    const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    assert.deepEqual([asked, proxy.asked], [[NAME], [{ authority: `${NAME}:443`, credentials }]]);
  });

  it('sees no delivery whose certificate is not for the name', async () => {
    const server = createHttpsServer(
      makeCertificate({ subject: 'x', names: ['evil.example'] }, authority),
    );
    const receiver = await listening(server);
    const proxy = await proxyThat(passingTo(() => receiver.port));
    const result = await send(through(proxy), `https://${NAME}/`);
    assert.ok(result.outcome === 'failed' && result.reason === 'tls', JSON.stringify(result));
  });

  it('carries plain HTTP to hosts of the list, and the same bytes arrive', async () => {
    const receiver = await httpReceiver();
    const proxy = await proxyThat(passingTo(() => receiver.port));
    const body = Buffer.from('{"d":"🦄"}');
    const result = await through(proxy).send(
      { url: `http://${NAME}:8080/x`, body, headers: { 'webhook-id': 'a' } },
      NEVER,
    );
    assert.ok(result.outcome === 'answered' && result.status === 204);
    const [got] = receiver.requests;
    assert.ok(got!.body.equals(body));
    assert.deepEqual(
      [got!.headers.host, got!.headers['webhook-id'], got!.headers['proxy-authorization']],
      [`${NAME}:8080`, 'a', undefined],
    );
    assert.equal(proxy.asked[0]!.authority, `${NAME}:8080`);
  });

  it('no request goes to an egress proxy for an address that is forbidden as written', async () => {
    const proxy = await proxyThat((client) => client.destroy());
    for (const host of [
      '127.0.0.1',
      '0x7f.1',
      '[::ffff:10.0.0.1]',
      'localhost',
      '169.254.169.254',
      'metadata.google.internal',
    ]) {
      const result = await send(through(proxy), `https://${host}/`);
      assert.ok(result.outcome === 'failed' && result.reason === 'forbidden_address', host);
    }
    assert.equal(proxy.connections(), 0);
  });

  const REFUSALS: Record<string, readonly [Answer, RegExp]> = {
    'answers 403': [
      (client) => client.end('HTTP/1.1 403 Forbidden\r\n\r\n'),
      /^the egress proxy answered 403$/,
    ],
    'answers 502 with a body': [
      (client) => client.end('HTTP/1.1 502 Bad\r\ncontent-length: 3\r\n\r\nbad'),
      /^the egress proxy answered 502$/,
    ],
    closes: [(client) => client.destroy(), /^the egress proxy gave no connection$/],
    'answers garbage': [
      (client) => client.end('garbage\r\n\r\n'),
      /^the egress proxy gave no connection$/,
    ],
  };
  for (const [what, [answer, message]] of Object.entries(REFUSALS))
    it(`that ${what} is a failed connection`, async () => {
      const result = await send(through(await proxyThat(answer)), `https://${NAME}/`);
      assert.ok(
        result.outcome === 'failed' && result.reason === 'connection',
        JSON.stringify(result),
      );
      assert.match(result.message, message);
    });

  it('that hangs fails the attempt at its time limit, and no connection stays open', async () => {
    const proxy = await proxyThat((client) => void client.resume().on('end', () => client.end()));
    const sender = senderWith({
      guard: guardWith({ namesAreLeftToProxy: true }),
      proxyUrl: new URL(`http://127.0.0.1:${proxy.port}`),
      timeoutMs: 300,
    });
    const result = await send(sender, `https://${NAME}/`);
    assert.ok(result.outcome === 'failed' && result.reason === 'timeout');
    while (proxy.open() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});
