import assert from 'node:assert/strict';
import { asUuid } from '../../src/core/ids.js';
import {
  bodyOfRaw,
  call,
  callerWith,
  postJson,
  rawHead,
  sendRaw,
  startWorld,
  TOKEN,
} from './support.js';
import { A_KEY, asRequest, thingRoutes, VALID_BODY } from './routes.js';

const OTHER_MEMBERS = 'svc_live_key2_secret';

let seen: unknown[] = [];
const world = await startWorld({
  routes: thingRoutes((request) => seen.push(request)),
  authenticate: (token) =>
    token === OTHER_MEMBERS ? callerWith({ memberId: asUuid(A_KEY) }) : callerWith(),
});

describe('the headers of a request', () => {
  beforeEach(() => {
    seen = [];
  });
  after(() => world.server.stop(0));

  const body = JSON.stringify(VALID_BODY);
  const usual = [
    'Content-Type: application/json',
    `Idempotency-Key: ${A_KEY}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];

  const post = (...lines: readonly string[]): Promise<string> =>
    sendRaw(world.port, rawHead('POST /v1/transfers HTTP/1.1', ...lines, ...usual) + body);
  const get = (...lines: readonly string[]): Promise<string> =>
    sendRaw(world.port, rawHead('GET /v1/transfers HTTP/1.1', ...lines, 'Connection: close'));

  it('a repeated Authorization is 401, even with the same token', async () => {
    for (const name of ['Authorization', 'AUTHORIZATION']) {
      const answer = await post(`${name}: Bearer ${TOKEN}`);
      assert.match(answer, /^HTTP\/1.1 401 /);
      assert.equal(bodyOfRaw(answer).error.code, 'unauthorized');
    }
  });

  it('a repeated header is detected even with many other headers in between', async () => {
    const others = Array.from({ length: 1_100 }, () => 'a:');
    const answer = await get(...others, `Authorization: Bearer ${TOKEN}`);
    assert.match(answer, /^HTTP\/1.1 401 /);
    assert.match(bodyOfRaw(answer).error.message, /more than once/);
  });

  for (const [field, line] of [
    ['Idempotency-Key', `idempotency-key: ${A_KEY}`],
    ['Content-Type', 'content-type: application/json'],
    ['Host', 'host: localhost'],
    ['Svc-Version', 'Svc-Version: 2026-11-01\r\nSvc-Version: 2026-11-01'],
  ] as const)
    it(`a repeated ${field} is 400`, async () => {
      const answer = await post(line);
      assert.match(answer, /^HTTP\/1.1 400 /);
      assert.match(answer, /svc-request-id: /i);
      const { code, details } = bodyOfRaw(answer).error;
      assert.deepEqual(
        [code, details?.field, details?.reason],
        ['invalid_field', field, 'repeated'],
      );
      assert.equal(seen.length, 0);
    });

  it('a repeated Content-Length is 400 with an Error object', async () => {
    const answer = await post(`Content-Length: ${Buffer.byteLength(body)}`);
    assert.match(answer, /^HTTP\/1.1 400 /);
    assert.match(answer, /Svc-Request-Id: [0-9a-f-]{36}/);
    assert.equal(bodyOfRaw(answer).error.code, 'invalid_field');
  });

  it('a request of HTTP/1.1 without Host is 400, after the token check', async () => {
    const without = `GET /v1/transfers HTTP/1.1\r\nConnection: close\r\n`;
    assert.match(await sendRaw(world.port, `${without}\r\n`), /^HTTP\/1.1 401 /);
    const answer = await sendRaw(world.port, `${without}Authorization: Bearer ${TOKEN}\r\n\r\n`);
    assert.match(answer, /^HTTP\/1.1 400 /);
    assert.equal(bodyOfRaw(answer).error.details?.field, 'Host');
  });

  it('a known version is accepted, and an unknown one is 400', async () => {
    for (const version of ['2026-11-01', '2026-11-02', '', 'latest']) {
      const headers = { 'svc-version': version };
      const answer = await call(`${world.url}/v1/transfers`, { headers });
      assert.equal(answer.status, version === '2026-11-01' ? 200 : 400, version);
      if (answer.status === 400)
        assert.equal(answer.json().error.details?.reason, 'not_one_of: 2026-11-01');
    }
  });

  it('two faulty headers are reported together', async () => {
    const answer = await get('Host: b', 'Svc-Version: x');
    const fields = bodyOfRaw(answer).error.details?.errors?.map(({ field }) => field);
    assert.deepEqual(fields, ['Host', 'Svc-Version']);
  });

  const keyed = (key: string): ReturnType<typeof call> =>
    postJson(`${world.url}/v1/transfers`, VALID_BODY, { 'idempotency-key': key });

  it('an idempotency key is a UUID in any case, in quotation marks or not; anything else is malformed', async () => {
    for (const key of [
      ...['', 'abc', `${A_KEY}0`, A_KEY.replaceAll('-', ''), `{${A_KEY}}`],
      ...[`"${A_KEY}`, `""${A_KEY}""`, '""'],
    ]) {
      const answer = await keyed(key);
      assert.equal(answer.status, 400, key);
      const { code, details } = answer.json().error;
      assert.deepEqual([code, details?.field], ['invalid_field', 'Idempotency-Key']);
    }
    for (const key of [`"${A_KEY}"`, `"${A_KEY.toUpperCase()}"`, A_KEY.toUpperCase()]) {
      assert.equal((await keyed(key)).status, 201, key);
      assert.equal(asRequest(seen.pop()).idempotency?.key, A_KEY);
    }
  });

  it('a malformed idempotency key is ignored if no key is required', async () => {
    const answer = await call(`${world.url}/v1/transfers`, { headers: { 'idempotency-key': 'x' } });
    assert.equal(answer.status, 200);
  });

  async function digestOf(sent: unknown, path = '/v1/transfers', token = TOKEN): Promise<string> {
    const headers = { 'idempotency-key': A_KEY, authorization: `Bearer ${token}` };
    const answer =
      sent === null
        ? await call(world.url + path, { method: 'POST', headers })
        : await postJson(world.url + path, sent, headers);
    assert.ok(answer.status < 300, answer.text);
    return asRequest(seen.pop()).idempotency?.fingerprint.digest.toString('hex') ?? '';
  }

  it('the fingerprint of a JSON body is the same for the same JSON in another order and spelling', async () => {
    const spelled = `{ "description": "R\\u0065nt", "amount": {"asset":"COPM", "raw":"150000"},
        "destination": {"account_id":"${VALID_BODY.destination.account_id}","type":"account"},
        "source_account": "${VALID_BODY.source_account}" }`;
    assert.equal(await digestOf(spelled), await digestOf(VALID_BODY));
  });

  it('the fingerprint of a JSON body is of the validated body: null is an omitted field, and ids may be in any case', async () => {
    const { description: _, ...without } = VALID_BODY;
    assert.equal(await digestOf({ ...without, description: null }), await digestOf(without));
    const upper = { ...VALID_BODY, source_account: VALID_BODY.source_account.toUpperCase() };
    assert.equal(await digestOf(upper), await digestOf(VALID_BODY));
  });

  it('the fingerprint of a JSON body changes with any value and with any added or removed field', async () => {
    const first = await digestOf(VALID_BODY);
    const others = [
      { ...VALID_BODY, description: null },
      { ...VALID_BODY, description: 'null' },
      { ...VALID_BODY, description: '' },
      { ...VALID_BODY, description: 'rent' },
      { ...VALID_BODY, amount: { raw: '150001', asset: 'COPM' } },
    ];
    for (const other of others) assert.notEqual(await digestOf(other), first);
  });

  it('the fingerprint of a JSON body includes the path, so the same key on another resource is a different request', async () => {
    const approve = (id: string): string =>
      `/v1/transfers/018f0000-0000-7000-8000-0000000000${id}/approve`;
    assert.notEqual(await digestOf(null, approve('01')), await digestOf(null, approve('02')));
    assert.equal(await digestOf(null, approve('ab')), await digestOf(null, approve('AB')));
  });

  it('the fingerprint of a JSON body includes the member only if the operation is bound to a member', async () => {
    const approve = '/v1/transfers/018f0000-0000-7000-8000-000000000001/approve';
    assert.notEqual(await digestOf(null, approve), await digestOf(null, approve, OTHER_MEMBERS));
    assert.equal(
      await digestOf(VALID_BODY),
      await digestOf(VALID_BODY, '/v1/transfers', OTHER_MEMBERS),
    );
  });
});
