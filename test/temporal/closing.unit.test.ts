import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { TemporalClient } from '../../src/temporal/client.js';

const UNAVAILABLE = '14';

describe('the client of Temporal', () => {
  let server: Http2Server;

  before(async () => {
    server = createServer();
    server.on('stream', (stream) =>
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAVAILABLE },
        { endStream: true },
      ),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => server.close());

  it('the client of Temporal lets a call that is being retried end before it closes the connection', async () => {
    const { port } = server.address() as AddressInfo;
    const client = new TemporalClient({
      address: `127.0.0.1:${port}`,
      namespace: 'any',
      tls: null,
    });
    const asked = once(server, 'stream');
    const answer = client.answers();
    await asked;
    const closing = client.close();
    assert.equal(await answer, false);
    await closing;
  });
});
