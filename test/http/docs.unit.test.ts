import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIELD_REASONS } from '../../src/core/field-reasons.js';
import { CONTENTS } from '../../scripts/docs/site/contents.js';
import { prose } from '../../scripts/docs/site/html.js';
import { buildSite } from '../../scripts/docs/site/write.js';
import { call, rawHead, sendRaw, startWorld } from './support.js';
import { thingRoutes } from './routes.js';

const PAGES = [
  ...CONTENTS.flatMap(({ pages }) => pages.map(({ path }) => `/docs${path}`)),
  '/docs/reference/transfers',
  '/docs/reference/deliveries',
];

const siteFolder = mkdtempSync(join(tmpdir(), 'docs-'));
await buildSite(siteFolder);
const world = await startWorld({ routes: thingRoutes(), siteFolder });

describe('the docs pages', () => {
  after(async () => {
    await world.server.stop(0);
    rmSync(siteFolder, { recursive: true });
  });

  const get = (path: string): ReturnType<typeof call> =>
    call(world.url + path, { headers: { authorization: null } });

  const assertStrict = (
    { status, headers }: Awaited<ReturnType<typeof get>>,
    type: string,
  ): void => {
    assert.equal(status, 200);
    assert.ok(headers.get('content-type')?.startsWith(type), type);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'(?!.*unsafe)/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x-powered-by'), null);
  };

  it('every page of the docs is served at its own address, without a token, under a strict content security policy', async () => {
    for (const path of PAGES) {
      const answer = await get(path);
      assertStrict(answer, 'text/html; charset=utf-8');
      assert.match(answer.text, /<meta name="viewport"/);
      assert.doesNotMatch(answer.text, /<script>|<style|\son\w+=|\sstyle=|javascript:/);
      assert.doesNotMatch(answer.text, /127\.0\.0\.1:8080|of-the-installation/, path);
    }
  });

  it('every asset of the docs pages is served by the service, with its own type', async () => {
    for (const [name, type] of Object.entries({
      'site.css': 'text/css',
      'site.js': 'text/javascript',
      'colours.js': 'text/javascript',
      'minisearch.js': 'text/javascript',
      'search.json': 'application/json',
      'icon.svg': 'image/svg+xml',
    }))
      assertStrict(await get(`/docs/assets/${name}`), type);
  });

  it('each page is Markdown at its address with .md, and llms.txt and llms-full.txt are at the root', async () => {
    const assertText = async (path: string, type: string): Promise<void> => {
      const answer = await get(path);
      assertStrict(answer, `${type}; charset=utf-8`);
      assert.match(answer.text, /^# .+\n[^]*http:\/\/localhost:8080\/docs\/\w+/);
    };
    for (const page of ['index', 'reference/transfers'])
      await assertText(`/docs/${page}.md`, 'text/markdown');
    for (const file of ['/llms.txt', '/llms-full.txt']) await assertText(file, 'text/plain');
  });

  it('an address without a page gets a page that says so, or a text if it ends with .md, and an address with an extra slash redirects to its page', async () => {
    const address = '/docs/no-such-page';
    const missing = await get(address);
    assert.deepEqual(
      [missing.status, missing.headers.get('content-type')],
      [404, 'text/html; charset=utf-8'],
    );
    assert.match(missing.text, /There is no such page/);
    const text = await get(`${address}.md`);
    assert.deepEqual(
      [text.status, text.headers.get('content-type')],
      [404, 'text/plain; charset=utf-8'],
    );
    assert.match(text.text, /^There is no such page\./);
    const led = await fetch(`${world.url}/docs/webhooks/`, { redirect: 'manual' });
    assert.deepEqual([led.status, led.headers.get('location')], [302, '/docs/webhooks']);
    for (const path of ['assets/../../package.json', 'assets/%2e%2e/package.json', 'assets/x'])
      assert.equal((await get(`/docs/${path}`)).status, 404, path);
  });

  it('the root redirects a browser to the docs, and answers a program 404', async () => {
    const at = (accept: string): Promise<Response> =>
      fetch(`${world.url}/`, { redirect: 'manual', headers: { accept } });
    const browser = await at('text/html,application/xhtml+xml,*/*;q=0.8');
    assert.deepEqual([browser.status, browser.headers.get('location')], [302, '/docs']);
    for (const accept of ['*/*', 'application/json']) assert.equal((await at(accept)).status, 404);
  });

  it('each reason for a wrong field is on the page of errors', async () => {
    const { text } = await get('/docs/conceptos/errores');
    for (const reason of Object.keys(FIELD_REASONS))
      assert(text.replaceAll('<wbr />', '').includes(`<code>${reason}</code>`), reason);
  });

  it('the docs are served where DOCS_URL says', async () => {
    const elsewhere = await startWorld({
      routes: thingRoutes(),
      siteFolder,
      docsUrl: 'https://pay.example/',
    });
    try {
      const answer = await call(`${elsewhere.url}/webhooks`, { headers: { authorization: null } });
      assert.equal(answer.status, 200);
      assert.match(answer.text, /href="\/events#the-catalogue"/);
      assert.equal(
        (await call(`${elsewhere.url}/`, { headers: { authorization: null } })).status,
        200,
      );
    } finally {
      await elsewhere.server.stop(0);
    }
  });

  it('a docs page that the browser has cached is not sent again', async () => {
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

  it('docs pages are read-only: any other method is 405 with an Error object', async () => {
    for (const path of ['/docs', '/docs/no-such-page']) {
      const answer = await call(world.url + path, { method: 'POST' });
      assert.equal(answer.status, 405);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
      assert.equal(answer.json().error.code, 'method_not_allowed');
    }
    assert.equal((await call(`${world.url}/docs`, { method: 'HEAD' })).status, 200);
  });

  it('until the docs are built, their pages and /openapi.json answer 503 and say how to build them, and are then served without a restart', async () => {
    const folder = `${siteFolder}-later`;
    const early = await startWorld({ routes: thingRoutes(), siteFolder: folder });
    const at = (path: string): ReturnType<typeof call> =>
      call(early.url + path, { headers: { authorization: null } });
    try {
      for (const path of ['/docs', '/docs/webhooks', '/openapi.json']) {
        const { status, headers, text } = await at(path);
        assert.deepEqual([status, headers.get('cache-control')], [503, 'no-store'], path);
        assert.match(text, /The documentation is not built\. "npm run build" writes it/);
      }
      cpSync(siteFolder, folder, { recursive: true });
      assert.equal((await at('/docs/webhooks')).status, 200);
      const { servers } = (await at('/openapi.json')).json<{ servers: unknown }>();
      assert.deepEqual(servers, [{ url: 'http://localhost:8080' }]);
    } finally {
      await early.server.stop(0);
      rmSync(folder, { recursive: true });
    }
  });

  it('text between backquotes is shown as code, and escaped', () => {
    assert.equal(prose('a `<b>` c').text, 'a <code>&lt;b&gt;</code> c');
  });
});
