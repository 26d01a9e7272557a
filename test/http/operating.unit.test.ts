import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { registerGauges } from '../../src/core/meters.js';
import { createAdmin, createRegistry, type Fitness, Readiness } from '../../src/http/admin.js';
import type { Api } from '../../src/http/route.js';
import { ErrorWriter } from '../../src/http/errors.js';
import { listen, type RunningServer } from '../../src/http/node-server.js';
import { thingRoutes } from './routes.js';
import { call, eventually, opened, rawHead, startWorld, UUID_PATTERN } from './support.js';

/** `timeout check` of deploy/haproxy. */
const BALANCER_MS = 2_000;

describe('a client that does not read its response', () => {
  it('loses the connection, and a slow client gets the complete response', async () => {
    const part = 2 * 1024 * 1024;
    const text = 'x'.repeat(16 * part);
    const world = await startWorld({
      routes: (api: Api) =>
        api.get('/v1/long', {
          operationId: 'getLong',
          permits: 'readTransfers',
          responses: { 200: null },
          summary: 'Long',
          handler: () => Promise.resolve({ status: 200, body: { text } }),
        }),
      timeouts: { headersMs: 1_000, requestMs: 1_000, keepAliveMs: 5_000, stalledMs: 500 },
    });
    const asking = rawHead('GET /v1/long HTTP/1.1', 'Connection: close');
    const [silent, slow] = [await opened(world.port), await opened(world.port)];
    for (const socket of [silent, slow]) socket.pause().write(asking);
    let received = 0;
    slow.on('data', (chunk: Buffer) => (received += chunk.length)).pause();
    await eventually('both are answered', () => world.server.inFlight() === 2);
    // A part that still went out prolongs the silent one's time: it may take more than twice `stalledMs`.
    for (let read = 1; world.server.inFlight() === 2; read += 1) {
      assert.ok(read * part < text.length, 'the silent one is still there');
      await sleep(200);
      slow.resume();
      await eventually('it has a part', () => received > read * part);
      slow.pause();
    }
    assert.equal(world.server.inFlight(), 1);
    silent.destroy();
    slow.resume();
    await eventually('it has all', () => received > text.length);
    await world.server.stop(0);
  });
});

describe('the admin port', () => {
  let server: RunningServer;
  let registry: Registry;
  let url = '';
  let fitness: () => Promise<Fitness> = () => Promise.resolve('degraded');
  let readiness: Readiness;

  before(async () => {
    registry = createRegistry();
    const errors = new ErrorWriter('http://localhost/docs');
    readiness = new Readiness(() => fitness());
    const admin = createAdmin({ registry, readiness, errors });
    server = await listen(admin, errors, { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${server.port}`;
  });
  after(() => server.stop(0));

  async function readyz(): Promise<[number, string]> {
    const { status, text } = await call(`${url}/readyz`);
    return [status, text.trim()];
  }

  it('a process that was never ready does not count as degraded', async () => {
    assert.deepEqual(await readyz(), [503, 'not ready']);
  });

  it('a process is ready, stays in service while a shared server is away, and is not ready through its own fault', async () => {
    const cases: readonly (readonly [typeof fitness, [number, string]])[] = [
      [() => Promise.resolve('ready'), [200, 'ready']],
      [() => Promise.resolve('degraded'), [200, 'degraded']],
      [() => Promise.resolve('unfit'), [503, 'not ready']],
      [() => Promise.reject(new Error('away')), [503, 'not ready']],
    ];
    for (const [own, shown] of cases) {
      fitness = own;
      assert.deepEqual(await readyz(), shown);
    }
    assert.equal((await call(`${url}/livez`)).status, 200);
  });

  it('answers before a load balancer gives up, even if a check hangs', async () => {
    fitness = () => Promise.resolve('ready');
    await readyz();
    fitness = () => new Promise(() => undefined);
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(BALANCER_MS) });
    assert.deepEqual([answer.status, await answer.text()], [200, 'degraded\n']);
  });

  it('a process is not ready from the moment it stops', async () => {
    readiness.stop();
    assert.deepEqual(await readyz(), [503, 'stopping']);
    fitness = () => Promise.resolve('ready');
    assert.deepEqual(await readyz(), [503, 'stopping']);
    assert.equal((await call(`${url}/livez`)).status, 200);
  });

  it('a metric that cannot be read, or hangs, is omitted and counted; all others are served', async () => {
    registerGauges(registry, { planted_a: { help: 'a' }, planted_b: { help: 'b' } }, () => {
      reads += 1;
      return isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve({ planted_a: 1, planted_b: 2 });
    });
    let reads = 0;
    let isAway = false;
    const before = await call(`${url}/metrics`);
    assert.match(before.text, /^planted_a 1$/m);
    assert.match(before.text, /^planted_b 2$/m);
    assert.equal(reads, 1, 'what one reading answers is read once');
    isAway = true;
    new Gauge({
      ...{ name: 'planted_hanging', help: 'h', registers: [registry] },
      collect: () => new Promise(() => undefined),
    });
    const { status, text } = await call(`${url}/metrics`);
    assert.equal(status, 200);
    assert.equal(text.includes('planted_a 1'), false, 'an old figure would pass for a new one');
    assert.match(text, /process_cpu_seconds_total/);
    registry.removeSingleMetric('planted_hanging');
    const next = (await call(`${url}/metrics`)).text;
    for (const metric of ['planted_a', 'planted_hanging'])
      assert.match(next, new RegExp(`^metrics_unread_total\\{metric="${metric}"\\} 1$`, 'm'));
    registry.removeSingleMetric('planted_a');
    registry.removeSingleMetric('planted_b');
  });

  it('the metrics include those of the process, and an unknown path of the admin port is 404', async () => {
    assert.match((await call(`${url}/metrics`)).text, /process_cpu_seconds_total/);
    const answer = await call(`${url}/v1/transfers`);
    assert.equal(answer.status, 404);
    assert.match(answer.headers.get('svc-request-id') ?? '', UUID_PATTERN);
  });
});

describe('request metrics', () => {
  it('have the path template, method and status as labels, and never the path', async () => {
    const world = await startWorld({ routes: thingRoutes() });
    await call(`${world.url}/v1/transfers/018f0000-0000-7000-8000-0000000000ff?x=1`);
    await call(`${world.url}/v1/secret-path`);
    await call(`${world.url}/docs`);
    const text = await world.registry.metrics();
    await world.server.stop(0);
    assert.match(
      text,
      /http_request_duration_seconds_count\{method="GET",route="\/v1\/transfers\/\{id\}",status="400"\} 1/,
    );
    assert.match(text, /route="unknown",status="404"\} 1/);
    assert.match(text, /route="\/docs",status="200"\} 1/);
    assert.equal(text.includes('secret-path'), false);
    assert.equal(text.includes('018f0000'), false);
  });
});
