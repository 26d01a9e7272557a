import assert from 'node:assert/strict';
import { ERROR_CODES, ERRORS } from '../../src/core/error-table.js';
import { ledgerUnavailable } from '../../src/core/errors.js';
import { CommitUnknown, DatabaseUnavailable, TransactionRetryable } from '../../src/db/failures.js';
import { call, callerWith, eventually, startWorld, TENANT } from './support.js';
import { A_KEY, failingRoutes, refusing } from './routes.js';

const SECRET = 'svc_live_in_an_error';

function coded(code: string, errno: number): Error {
  return Object.assign(new Error(SECRET), { code, errno });
}

let fault: () => unknown = () => null;
let authenticationFault: (() => unknown) | null = null;
const lines: string[] = [];
const world = await startWorld({
  routes: failingRoutes(() => fault()),
  log: (line) => void lines.push(line),
  authenticate: () =>
    authenticationFault === null
      ? Promise.resolve(callerWith())
      : Promise.reject(authenticationFault()),
});

describe('errors', () => {
  beforeEach(() => {
    authenticationFault = null;
    lines.length = 0;
  });
  after(() => world.server.stop(0));

  const read = (): ReturnType<typeof call> => call(`${world.url}/v1/fail`);
  const move = (): ReturnType<typeof call> =>
    call(`${world.url}/v1/fail`, { method: 'POST', headers: { 'idempotency-key': A_KEY } });

  const AWAY: readonly [name: string, fault: () => unknown][] = [
    ['a statement that did not answer', () => new DatabaseUnavailable(SECRET)],
    ['an unknown commit', () => new CommitUnknown(SECRET)],
    ['a deadlock that stayed', () => new TransactionRetryable(SECRET)],
    ['a refused connection', () => coded('ECONNREFUSED', -111)],
    ['too many connections', () => coded('ER_CON_COUNT_ERROR', 1040)],
    ['a ledger that is closed', ledgerUnavailable],
  ];
  it('of an unavailable database are 503 ledger_unavailable on every endpoint, the token check included; only a request with a key is to be repeated with it', async () => {
    for (const [name, thrown] of AWAY) {
      fault = thrown;
      authenticationFault = null;
      for (const [answer, advice] of [
        [await read(), /not answer; repeat the request$/],
        [await move(), /repeating the same request with the same Idempotency-Key/],
      ] as const) {
        assert.equal(answer.status, 503, name);
        const { code, message } = answer.json().error;
        assert.equal(code, 'ledger_unavailable');
        assert.match(message, advice);
        assert.equal(answer.text.includes(SECRET), false);
      }
      authenticationFault = thrown;
      assert.equal((await read()).status, 503);
    }
  });

  const OURS: readonly [name: string, fault: () => unknown][] = [
    ['an error', () => new Error(SECRET)],
    ['a type error', () => new TypeError('x is not a function')],
    ['a text', () => SECRET],
    ['nothing', () => undefined],
    ['a data fault of a statement', () => coded('ER_DUP_ENTRY', 1062)],
  ];
  it('internal errors are 500 without their text, and 503 where money moves', async () => {
    for (const [name, thrown] of OURS) {
      fault = thrown;
      const answer = await read();
      assert.equal(answer.status, 500, name);
      assert.equal(answer.json().error.code, 'internal_error');
      assert.equal(answer.text.includes(SECRET), false);
      const moving = await move();
      assert.deepEqual([moving.status, moving.json().error.code], [503, 'ledger_unavailable']);
    }
  });

  it('an internal fault is logged with its place and without its text, and counted', async () => {
    fault = () => new Error(SECRET);
    const answer = await read();
    const line = lines.find((one) => one.includes('because of an internal error')) ?? '';
    assert.ok(line.includes(answer.headers.get('svc-request-id') ?? 'none'));
    assert.match(line, /errors\.unit\.test/);
    assert.equal(lines.join('').includes(SECRET), false);
    assert.match(await world.registry.metrics(), /http_faults_total [1-9]/);
  });

  it('every code is answered with its status and a doc_url that names it', async () => {
    for (const code of ERROR_CODES) {
      fault = refusing(code);
      const answer = await read();
      assert.equal(answer.status, ERRORS[code].status);
      const { error } = answer.json();
      assert.equal(error.doc_url, `http://localhost:8080/docs/conceptos/errores#${code}`);
    }
  });

  it('the doc_url of an error begins with DOCS_URL, with or without a slash at its end', async () => {
    for (const [docsUrl, path] of [
      ['http://docs.example/help/', '/help/conceptos/errores'],
      ['http://docs.example', '/conceptos/errores'],
    ] as const) {
      const other = await startWorld({ routes: failingRoutes(refusing('not_found')), docsUrl });
      const answer = await call(`${other.url}/v1/fail`);
      assert.equal(answer.json().error.doc_url, `http://docs.example${path}#not_found`);
      assert.equal((await call(other.url + path)).status, 200);
      await other.server.stop(0);
    }
  });

  it('each request is one log line, with the template of its path and never the path or the query', async () => {
    lines.length = 0;
    await call(`${world.url}/v1/fail?name=Ana`);
    await eventually('a line', () => lines.length > 0);
    const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    assert.deepEqual(
      [line['method'], line['route'], line['status'], line['tenantId']],
      ['GET', '/v1/fail', 400, TENANT],
    );
    await call(`${world.url}/v1/nothing/${SECRET}`);
    assert.equal(lines.join('').includes(SECRET), false);
    assert.equal(lines.join('').includes('Ana'), false);
  });
});
