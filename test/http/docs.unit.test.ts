import assert from 'node:assert/strict';
import { type Operation, PERMISSIONS } from '../../src/core/permissions.js';
import { html, prose } from '../../src/http/docs/layout.js';
import { call, rawHead, sendRaw, startWorld, type World } from './support.js';
import { thingRoutes } from './routes.js';

const PAGES = [
  '/docs',
  '/docs/reference',
  '/docs/conventions',
  '/docs/permissions',
  '/docs/conceptos/errores',
  '/docs/batches',
  '/docs/payouts',
];

describe('docs', () => {
  let world: World;

  before(async () => {
    world = await startWorld({ routes: thingRoutes() });
  });
  after(() => world.server.stop(0));

  const get = (path: string, headers: Record<string, string | null> = {}): ReturnType<typeof call> =>
    call(world.url + path, { headers: { authorization: null, ...headers } });

  for (const path of PAGES)
    it(`${path} is a page of its own, without a token, under a strict policy`, async () => {
      const answer = await get(path);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.equal(policy.includes('unsafe'), false);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(answer.headers.get('x-powered-by'), null);
      assert.match(answer.text, /<meta name="viewport"/);
      assert.equal(/<script>|<style|\son\w+=|\sstyle=|javascript:/.test(answer.text), false, 'nothing inline');
    });

  it('every link, script and style on the pages is served here', async () => {
    for (const path of PAGES) {
      const { text } = await get(path);
      for (const [, target = ''] of text.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const [page, anchor] = target.split('#');
        if (page !== '') assert.equal((await get(page ?? '')).status, 200, `${path} → ${target}`);
        else assert.ok(text.includes(`id="${anchor}"`));
      }
    }
  });

  it('the reference shows /openapi.json with what is packed with the service', async () => {
    const script = await get('/docs/assets/reference.js');
    assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/);
    assert.match(script.text, /url: '\/openapi\.json'/);
    assert.equal(/https?:/.test(script.text), false);
    assert.ok((await get('/docs/assets/swagger-ui-bundle.js')).text.length > 100_000);
  });

  it('the table of permissions has every operation with its scopes and roles, and the calls that need it', async () => {
    const { text } = await get('/docs/permissions');
    for (const operation of Object.keys(PERMISSIONS) as Operation[]) {
      const row = text.split('<tr>').find((one) => one.includes(`<td>${operation}`)) ?? '';
      for (const word of [...PERMISSIONS[operation].scopes, ...(PERMISSIONS[operation].roles ?? [])])
        assert.ok(row.includes(word), `${operation} ${word}`);
    }
    assert.match(text, /GET \/v1\/transfers\/\{id\}/);
  });

  it('the guides of docs/guides are served with their tables, and commands that reach this API', async () => {
    const { text } = await get('/docs/batches');
    assert.match(text, /<h1>Batches of bonuses<\/h1>\s+<h2>Three steps<\/h2>/);
    assert.match(text, /<div class="scroll"><table>\s*<thead>\s*<tr>\s*<th>Column<\/th>/);
    assert.match(text, /<td><code>recipient<\/code><\/td>\s*<td>yes<\/td>/);
    assert.match(text, /curl -i http:\/\/localhost:8080\/v1\/bonus_batches/);
    assert.equal(text.includes('127.0.0.1'), false);
    for (const path of ['batches', 'conventions', 'payouts'])
      assert.ok((await get('/docs')).text.includes(`href="/docs/${path}"`), path);
  });

  it('a page that is known is not sent again', async () => {
    const etag = (await get('/docs')).headers.get('etag') ?? '';
    // By a raw request: fetch adds "no-cache" to a conditional one.
    const again = await sendRaw(
      world.port,
      rawHead('GET /docs HTTP/1.1', `If-None-Match: ${etag}`, 'Connection: close'),
    );
    assert.match(again, /^HTTP\/1.1 304 /);
    assert.match(again, /svc-request-id: /i);
    assert.ok(again.endsWith('\r\n\r\n'));
  });

  it('pages are read, not written: 405 with an Error object', async () => {
    const answer = await call(`${world.url}/docs`, { method: 'POST' });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    assert.equal(answer.json().error.code, 'method_not_allowed');
    assert.equal((await call(`${world.url}/docs`, { method: 'HEAD' })).status, 200);
  });

  it('no path leads out of the docs', async () => {
    for (const path of [
      '/docs/assets/../../package.json',
      '/docs/assets/%2e%2e/package.json',
      '/docs/assets/package.json',
    ])
      assert.equal((await get(path)).status, 404);
  });

  it('what is put into a page is escaped', () => {
    const inner = html`<i>${'<b>'}</i>`;
    assert.equal(
      html`<a title="${`"<&'`}">${inner}</a>`.text,
      '<a title="&#34;&#60;&#38;&#39;"><i>&#60;b&#62;</i></a>',
    );
    assert.equal(prose('a `<b>` c').text, 'a <code>&#60;b&#62;</code> c');
  });
});
