import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { ASSETS } from '../../src/core/amount.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, type Bank, type Json, LEAST, openBank, transferBody } from '../support/bank.js';
import { testDatabase } from '../support/database.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

const FUNDS = 100n * LEAST;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('POST /v1/transfers: a malformed request', () => {
  let payer: Account;
  let receiver: Account;
  let good: Json;

  before(async () => {
    payer = await bank.account({ funds: { COPM: FUNDS } });
    receiver = await bank.account();
    good = transferBody({ from: payer, to: receiver, raw: LEAST });
  });

  // Nothing is lost and nothing is kept by what was refused.
  afterEach(async () => {
    assert.deepEqual([await bank.available(payer), await bank.available(receiver)], [FUNDS, 0n]);
    assert.deepEqual((await bank.get('/v1/transfers')).json.items, []);
  });

  const post = (body: unknown, options: Parameters<Bank['request']>[2] = {}): Promise<TestAnswer> =>
    bank.request('POST', '/v1/transfers', { body, ...options });

  /** The good body with the field of this dotted name set, or taken away. */
  function changed(field: string, value: unknown): Json {
    const body = structuredClone(good) as Record<string, unknown>;
    const names = field.split('.');
    const last = names.pop()!;
    let inner = body;
    for (const name of names) inner = inner[name] as Record<string, unknown>;
    if (value === undefined) delete inner[last];
    else inner[last] = value;
    return body;
  }

  /** The error of one problem, with the Error object's whole shape. */
  function assertProblem(answer: TestAnswer, code: string, field: string, reason: string): void {
    answered(answer, 400, code);
    const { error, ...others } = answer.json as { error: Record<string, unknown> };
    assert.deepEqual(others, {});
    assert.deepEqual(Object.keys(error).sort(), ['code', 'details', 'doc_url', 'message']);
    assert.equal(error.doc_url, `http://127.0.0.1:8080/docs/conceptos/errores#${code}`);
    assert.deepEqual(answer.details, {
      field,
      ...(code === 'missing_field' ? {} : { reason }),
      errors: [{ code, field, reason }],
    });
  }

  it('POST /v1/transfers: a malformed request with hundreds of wrong fields is answered with the first fifty', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`extra_${index}`, index]),
    );
    const answer = answered(await post({ ...good, ...unknown }), 400, 'invalid_field');
    assert.equal((answer.details?.errors as unknown[]).length, 50);
    assert.ok(answer.text.length < 10_000);
  });

  const REQUIRED = [
    'source_account',
    'destination',
    'destination.type',
    'destination.account_id',
    'amount',
    'amount.raw',
    'amount.asset',
  ];

  for (const field of REQUIRED)
    it(`POST /v1/transfers: a malformed request without ${field}, or with null for it, is 400 missing_field {field: "${field}"}`, async () => {
      for (const value of [undefined, null])
        assertProblem(await post(changed(field, value)), 'missing_field', field, 'required');
    });

  const UUID = 'not_a_uuid';
  const MALFORMED: readonly (readonly [field: string, value: unknown, reason: string])[] = [
    ['source_account', 'x', UUID],
    ['source_account', '', UUID],
    ['source_account', 5, UUID],
    ['source_account', '{018f0000-0000-7000-8000-000000000001}', UUID],
    ['source_account', '018f000000007000800000000000000a', UUID],
    ['destination.account_id', ' 018f0000-0000-7000-8000-000000000001', UUID],
    ['destination.account_id', ['018f0000-0000-7000-8000-000000000001'], UUID],
    ['destination', 'account', 'not_an_object'],
    ['destination', [], 'not_an_object'],
    ['destination.type', 'bank_account', 'not_one_of: account'],
    ['destination.type', 'Account', 'not_one_of: account'],
    ['destination.type', 'alias', 'not_one_of: account'],
    ['amount', '100000', 'not_an_object'],
    ['amount.asset', 'USD', NO_ASSET],
    ['amount.asset', 'copm', NO_ASSET],
    ['amount.asset', 0, NO_ASSET],
    ['description', 7, 'not_a_string'],
    ['description', {}, 'not_a_string'],
    ['description', 'a\u0000b', 'control_character'],
    ['description', 'a\nb', 'control_character'],
    ['description', 'a\u007fb', 'control_character'],
    ['description', 'a\u0085b', 'control_character'],
    ['description', 'a\ud800b', 'control_character'],
    ['colour', 'red', 'unknown'],
    ['fee', { raw: '0', asset: 'COPM' }, 'unknown'],
    ['destination.alias', '$ana', 'unknown'],
    ['amount.scale', 2, 'unknown'],
  ];

  for (const [field, value, reason] of MALFORMED)
    it(`POST /v1/transfers: a malformed request with ${field} ${JSON.stringify(value)} is 400 invalid_field {reason: "${reason}"}`, async () => {
      assertProblem(await post(changed(field, value)), 'invalid_field', field, reason);
    });

  it('POST /v1/transfers: a malformed request whose destination is its source is 400 same_as_source, however the ids are spelled', async () => {
    for (const id of [payer.id, payer.id.toUpperCase()])
      assertProblem(
        await post(changed('destination.account_id', id)),
        'invalid_field',
        'destination.account_id',
        'same_as_source',
      );
  });

  it('POST /v1/transfers: a malformed request is answered with every problem at once; the first one leads', async () => {
    const body = {
      destination: { type: 'card', account_id: 'x' },
      amount: { raw: 1.5 },
      description: 'a\tb',
      memo: '',
    };
    const answer = answered(await post(body), 400, 'missing_field');
    const invalid = (field: string, reason: string): Json => ({
      code: 'invalid_field',
      field,
      reason,
    });
    const missing = (field: string): Json => ({ code: 'missing_field', field, reason: 'required' });
    assert.deepEqual(answer.details, {
      field: 'source_account',
      errors: [
        missing('source_account'),
        invalid('destination.type', 'not_one_of: account'),
        invalid('destination.account_id', UUID),
        invalid('amount.raw', 'not_an_integer_string'),
        missing('amount.asset'),
        invalid('description', 'control_character'),
        invalid('memo', 'unknown'),
      ],
    });
  });

  const NO_OBJECT: readonly (readonly [what: string, body: string, reason: string])[] = [
    ['nothing', '', 'not_json'],
    ['cut off', '{"source_account":"', 'not_json'],
    ['with a comma too many', '{"a":1,}', 'not_json'],
    ['with single quotes', "{'a':1}", 'not_json'],
    ['NaN', '{"amount":NaN}', 'not_json'],
    ['behind a byte order mark', '\ufeff{}', 'not_json'],
    ['an array', '[]', 'not_an_object'],
    ['a text', '"x"', 'not_an_object'],
    ['a number', '1', 'not_an_object'],
    ['null', 'null', 'not_an_object'],
  ];

  for (const [what, body, reason] of NO_OBJECT)
    it(`POST /v1/transfers: a malformed request whose body is ${what} is 400 invalid_field {field: ""}`, async () => {
      assertProblem(await post(body), 'invalid_field', '', reason);
    });

  it('POST /v1/transfers: a malformed request with prototype keys at any depth is 400, and nothing reaches an object', async () => {
    for (const name of ['__proto__', 'constructor'])
      for (const [prefix, body] of [
        ['', `{"${name}":{"polluted":true},${JSON.stringify(good).slice(1)}`],
        ['amount.', JSON.stringify(good).replace('"raw":', `"${name}":{"polluted":true},"raw":`)],
      ] as const) {
        const answer = answered(await post(body), 400, 'invalid_field');
        assert.deepEqual(
          [answer.details?.field, answer.details?.reason],
          [`${prefix}${name}`, 'forbidden_name'],
        );
      }
    assert.equal(({} as Json).polluted, undefined);
  });

  it('POST /v1/transfers: a malformed request nested over eight levels is 400, however deep', async () => {
    const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    answered(await post(nested(8)), 400, 'missing_field');
    for (const depth of [9, 5_000]) {
      const answer = answered(await post(nested(depth)), 400, 'invalid_field');
      assert.equal(answer.details?.reason, 'nested_too_deep');
    }
    assert.equal(
      answered(await post('['.repeat(60_000)), 400, 'invalid_field').details?.reason,
      'not_json',
    );
  });

  it('POST /v1/transfers: a malformed request over 64 KiB is 413 body_too_large, be its length announced or not', async () => {
    const body = JSON.stringify({ ...good, description: 'x'.repeat(64 * 1024) });
    answered(await post(body), 413, 'body_too_large');
    const { status } = await raw([], body, { chunked: true });
    assert.equal(status, 413);
  });

  it('POST /v1/transfers: a malformed request that is not application/json in UTF-8 is 415 unsupported_media_type', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'x',
    ])
      answered(
        await post(good, { headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
      );
    answered(
      await post(good, { headers: { 'content-encoding': 'gzip' } }),
      415,
      'unsupported_media_type',
    );
  });

  it('POST /v1/transfers: a malformed request that is not UTF-8 is 400', async () => {
    const latin1 = Buffer.from(JSON.stringify({ ...good, description: 'Café' }), 'latin1');
    const { status, text } = await raw([], latin1);
    assert.deepEqual([status, text.includes('not_utf8')], [400, true]);
  });

  it('POST /v1/transfers: a malformed request without Idempotency-Key is 400 missing_idempotency_key, and with anything but a UUID 400 invalid_field', async () => {
    answered(await post(good, { key: null }), 400, 'missing_idempotency_key');
    for (const key of ['x', '', randomUUID().slice(1), `${randomUUID()}, ${randomUUID()}`])
      assertProblem(await post(good, { key }), 'invalid_field', 'Idempotency-Key', 'not_a_uuid');
  });

  it('POST /v1/transfers: a malformed request with a repeated header that must be unique is refused', async () => {
    for (const [name, value, status] of [
      ['Idempotency-Key', randomUUID(), 400],
      ['Content-Type', 'application/json', 400],
      ['Svc-Version', '2026-11-01', 400],
      ['Host', 'localhost', 400],
      ['Authorization', `Bearer ${bank.token}`, 401],
    ] as const) {
      const twice = name === 'Svc-Version' ? [name, value, name, value] : [name, value];
      const answer = await raw(twice, JSON.stringify(good));
      assert.equal(answer.status, status, name);
      assert.match(answer.text, /"doc_url"/);
    }
  });

  it('POST /v1/transfers: a malformed request with a version that is not known, or with a query, is 400', async () => {
    answered(await post(good, { headers: { 'svc-version': '2020-01-01' } }), 400, 'invalid_field');
    const answer = await bank.request('POST', '/v1/transfers?dry_run=true', { body: good });
    assertProblem(answer, 'invalid_field', 'dry_run', 'unknown');
  });

  it('POST /v1/transfers: a malformed request has a request id and an Error object whatever was wrong with it', async () => {
    for (const answer of [
      await post('{'),
      await post(good, { key: null }),
      await post(good, { headers: { 'content-type': 'text/plain' } }),
      await post('x'.repeat(70_000)),
      await bank.request('DELETE', '/v1/transfers'),
      await bank.request('POST', '/v1/transfers/', { body: good }),
      await bank.request('POST', '/V1/transfers', { body: good }),
    ]) {
      assert.match(answer.headers.get('svc-request-id') ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(typeof answer.code, 'string', answer.text);
    }
  });

  /** One request with headers as they are, each as often as it is given, beside the usual ones. */
  function raw(
    headers: readonly string[],
    body: string | Buffer,
    { chunked = false }: { chunked?: boolean } = {},
  ): Promise<{ status: number; text: string }> {
    const usual = [
      'Host',
      'localhost',
      'Authorization',
      `Bearer ${bank.token}`,
      'Content-Type',
      'application/json',
    ];
    const length = chunked
      ? ['Transfer-Encoding', 'chunked']
      : ['Content-Length', String(Buffer.byteLength(body))];
    return new Promise((resolve, reject) => {
      const sent = httpRequest(`${api.baseUrl}/v1/transfers`, {
        method: 'POST',
        headers: [...usual, ...length, 'Idempotency-Key', randomUUID(), ...headers],
      });
      sent.on('error', reject).on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      });
      sent.end(body);
    });
  }
});
