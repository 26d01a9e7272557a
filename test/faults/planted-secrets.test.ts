import assert from 'node:assert/strict';
import { payoutBody } from '../payouts/support.js';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import { EXAMPLE } from '../../src/http/zod.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  object,
  openBank,
  transferBody,
} from '../helpers/bank.js';
import { resolved } from '../helpers/described.js';
import { testDatabase } from '../helpers/database.js';
import { Proxy } from '../helpers/proxy.js';

const db = await testDatabase();
const lines: string[] = [];
const proxy = await Proxy.open(db.url);
const api = await startTestApi(
  { url: proxy.through(db.url) },
  { LOG_LEVEL: 'debug', COMMAND_TIMEOUT_MS: '5000' },
  { log: { write: (line) => void lines.push(line) } },
);
const bank = await openBank(api);

describe('secrets and personal data in requests', () => {
  const planted = new Map<string, string>();
  /** Every error that was answered. */
  const errors: string[] = [];

  /** A value that occurs nowhere else, to be searched for. */
  function plant(what: string, prefix = ''): string {
    const value = `${prefix}${randomBytes(9).toString('hex')}`;
    planted.set(what, value.slice(prefix.length));
    return value;
  }

  /** The ending decides what the simulated rail does; 50 has no meaning. */
  function plantPhone(ending = '50'): string {
    const phone = `300${randomInt(10_000, 99_999)}${ending}`;
    planted.set(`the phone ${planted.size}`, phone);
    return phone;
  }

  after(async () => {
    await proxy.close();
  });

  const ask = async (...request: Parameters<Bank['request']>): Promise<TestAnswer> => {
    const answer = await bank.request(...request);
    if (answer.status >= 400) errors.push(answer.text);
    return answer;
  };

  const declared = (what: string): object => ({
    ...VERIFICATION,
    legal_name: plant(`${what} legal name`),
    document_number: plant(`${what} document`, 'D-'),
  });

  async function goodRequests(): Promise<void> {
    const name = plant('a name', 'Zoe ');
    const phone = `+57${plantPhone()}`;
    const from = await bank.account({ name, phone, funds: { COPM: 100n * LEAST } });
    const to = await bank.account({ isVerified: false });
    const description = plant('a description');
    const metadata = { note: plant('a value of metadata') };
    answered(
      await ask('POST', '/v1/transfers', {
        body: transferBody({ from, to, raw: LEAST, description, metadata }),
      }),
      201,
    );
    answered(await ask('PUT', `/v1/accounts/${to.id}/verification`, { body: declared('a') }), 200);
    answered(await ask('GET', `/v1/accounts/lookup?phone=${encodeURIComponent(phone)}`), 200);
    answered(
      await ask('GET', `/v1/accounts/${from.id}`, { headers: { 'x-note': plant('a header') } }),
      200,
    );
  }

  /** Every text that a body may hold, by the document. */
  async function everyText(): Promise<void> {
    const { json: document } = await api.request('GET', '/openapi.json');
    const from = await bank.account({ funds: { COPM: 100n * LEAST } });
    const to = await bank.account();
    const own = new Map<unknown, unknown>([
      [EXAMPLE.source, from.id],
      [EXAMPLE.destination, to.id],
    ]);
    const { properties: known } = resolved(document, {
      $ref: '#/components/schemas/CreateTransfer',
    });
    const { pattern: text } = object(object(known).description);
    const fill = (schema: Json, example: unknown, what: string): unknown => {
      const { properties, pattern } = resolved(document, schema);
      if (pattern === text) return plant(what);
      if (properties === undefined || example === undefined) return own.get(example) ?? example;
      const fields = Object.entries(object(properties)).map(([name, field]) => [
        name,
        fill(object(field), object(example)[name], `${what} ${name}`),
      ]);
      return Object.fromEntries(fields);
    };
    for (const [path, operations] of Object.entries(object(document.paths)))
      for (const [method, operation] of Object.entries(object(operations))) {
        const { content } = object(object(operation).requestBody ?? {});
        const { schema, example } = object(object(content ?? {})['application/json'] ?? {});
        if (schema === undefined) continue;
        const body = fill(object(schema), example, `${method} ${path}`);
        await ask(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, from.id), { body });
      }
  }

  async function refusedRequests(): Promise<void> {
    const [from, to] = [await bank.account(), await bank.account()];
    const body = (what: string): object =>
      transferBody({ from, to, raw: LEAST, description: plant(`the description of ${what}`) });
    const key = randomUUID();
    for (const sent of [
      { body: body('what has no funds') },
      { body: body('a first body'), key },
      { body: body('a second body'), key },
      { body: `{"description":"${plant('JSON that is cut off')}` },
      { body: `${plant('what is no JSON')} {}` },
      { body: { ...body('an unknown field'), colour: plant('an unknown value') } },
      { body: { source_account: plant('a malformed id') } },
      {
        body: {
          metadata: {
            note: plant('a long value').padEnd(600, 'x'),
            'A b': plant('an unused value'),
          },
        },
      },
      { body: { amount: { raw: plant('an amount'), asset: plant('an asset') } } },
      { body: { description: `${plant('a control character')}\u0000` } },
      { body: { description: plant('a long text').padEnd(200, 'x') } },
      { body: body('a bad key'), key: plant('an idempotency key') },
      {
        body: body('another type'),
        headers: { 'content-type': `text/${plant('a content type')}` },
      },
      { body: body('a version'), headers: { 'svc-version': plant('a version') } },
      { body: plant('what is too large').padEnd(70_000, 'x') },
    ])
      await ask('POST', '/v1/transfers', sent);
    for (const path of [
      ...['phone', 'alias'].map((by) => `accounts/lookup?${by}=${plant(`a malformed ${by}`)}`),
      `transfers?limit=${plant('a limit')}&cursor=${plant('a cursor')}`,
      `transfers/${plant('an id in a path')}`,
      `${plant('a path')}?x=${plant('the query of an unknown path')}`,
    ])
      await ask('GET', `/v1/${path}`);
    await ask('DELETE', `/v1/events?x=${plant('the query of a wrong method')}`);
  }

  /** Destinations of money, and the parts of them that are never shown. */
  async function payouts(): Promise<void> {
    const from = await bank.account({ funds: { COPM: 10n * LEAST } });
    const body = (what: string, destination: object = {}): object =>
      payoutBody({
        from,
        description: plant(`the description of ${what}`),
        destination: {
          account_number: plant(`the account number of ${what}`),
          holder_name: plant(`the holder of ${what}`),
          holder_document: plant(`the document of ${what}`).toUpperCase(),
          ...destination,
        },
      });
    answered(await ask('POST', '/v1/payouts', { body: body('a payout') }), 201);
    await ask('POST', '/v1/payouts', {
      body: body('a malformed payout', { country: plant('a country') }),
    });
    await ask('POST', '/v1/payouts', {
      body: body('a payout without amount', { bank_code: plant('a bank') }),
    });
    const key = plantPhone();
    const seen = answered(await ask('GET', `/v1/payout_recipients?key=${key}`), 200).json;
    const toKey = (destination: object): Promise<TestAnswer> =>
      ask('POST', '/v1/payouts', {
        body: { ...payoutBody({ from }), destination: { type: 'bre_b_key', ...destination } },
      });
    answered(await toKey({ key, holder_check: seen.holder_check }), 201);
    answered(await toKey({ key: plant('a key', '@') }), 201);
    // Of the wrong length, unknown, unanswered, and with a check of another key.
    for (const other of [`${plantPhone()}${'1'.repeat(9)}`, `${plantPhone()}@`])
      await ask('GET', `/v1/payout_recipients?key=${other}`);
    for (const ending of ['08', '10'])
      await ask('GET', `/v1/payout_recipients?key=${plantPhone(ending)}`);
    await toKey({ key: plantPhone(), holder_check: seen.holder_check });
    await toKey({ key: plant('no key', '{') });
    await ask('POST', `/rails/${plant('a rail')}/callbacks`, { body: { id: plant('a callback') } });
    await ask('POST', '/rails/bank-a/callbacks', { body: { id: plant('another callback') } });
  }

  async function tokens(): Promise<void> {
    const token = await bank.issue(bank.tenant.owner, ['read']);
    planted.set('a token', token.slice(-40));
    planted.set('the own token', bank.token.slice(-40));
    await ask('GET', '/v1/events', { token });
    await ask('POST', '/v1/transfers', { token, body: {} });
    for (const wrong of [
      `svc_live_${'a'.repeat(16)}_${plant('a wrong secret')}`,
      plant('no token'),
      `svc_test_${plant('a test token')}`,
    ])
      await ask('GET', '/v1/events', { token: wrong });
    for (const authorization of [`Basic ${plant('basic authorization')}`, plant('a bare header')])
      errors.push((await api.request('GET', '/v1/events', { headers: { authorization } })).text);
    await ask('GET', `/v1/events?access_token=${plant('a token in a query')}`);
  }

  /** Requests that Node's parser refuses, and requests that end in the middle. */
  async function brokenHttp(): Promise<void> {
    const port = Number(new URL(api.baseUrl).port);
    for (const what of ['a broken request line', 'a broken header'])
      await new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        socket.on('data', (data) => errors.push(data.toString())).on('close', resolve);
        socket.end(
          what.endsWith('line')
            ? `GET /${plant(what)} nothing\r\n\r\n`
            : `GET / HTTP/1.1\r\n${plant(what)}\r\n\r\n`,
        );
      });
    await new Promise<void>((resolve) => {
      const sent = httpRequest(`${api.baseUrl}/v1/transfers`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${bank.token}`,
          'content-type': 'application/json',
          'content-length': '5000',
          'idempotency-key': randomUUID(),
        },
      });
      sent.on('error', () => resolve());
      sent.write(`{"description":"${plant('a body that ends in the middle')}`, () =>
        setTimeout(() => sent.destroy(), 50),
      );
    });
  }

  /** Our own faults: statements fail that hold what was sent. */
  async function faults(): Promise<void> {
    const [from, to] = [
      await bank.account({ funds: { COPM: 10n * LEAST } }),
      await bank.account({ isVerified: false }),
    ];
    const body = (what: string): object =>
      transferBody({ from, to, raw: LEAST, description: plant(what) });
    await db.sql('RENAME TABLE transfers TO gone_transfers, verifications TO gone_verifications');
    try {
      answered(
        await ask('POST', '/v1/transfers', { body: body('the description of a fault') }),
        503,
        'ledger_unavailable',
      );
      answered(await ask('GET', '/v1/transfers'), 500, 'internal_error');
      answered(
        await ask('PUT', `/v1/accounts/${to.id}/verification`, { body: declared('a faulty') }),
        500,
        'internal_error',
      );
    } finally {
      await db.sql('RENAME TABLE gone_transfers TO transfers, gone_verifications TO verifications');
    }
    proxy.refuse();
    answered(
      await ask('POST', '/v1/transfers', { body: body('what MySQL never saw') }),
      503,
      'ledger_unavailable',
    );
    answered(
      await ask('GET', `/v1/accounts/lookup?phone=${plantPhone()}`),
      503,
      'ledger_unavailable',
    );
    proxy.allow();
  }

  it('secrets and personal data of requests appear in no log line, metric or error body, even after a fault', async () => {
    await goodRequests();
    await everyText();
    await refusedRequests();
    await payouts();
    await tokens();
    await brokenHttp();
    await faults();
    const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text();
    assert(planted.size > 40, `${planted.size} values were planted`);
    assert(
      lines.length > 40 && errors.length > 25,
      `${lines.length} lines, ${errors.length} errors`,
    );
    assert(lines.some((line) => line.includes('a request failed because of an internal error')));
    assert.match(
      metrics,
      /http_request_duration_seconds_count\{method="POST",route="\/v1\/transfers",status="422"\}/,
    );
    for (const [where, text] of Object.entries({
      log: lines.join(''),
      metrics,
      errors: errors.join('\n'),
    })) {
      const found = [...planted].filter(([, value]) =>
        text.toLowerCase().includes(value.toLowerCase()),
      );
      assert.deepEqual(found, [], `found in the ${where}`);
    }
  });
});
