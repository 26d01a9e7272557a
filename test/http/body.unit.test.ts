import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { ASSETS } from '../../src/core/amount.js';
import { type Answered, call, postJson, startWorld } from './support.js';
import { A_KEY, asRequest, thingRoutes, VALID_BODY } from './routes.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

let seen: unknown[] = [];
const world = await startWorld({ routes: thingRoutes((request) => seen.push(request)) });

describe('the body of a request', () => {
  beforeEach(() => {
    seen = [];
  });
  after(() => world.server.stop(0));

  function post(body: unknown, headers: Record<string, string | null> = {}): Promise<Answered> {
    return postJson(`${world.url}/v1/transfers`, body, { 'idempotency-key': A_KEY, ...headers });
  }

  function problemsOf(answer: Answered): string[] {
    assert.equal(answer.status, 400, answer.text);
    const { details } = answer.json().error;
    return (details?.errors ?? []).map(({ code, field, reason }) => `${code} ${field} ${reason}`);
  }

  async function refusedWith(body: unknown, field: string, reason: string): Promise<void> {
    const answer = await post(body);
    assert.equal(answer.status, 400, answer.text);
    const { code, details } = answer.json().error;
    assert.deepEqual([code, details?.field, details?.reason], ['invalid_field', field, reason]);
    assert.equal(seen.length, 0);
  }

  const CONTENT_TYPES: readonly [type: string | null, status: number][] = [
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
    ['application/json; charset=utf8', 201],
    ['application/json; charset="UTF8"', 201],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf88', 415],
    ['application/json; charset=latin1', 415],
    ['application/json; boundary=x', 415],
    ['application/jsonx', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ];
  it('a body whose content type is not application/json, or whose charset is not UTF-8, is 415', async () => {
    for (const [type, status] of CONTENT_TYPES) {
      const answer = await post(VALID_BODY, { 'content-type': type });
      assert.equal(answer.status, status, `${type}`);
      if (status === 415) assert.equal(answer.json().error.code, 'unsupported_media_type');
    }
  });

  it('the refusal of a request without a body where one is needed names the body {}', async () => {
    const headers = { 'idempotency-key': A_KEY };
    const answer = await call(`${world.url}/v1/transfers`, { method: 'POST', headers });
    assert.equal(answer.status, 415);
    assert.match(answer.json().error.message, /application\/json.* the body is \{\}$/);
    const typed = await post('x', { 'content-type': 'text/plain' });
    assert.doesNotMatch(typed.json().error.message, /\{\}/);
  });

  it('a byte order mark before JSON is ignored, a second one is not', async () => {
    const text = JSON.stringify(VALID_BODY);
    assert.equal((await post(`\ufeff${text}`)).status, 201);
    for (const body of [`\ufeff\ufeff${text}`, '\ufeff', ` \ufeff${text}`])
      assert.equal((await post(body)).status, 400);
  });

  it('a compressed body is 415', async () => {
    const answer = await post(gzipSync(JSON.stringify(VALID_BODY)), { 'content-encoding': 'gzip' });
    assert.equal(answer.status, 415);
    assert.equal((await post(VALID_BODY, { 'content-encoding': 'identity' })).status, 201);
  });

  it('a body of 64 KiB is accepted, and one byte more is 413', async () => {
    const text = JSON.stringify(VALID_BODY);
    assert.equal((await post(text.padEnd(64 * 1024, ' '))).status, 201);
    const answer = await post(text.padEnd(64 * 1024 + 1, ' '));
    assert.equal(answer.status, 413);
    assert.equal(answer.json().error.code, 'body_too_large');
  });

  it('a body that is not JSON, not UTF-8 or not an object is refused with that reason', async () => {
    const NOT_JSON = ['', '{', '{"a":1,}', 'undefined', "{'a':1}", '{"raw":01}', 'NaN'];
    for (const text of NOT_JSON) await refusedWith(text, '', 'not_json');
    for (const bytes of [
      Buffer.from('{"description":"a\xe9"}', 'latin1'),
      Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from('\ufeff{"a":1}', 'utf16le'),
    ])
      await refusedWith(bytes, '', 'not_utf8');
    for (const text of ['[]', '"text"', 'null', '1', 'true'])
      await refusedWith(text, '', 'not_an_object');
  });

  it('a field of the wrong type has that problem alone, and none about its length', async () => {
    for (const events of ['', 'transfer.completed'])
      assert.deepEqual(problemsOf(await post({ ...VALID_BODY, events })), [
        'invalid_field events not_an_array',
      ]);
    for (const description of [[], Array.from({ length: 141 }, () => 1)])
      assert.deepEqual(problemsOf(await post({ ...VALID_BODY, description })), [
        'invalid_field description not_a_string',
      ]);
  });

  it('the keys __proto__ and constructor are refused at any depth', async () => {
    await refusedWith('{"__proto__":{"a":1}}', '__proto__', 'forbidden_name');
    await refusedWith('{"amount":{"constructor":1}}', 'amount.constructor', 'forbidden_name');
    await refusedWith('{"events":[{"__proto__":1}]}', 'events.0.__proto__', 'forbidden_name');
    await refusedWith('{"\\u005f_proto__":1}', '__proto__', 'forbidden_name');
    assert.equal(({} as { a?: number }).a, undefined);
  });

  it('a body of eight levels is read, one of nine is refused', async () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    assert.deepEqual(problemsOf(await post(nested(8))).at(-1), 'invalid_field a unknown');
    await refusedWith(nested(9), 'a.a.a.a.a.a.a.a', 'nested_too_deep');
  });

  it('a body of a thousand values is read, and a larger one is refused before parsing; commas in texts do not count', async () => {
    const keys = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`;
    const list = (count: number): string => `{"more":[${'1,'.repeat(count - 1)}1]}`;
    for (const body of [keys, list]) {
      assert.match(problemsOf(await post(body(1_000))).at(-1) ?? '', / unknown$/);
      await refusedWith(body(1_001), '', 'too_many_values');
    }
    const text = `",\\${','.repeat(2_000)}`;
    assert.equal(problemsOf(await post({ [text]: text })).at(-1), `invalid_field ${text} unknown`);
  });

  it('a body of tens of thousands of levels is refused with little processor time', async () => {
    const before = process.cpuUsage();
    const arrays = await post('['.repeat(32_000) + ']'.repeat(32_000));
    assert.equal(arrays.json().error.details?.reason, 'nested_too_deep');
    assert.equal((await post('['.repeat(65_000))).json().error.details?.reason, 'not_json');
    assert.equal((await post('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000))).status, 400);
    assert.equal((await post('['.repeat(100_000))).status, 413);
    assert.ok(process.cpuUsage(before).user < 2_000_000);
  });

  it('all problems of a body are listed in one response, led by the first problem', async () => {
    const answer = await post({
      source_account: 'one',
      destination: { type: 'bank', account_id: null },
      amount: { raw: '1.5', asset: 'EUR' },
      description: 'a'.repeat(141),
      events: [A_KEY, null],
      more: 1,
    });
    assert.deepEqual(problemsOf(answer), [
      'invalid_field source_account not_a_uuid',
      'invalid_field destination.type not_one_of: account',
      'missing_field destination.account_id required',
      'invalid_field amount.raw not_an_integer_string',
      `invalid_field amount.asset ${NO_ASSET}`,
      'invalid_field description too_long',
      'invalid_field events.1 not_a_uuid',
      'invalid_field more unknown',
    ]);
    assert.equal(answer.json().error.details?.field, 'source_account');
    assert.equal(answer.json().error.details?.reason, 'not_a_uuid');
  });

  it('a required field that is absent or null is missing_field', async () => {
    const answer = await post({ source_account: null, destination: { type: 'account' } });
    const { code, details = {} } = answer.json().error;
    assert.deepEqual([code, details.field], ['missing_field', 'source_account']);
    assert.equal('reason' in details, false);
    assert.deepEqual(problemsOf(answer), [
      'missing_field source_account required',
      'missing_field destination.account_id required',
      'missing_field amount required',
    ]);
  });

  it('null for a field that may be absent counts as absent', async () => {
    assert.equal((await post({ ...VALID_BODY, description: null })).status, 201);
    const { body } = asRequest(seen[0]) as { body: { description?: string } };
    assert.equal(body.description, undefined);
  });

  it('unknown fields of a body are refused at every depth', async () => {
    const answer = await post({
      ...VALID_BODY,
      a: 1,
      destination: { ...VALID_BODY.destination, b: 1 },
    });
    assert.deepEqual(problemsOf(answer), [
      'invalid_field destination.b unknown',
      'invalid_field a unknown',
    ]);
  });

  it('if an object repeats a key, the last value counts', async () => {
    const text = JSON.stringify(VALID_BODY).replace('"raw":"150000"', '"raw":"1","raw":"2"');
    assert.equal((await post(text)).status, 201);
    const { body } = asRequest(seen[0]) as { body: { amount: { raw: bigint } } };
    assert.equal(body.amount.raw, 2n);
  });

  it('a control character, a line separator or a lone surrogate in a text is refused', async () => {
    for (const text of ['a\\u0000', 'a\\nb', 'a\\u007f', '\\ud800', '\\udc00 x', '\\u2028']) {
      const body = JSON.stringify(VALID_BODY).replace('"Rent"', `"${text}"`);
      await refusedWith(body, 'description', 'control_character');
    }
  });

  it('hostile names in bodies are returned unchanged in valid JSON', async () => {
    for (const name of ['\ud800', '"', '\\', '\u2028', '<script>', 'a.b', '', 'x'.repeat(5_000)]) {
      const answer = await post({ ...VALID_BODY, [name]: 1 });
      assert.equal(answer.status, 400);
      assert.equal(answer.json().error.details?.field, name);
    }
  });

  it('an operation without a body accepts an empty one or an empty object, and refuses any other', async () => {
    const url = `${world.url}/v1/transfers/018f0000-0000-7000-8000-0000000000ff/approve`;
    const approve = (body?: string): Promise<Answered> => {
      const headers = { 'idempotency-key': A_KEY };
      return call(url, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
    };
    assert.equal((await approve()).status, 200);
    assert.equal((await approve('')).status, 200);
    for (const body of ['{}', ' {\n} \n', '\ufeff{}'])
      assert.equal((await approve(body)).status, 200, body);
    for (const body of ['[]', 'null', '{', '{"a":1}', '{}{}', '""', ' '])
      assert.deepEqual(problemsOf(await approve(body)), ['invalid_field  unexpected'], body);
    assert.equal((await approve('x'.repeat(70_000))).status, 413);
  });
});
