import assert from 'node:assert/strict';
import { notFound } from '../../src/core/errors.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { type Api, type FileAnswer } from '../../src/http/route.js';
import { uploadRoute } from './forms.js';
import {
  call,
  eventually,
  opened,
  rawHead,
  readAll,
  startWorld,
  UUID_PATTERN,
  type World,
} from './support.js';

const TYPE = 'text/csv; charset=utf-8';

describe('file answers', () => {
  let world: World;
  let pieces: FileAnswer['pieces'];
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
      answers: { 200: null },
      fileTypes: ['text/csv'],
      summary: 'Get a file',
      handler: () =>
        Promise.resolve({
          status: 200,
          file: { contentType: TYPE, name, pieces },
        }),
    });
    uploadRoute(() => {})(api);
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

  it('file answers arrive whole, to be saved under their name, and are not cached', async () => {
    const answer = await call(url());
    assert.equal(answer.status, 200);
    assert.equal(answer.text, 'a,b\r\n1,2\r\n');
    assert.equal(answer.headers.get('content-type'), TYPE);
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="result.csv"');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('svc-request-id') ?? '', UUID_PATTERN);
    assert.ok(answer.headers.has('ratelimit-limit'));
  });

  it('file answers keep the connection for the next request', async () => {
    const socket = await opened(world.port);
    const received = readAll(socket, 500);
    socket.write(
      rawHead('GET /v1/file HTTP/1.1') + rawHead('GET /v1/file HTTP/1.1', 'Connection: close'),
    );
    assert.equal((await received).match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  });

  it('an empty file is a file too', async () => {
    pieces = [];
    const answer = await call(url());
    assert.deepEqual([answer.status, answer.text], [200, '']);
  });

  it('HEAD of a file has only the headers, and nothing is written for it', async () => {
    pieces = failing(0, new Error('read'));
    const text = await raw('HEAD /v1/file HTTP/1.1');
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.match(text, /Content-Disposition: attachment/);
    assert.ok(text.endsWith('\r\n\r\n'));
  });

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

  it('a file that fails later cuts the connection: nobody takes a part for the whole', async () => {
    pieces = failing(3, new DatabaseUnavailable('away'));
    const text = await raw();
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.ok(!text.includes('\r\n0\r\n\r\n'), 'no end of the file is told');
    assert.ok(!text.includes('ledger_unavailable'));
    await eventually('the log tells it', () => lines.some((line) => line.includes('"status":503')));
  });

  it('a file name that would break the header is an internal error', async () => {
    name = 'a"; filename=b';
    assert.equal((await call(url())).status, 500);
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

  it('a client that does not read pauses the writing of its file', async () => {
    pieces = endless();
    const socket = await opened(world.port);
    socket.pause();
    socket.write(rawHead('GET /v1/file HTTP/1.1'));
    await eventually('it began', () => written > 3, 2_000);
    let before = -1;
    await eventually(
      'it stands still',
      () => {
        const stands = written === before;
        before = written;
        return stands;
      },
      5_000,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(written - before < 20, `${written - before}`);
    assert.ok(written < 500, `${written} pieces are in memory`);
    socket.destroy();
  });

  it('file answers are described in the OpenAPI document, and so are forms', async () => {
    const text = await (await fetch(`${world.url}/openapi.json`)).text();
    const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Described>> };
    const file = paths['/v1/file']?.['get']?.responses['200'];
    assert.deepEqual(file?.content, {
      'text/csv': { schema: { type: 'string', format: 'binary' } },
    });
    assert.ok('Content-Disposition' in file.headers);
    const upload = paths['/v1/bonus_batches']?.['post'];
    assert.deepEqual(Object.keys(upload?.requestBody?.content ?? {}), ['multipart/form-data']);
    const schema = upload?.requestBody?.content['multipart/form-data']?.schema;
    assert.deepEqual(schema?.required, ['source_account', 'file']);
    assert.equal(schema.properties['file']?.format, 'binary');
    assert.equal(schema.properties['source_account']?.format, 'uuid');
    for (const status of ['400', '413', '415', '429']) assert.ok(upload?.responses[status], status);
  });
});

interface Described {
  readonly requestBody?: {
    readonly content: Record<
      string,
      { schema: { required: string[]; properties: Record<string, { format?: string }> } }
    >;
  };
  readonly responses: Record<string, { readonly content?: unknown; readonly headers: object }>;
}

async function* failing(after: number, failure: Error): AsyncGenerator<Buffer> {
  for (let count = 0; count < after; count += 1) {
    yield Buffer.alloc(100_000, 'x');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw failure;
}
