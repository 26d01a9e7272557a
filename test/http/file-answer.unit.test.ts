import assert from 'node:assert/strict';
import { notFound } from '../../src/core/errors.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { type Api, type FileResponse } from '../../src/http/route.js';
import { call, eventually, opened, rawHead, readAll, startWorld, type World } from './support.js';

const TYPE = 'text/csv; charset=utf-8';

describe('responses with a file', () => {
  let world: World;
  let pieces: FileResponse['pieces'];
  let name: string;
  let written = 0;
  let isOver = false;
  const lines: string[] = [];

  before(async () => {
    world = await startWorld({ routes: fileRoute, log: (line) => lines.push(line) });
  });
  beforeEach(() => {
    name = 'result.csv';
    written = 0;
    lines.length = 0;
    pieces = [Buffer.from('a,b\r\n'), Buffer.from('1,2\r\n')];
  });
  after(() => world.server.stop(0));

  function fileRoute(api: Api): void {
    api.get('/v1/file', {
      operationId: 'downloadFile',
      permits: 'readTransfers',
      responses: { 200: null },
      fileTypes: ['text/csv'],
      summary: 'Get a file',
      handler: () =>
        Promise.resolve({
          status: 200,
          file: { contentType: TYPE, name, pieces },
        }),
    });
  }

  async function* endless(): AsyncGenerator<Buffer> {
    isOver = false;
    try {
      for (;;) {
        written += 1;
        yield Buffer.alloc(64 * 1024, 'x');
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      isOver = true;
    }
  }

  const url = (): string => `${world.url}/v1/file`;
  const raw = async (line = 'GET /v1/file HTTP/1.1'): Promise<string> => {
    const socket = await opened(world.port);
    const received = readAll(socket, 1_000);
    socket.write(rawHead(line, 'Connection: close'));
    return received;
  };

  it('a file that fails before the first byte is an error like any other', async () => {
    pieces = failing(0, notFound());
    assert.equal((await call(url())).json().error.code, 'not_found');
    pieces = failing(0, new DatabaseUnavailable('away'));
    const away = await call(url());
    assert.deepEqual([away.status, away.json().error.code], [503, 'ledger_unavailable']);
    assert.equal(away.headers.get('content-disposition'), null);
    pieces = failing(0, new Error('secret text'));
    const fault = await call(url());
    assert.equal(fault.status, 500);
    assert.ok(!fault.text.includes('secret'));
  });

  it('a file that fails after its first byte cuts the connection, so that no client takes it as complete', async () => {
    pieces = failing(3, new DatabaseUnavailable('away'));
    const text = await raw();
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.ok(!text.includes('\r\n0\r\n\r\n'), 'no end of the file is told');
    assert.ok(!text.includes('ledger_unavailable'));
    await eventually('the log tells it', () => lines.some((line) => line.includes('"status":503')));
  });

  it('a client that closes the connection ends the writing of its file', async () => {
    pieces = endless();
    const socket = await opened(world.port);
    socket.on('error', () => {});
    socket.write(rawHead('GET /v1/file HTTP/1.1'));
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    await eventually('the reading ended', () => isOver, 2_000);
    await eventually('nothing is in flight', () => world.server.inFlight() === 0, 2_000);
    assert.ok(
      !lines.some((line) => line.includes('fault of ours') || line.includes('"status":500')),
    );
  });
});

async function* failing(after: number, failure: Error): AsyncGenerator<Buffer> {
  for (let count = 0; count < after; count += 1) {
    yield Buffer.alloc(100_000, 'x');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw failure;
}
