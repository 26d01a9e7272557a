import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  ApiError,
  ConnectionError,
  isMoneyError,
  MoneyClient,
  type MoneyError,
  UnexpectedAnswerError,
  UnknownResultError,
} from '../../packages/client/src/index.js';
import { freePorts, listenAt } from '../helpers/service-process.js';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly version: string | undefined;
  readonly body: string;
}

type Act = (response: ServerResponse) => void;

const TRANSFER = {
  id: 'x',
  status: 'completed',
  amount: { raw: '9223372036854775807', asset: 'COPM' },
};
const answer =
  (status: number, json: unknown, headers: Record<string, string> = {}): Act =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(json));
const refuse = (status: number, code: string, details?: object, headers = {}): Act =>
  answer(
    status,
    { error: { code, message: 'm', doc_url: 'd', ...(details === undefined ? {} : { details }) } },
    headers,
  );
const cut: Act = (response) => void response.destroy();
/** Answers a head that announces more, and ends. */
const halfAnAnswer: Act = (response) => {
  response.writeHead(201, { 'content-length': '1000' });
  response.write('{"id":');
  setImmediate(() => response.destroy());
};
const unavailable = refuse(503, 'ledger_unavailable');

describe('a call of the client', () => {
  let server: Server;
  let baseUrl: string;
  let seen: Seen[];
  let acts: Act[];

  before(async () => {
    server = createServer((request, response) => {
      void record(request).then(() => (acts.length > 1 ? acts.shift() : acts[0])?.(response));
    });
    baseUrl = `http://127.0.0.1:${await listenAt(server)}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    seen = [];
    acts = [];
  });

  async function record(request: IncomingMessage): Promise<void> {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += String(piece);
    const key = request.headers['idempotency-key']?.toString();
    const version = request.headers['svc-version']?.toString();
    seen.push({ method: request.method ?? '', url: request.url ?? '', key, version, body });
  }

  const client = (patienceMs = 5_000): MoneyClient =>
    new MoneyClient({ baseUrl, token: 't', patienceMs });
  const body = {
    source_account: 'a',
    destination: { type: 'account', account_id: 'b' },
    amount: { raw: 9_223_372_036_854_775_807n, asset: 'COPM' },
  } as const;

  /** The error that the call throws, which is one of the client's. */
  async function failure(call: Promise<unknown>): Promise<MoneyError> {
    const error: unknown = await call.then(
      (value) => assert.fail(JSON.stringify(value)),
      (thrown: unknown) => thrown,
    );
    assert.ok(isMoneyError(error), String(error));
    return error;
  }

  it('sends the version of the client, if it has one', async () => {
    acts = [answer(200, TRANSFER)];
    await client().getTransfer('x');
    await new MoneyClient({ baseUrl, token: 't', version: '2026-11-01' }).getTransfer('x');
    assert.deepEqual(
      seen.map(({ version }) => version),
      [undefined, '2026-11-01'],
    );
  });

  for (const [what, act] of Object.entries({
    'a 503': unavailable,
    'a cut connection': cut,
    'half a response': halfAnAnswer,
  }))
    it(`is retried with the same key and body after ${what}`, async () => {
      acts = [act, act, answer(200, TRANSFER)];
      const transfer = await client().createTransfer(body);
      assert.equal(transfer.amount.raw, 9_223_372_036_854_775_807n);
      assert.equal(seen.length, 3);
      assert.equal(new Set(seen.map(({ key, body: sent }) => `${key} ${sent}`)).size, 1);
      assert.match(seen[0]?.key ?? '', /^[0-9a-f-]{36}$/);
      assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
        ...body,
        amount: { raw: '9223372036854775807', asset: 'COPM' },
      });
    });

  it('uses a new idempotency key, or the key that its caller passes', async () => {
    acts = [answer(201, TRANSFER)];
    await client().createTransfer(body);
    await client().createTransfer(body);
    await client().createTransfer(body, { idempotencyKey: 'mine' });
    assert.notEqual(seen[0]?.key, seen[1]?.key);
    assert.equal(seen[2]?.key, 'mine');
  });

  it('that exceeds its time limit reports that the result is unknown, with the key for retrying', async () => {
    acts = [unavailable];
    const error = await failure(client(300).createTransfer(body));
    assert.ok(error instanceof UnknownResultError);
    assert.equal(error.idempotencyKey, seen[0]?.key);
    assert.match(error.message, /createTransfer is UNKNOWN.*idempotency key [0-9a-f-]{36}/);
    assert.ok(error.cause instanceof ApiError);
  });

  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'authority_insufficient'],
    [404, 'not_found'],
    [409, 'invalid_state'],
    [422, 'quota_exceeded'],
  ] as const)
    it(`trusts ${code} of its first attempt, but not after an attempt that may have acted`, async () => {
      acts = [refuse(status, code)];
      assert.equal((await failure(client().createTransfer(body))).code, code);
      acts = [cut, refuse(status, code)];
      assert.equal((await failure(client().createTransfer(body))).code, 'result_unknown');
    });

  it('with a given key trusts only bound results, because an earlier call may have acted', async () => {
    const given = { idempotencyKey: 'stored with the order' };
    acts = [refuse(404, 'not_found')];
    const error = await failure(client().createTransfer(body, given));
    assert.ok(error instanceof UnknownResultError && error.idempotencyKey === given.idempotencyKey);
    assert.ok(isMoneyError(error.cause) && error.cause.code === 'not_found');
    acts = [refuse(422, 'insufficient_funds', { available: '5', requested: '7' })];
    assert.equal((await failure(client().createTransfer(body, given))).code, 'insufficient_funds');
    const [port] = await freePorts(1);
    const nowhere = new MoneyClient({
      baseUrl: `http://127.0.0.1:${port}`,
      token: 't',
      patienceMs: 100,
    });
    assert.equal((await failure(nowhere.createTransfer(body, given))).code, 'result_unknown');
  });

  it('does not treat an empty response as a success', async () => {
    acts = [(response) => response.writeHead(200).end(), answer(200, TRANSFER)];
    assert.equal((await client().createTransfer(body)).id, 'x');
    assert.equal(seen[0]?.key, seen[1]?.key);
  });

  it('trusts a bound result also after an attempt that may have acted', async () => {
    acts = [cut, refuse(422, 'insufficient_funds', { available: '5', requested: '7' })];
    const error = await failure(client().createTransfer(body));
    assert.ok(error.code === 'insufficient_funds');
    assert.deepEqual(error.details, { available: 5n, requested: 7n });
  });

  it('waits as long as Retry-After asks', async () => {
    acts = [refuse(429, 'rate_limited', undefined, { 'retry-after': '1' }), answer(201, TRANSFER)];
    const began = performance.now();
    await client().createTransfer(body);
    assert.ok(performance.now() - began >= 995);
  });

  it('that may wait no longer reports rate_limited, and not an unknown result', async () => {
    acts = [refuse(429, 'rate_limited', undefined, { 'retry-after': '30' })];
    assert.equal((await failure(client(100).createTransfer(body))).code, 'rate_limited');
  });

  it('the time limit of a call of the client does not depend on the system clock', async () => {
    const { now } = Date;
    const setClock: Act = (response) => {
      Date.now = () => now() + 3_600_000;
      unavailable(response);
    };
    acts = [setClock, answer(201, TRANSFER)];
    try {
      assert.equal((await client().createTransfer(body)).id, 'x');
    } finally {
      Date.now = now;
    }
  });

  it('reports that nothing happened if the connection is refused', async () => {
    const [port] = await freePorts(1);
    const nowhere = new MoneyClient({
      baseUrl: `http://127.0.0.1:${port}`,
      token: 't',
      patienceMs: 100,
    });
    assert.ok((await failure(nowhere.createTransfer(body))) instanceof ConnectionError);
  });

  it('the client never repeats a call without an idempotency key, and reports that its outcome is unknown', async () => {
    acts = [cut];
    const error = await failure(client().rotateWebhookSecret('x'));
    assert.ok(error instanceof UnknownResultError && error.idempotencyKey === null);
    assert.equal(seen.length, 1);
    assert.equal(seen[0]?.key, undefined);
  });

  it('repeats a PUT, because repeating it has no further effect', async () => {
    acts = [cut, answer(200, { account_id: 'a', alias: '$a' })];
    assert.equal((await client().setAlias('a', { alias: '$a' })).alias, '$a');
  });

  it('the client never reports the result of a read as unknown', async () => {
    acts = [cut, refuse(404, 'not_found')];
    assert.equal((await failure(client().getTransfer('x'))).code, 'not_found');
    acts = [cut];
    assert.equal((await failure(client(100).getTransfer('x'))).code, 'no_answer');
  });

  it('is ended by its signal, with the key if the result is unknown', async () => {
    acts = [unavailable];
    const call = client().createTransfer(body, { signal: AbortSignal.timeout(200) });
    assert.equal((await failure(call)).code, 'result_unknown');
    const ended = new AbortController();
    ended.abort(new Error('enough'));
    await assert.rejects(client().createTransfer(body, { signal: ended.signal }), /enough/);
  });

  it('does not accept a page of another server as a response', async () => {
    acts = [
      (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>nginx</h1>'),
    ];
    assert.ok((await failure(client().createTransfer(body))) instanceof UnexpectedAnswerError);
    acts = [(response) => response.writeHead(302, { location: '/login' }).end()];
    assert.ok((await failure(client().createTransfer(body))) instanceof UnexpectedAnswerError);
    acts = [
      (response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>'),
    ];
    assert.ok((await failure(client(100).createTransfer(body))) instanceof UnknownResultError);
  });

  it('reads a list page after page, with the same filters', async () => {
    acts = [
      answer(200, { items: [{ id: 1 }, { id: 2 }], next_cursor: 'c' }),
      answer(200, { items: [{ id: 3 }], next_cursor: null }),
    ];
    const ids: unknown[] = [];
    for await (const { id } of client().listTransfers({ status: 'completed' })) ids.push(id);
    assert.deepEqual(ids, [1, 2, 3]);
    assert.deepEqual(
      seen.map(({ url }) => url),
      ['/v1/transfers?status=completed', '/v1/transfers?status=completed&cursor=c'],
    );
  });

  it('the client reads the next page after a page without items, which can occur with a filter', async () => {
    acts = [
      answer(200, { items: [], next_cursor: 'c' }),
      answer(200, { items: [{ id: 3 }], next_cursor: null }),
    ];
    const ids: unknown[] = [];
    for await (const { id } of client().listTransfers({ destination_account: 'b' })) ids.push(id);
    assert.deepEqual(ids, [3]);
  });

  it('escapes path parameters, and refuses those that would change the path', async () => {
    acts = [answer(200, TRANSFER)];
    await client().getTransfer('a/b?c');
    assert.equal(seen[0]?.url, '/v1/transfers/a%2Fb%3Fc');
    for (const id of ['', '.', '..']) assert.throws(() => client().getTransfer(id), TypeError);
  });
});
