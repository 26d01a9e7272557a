import assert from 'node:assert/strict';
import {
  callerWith,
  call,
  OTHER_TENANT,
  postJson,
  rawHead,
  sendRaw,
  startWorld,
  TOKEN,
  UUID_PATTERN,
} from './support.js';
import { thingRoutes } from './routes.js';

const CALLERS: Readonly<Record<string, ReturnType<typeof callerWith>>> = {
  [TOKEN]: callerWith(),
  svc_live_reader_x: callerWith({ scopes: ['read'], tokenKeyId: 'reader' }),
  svc_live_spent_x: callerWith({ tokenKeyId: 'spent', tenantId: OTHER_TENANT }),
};

let seen: unknown[] = [];
const world = await startWorld({
  routes: thingRoutes((request) => seen.push(request)),
  authenticate: (token) => CALLERS[token] ?? null,
  rates: { requests: { perSecond: 0.01, burst: 1000 }, lookup: { perSecond: 0.01, burst: 2 } },
});

describe('the order of checks', () => {
  beforeEach(() => {
    seen = [];
  });
  after(() => world.server.stop(0));

  const raw = (line: string): Promise<string> =>
    sendRaw(world.port, rawHead(`${line} HTTP/1.1`, 'Connection: close'));

  it('an unknown path is 404 without a token', async () => {
    const answer = await call(`${world.url}/v1/nothing`, { headers: { authorization: null } });
    assert.equal(answer.status, 404);
    assert.equal(answer.json().error.code, 'not_found');
    assert.equal(answer.headers.get('ratelimit-limit'), null);
  });

  it('a wrong method is 405 without a token, and the response names the allowed methods', async () => {
    for (const method of ['PUT', 'OPTIONS']) {
      const headers = { authorization: null };
      const answer = await call(`${world.url}/v1/transfers`, { method, headers });
      assert.deepEqual([answer.status, answer.json().error.code], [405, 'method_not_allowed']);
      assert.equal(answer.headers.get('allow'), 'POST, GET, HEAD');
    }
  });

  it('every response to a valid token has the rate headers, even without a route', async () => {
    for (const [method, path, status] of [
      ['GET', '/v1/nothing', 404],
      ['GET', '/v1/transfers/%zz', 404],
      ['PUT', '/v1/transfers', 405],
      ['OPTIONS', '/v1/transfers', 405],
    ] as const) {
      const answer = await call(world.url + path, { method });
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get('ratelimit-limit'), '1000', `${method} ${path}`);
      const stranger = { authorization: 'Bearer svc_live_key1_wrong' };
      const other = await call(world.url + path, { method, headers: stranger });
      assert.deepEqual([other.status, other.headers.get('ratelimit-limit')], [status, null]);
    }
  });

  it('an unknown method is 405 if the path exists, and 404 elsewhere', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'QUERY']) {
      const allowed = /^HTTP\/1\.1 405 [^]*\r\nAllow: POST, GET, HEAD\r\n/;
      assert.match(await raw(`${method} /v1/transfers`), allowed, method);
      assert.match(await raw(`${method} /v1/nothing`), /^HTTP\/1\.1 404 /, method);
    }
  });

  it('a path with malformed percent-encoding is 404 for every token and method', async () => {
    for (const method of ['GET', 'PUT'])
      for (const path of ['/v1/transfers/%zz', '/v1/transfers/%', '/v1/transfers/%C3/approve'])
        assert.equal(
          (await call(world.url + path, { method, headers: { authorization: null } })).status,
          404,
          path,
        );
  });

  it('the target is used as sent: neither # nor a backslash ends or divides its path', async () => {
    for (const [target, status] of [
      ['/v1/transfers#x', 404],
      ['/v1\\transfers', 404],
      ['/v1/transfers\\', 404],
      ['/v1/x/../transfers', 404],
      ['/v1/./transfers', 404],
      ['http://elsewhere/v1/transfers', 200],
      ['HTTPS://elsewhere:1/v1/transfers?limit=1', 200],
    ] as const)
      assert.match(await raw(`GET ${target}`), new RegExp(`^HTTP/1\\.1 ${status} `), target);
  });

  it('a path that differs from a route in any character is 404', async () => {
    for (const path of [
      ...['/v1/Transfers', '/v1/transfers/', '/v1//transfers', '/v1/transfers%2F', '/'],
      ...['/v1/transfers/a/b'],
    ])
      assert.equal((await call(`${world.url}${path}`)).status, 404, path);
  });

  const REFUSED_TOKENS: readonly [name: string, authorization: string | null][] = [
    ['no token', null],
    ['another scheme', `Basic ${TOKEN}`],
    ['no token after the scheme', 'Bearer '],
    ['two words', `Bearer ${TOKEN} more`],
    ['a token that is not known', 'Bearer svc_live_key1_wrong'],
  ];
  it('a missing, malformed or unknown token is 401 unauthorized before the body is checked', async () => {
    for (const [name, authorization] of REFUSED_TOKENS) {
      const answer = await postJson(`${world.url}/v1/transfers?x=1`, '{', { authorization });
      assert.equal(answer.status, 401, name);
      assert.equal(answer.json().error.code, 'unauthorized');
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      assert.equal(answer.headers.get('ratelimit-limit'), null);
    }
  });

  it('401 insufficient_scope comes before the idempotency header, with the rate headers of a valid token', async () => {
    const answer = await postJson(`${world.url}/v1/transfers`, '{', {
      authorization: 'Bearer svc_live_reader_x',
    });
    assert.equal(answer.status, 401);
    assert.equal(answer.json().error.code, 'insufficient_scope');
    assert.match(answer.json().error.message, /transfers/);
    assert.equal(answer.headers.get('ratelimit-limit'), '1000');
  });

  it('429 comes after the scope check and before every check of the request', async () => {
    const headers = { authorization: 'Bearer svc_live_spent_x' };
    for (const remaining of ['1', '0']) {
      const allowed = await call(`${world.url}/v1/accounts/lookup`, { headers });
      assert.equal(allowed.status, 200);
      assert.equal(allowed.headers.get('ratelimit-remaining'), remaining);
    }
    const refused = await call(`${world.url}/v1/accounts/lookup?x=1`, { headers });
    assert.equal(refused.status, 429);
    assert.equal(refused.json().error.code, 'rate_limited');
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal(refused.headers.get('ratelimit-limit'), '2');
    assert.equal(refused.headers.get('ratelimit-remaining'), '0');
    const others = await call(`${world.url}/v1/transfers`, { headers });
    assert.equal(others.status, 200, 'a class of its own has a bucket of its own');
  });

  it('400 for a missing or malformed key comes before 415 and the body', async () => {
    const missing = await call(`${world.url}/v1/transfers`, { method: 'POST', body: 'x' });
    assert.equal(missing.status, 400);
    assert.equal(missing.json().error.code, 'missing_idempotency_key');
    const answer = await postJson(`${world.url}/v1/transfers`, '{', { 'idempotency-key': 'one' });
    const { details } = answer.json().error;
    assert.deepEqual([details?.field, details?.reason], ['Idempotency-Key', 'not_a_uuid']);
  });

  it('a 400 comes before the 404 of a path id that is not a UUID', async () => {
    assert.equal((await call(`${world.url}/v1/transfers/one?x=1`)).status, 400);
    const answer = await call(`${world.url}/v1/transfers/one`);
    assert.equal(answer.status, 404);
    const unknown = await call(`${world.url}/v1/nothing`);
    assert.equal(answer.text, unknown.text);
  });

  it('every response has its own request id and the static security headers', async () => {
    const answers = [
      await call(`${world.url}/v1/transfers`, { headers: { 'svc-request-id': 'mine' } }),
      await call(`${world.url}/v1/transfers`, { headers: { authorization: null } }),
      await call(`${world.url}/v1/nothing`),
      await call(`${world.url}/v1/transfers`, { method: 'HEAD' }),
      await call(`${world.url}/v1/transfers/x`, { method: 'DELETE' }),
      await call(`${world.url}/docs`),
    ];
    const ids = answers.map(({ headers }) => headers.get('svc-request-id') ?? '');
    for (const id of ids) assert.match(id, UUID_PATTERN);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 401, 404, 200, 204, 200],
    );
    for (const { headers } of answers.slice(0, 4)) {
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  it('HEAD answers as GET does, without the body', async () => {
    const got = await call(`${world.url}/v1/transfers`);
    const head = await call(`${world.url}/v1/transfers`, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal(head.headers.get('content-length'), got.headers.get('content-length'));
  });
});
