import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import helmet from 'helmet';
import type Koa from 'koa';
import type { RequestState } from '../dispatch.js';
import { methodNotAllowed } from '../errors.js';
import type { ApiDocument } from '../openapi-document.js';
import type { Route } from '../route.js';
import { ALIASES, CONTENTS, KEYWORDS, type Listed } from './contents.js';
import { html, type Html } from './html.js';
import { type MenuChapter, pageHtml, type SitePage, type SiteUrls } from './layout.js';
import { markdownPage, readPart } from './markdown-page.js';
import { errorsPage, permissionsPage } from './pages.js';
import { Reference } from './reference/pages.js';

interface SiteDeps {
  readonly routes: readonly Route[];
  readonly openApi: ApiDocument;
  readonly baseUrl: string;
  readonly urls: SiteUrls;
}

/** A file whose content is made when it is first read. */
class SiteFile {
  private made: Buffer | undefined;
  private tag: string | undefined;

  constructor(
    readonly type: string,
    private readonly make: () => string | Buffer,
  ) {}

  get content(): Buffer {
    return (this.made ??= Buffer.from(this.make()));
  }

  get etag(): string {
    return (this.tag ??= createHash('sha256')
      .update(this.content)
      .digest('base64url')
      .slice(0, 22));
  }
}

const HTML = 'text/html; charset=utf-8';
const JS = 'text/javascript; charset=utf-8';
const JSON_TEXT = 'application/json; charset=utf-8';

const part = (name: string, type: string, file = `docs/site/${name}`) =>
  [name, new SiteFile(type, () => readPart(file))] as const;

export function assembleSite(deps: SiteDeps) {
  const { urls, routes, openApi, baseUrl } = deps;
  const reference = new Reference(routes, openApi, urls);
  const generated: Readonly<Record<string, string>> = {
    '/reference': reference.home(),
    '/conceptos/errores': errorsPage(urls),
    '/permissions': permissionsPage(routes, reference.linkOf),
  };
  const pageOf = (listed: Listed): SitePage =>
    markdownPage(listed, urls, baseUrl, reference, generated[listed.path]);
  const menu: MenuChapter[] = CONTENTS.map(({ title, pages }) => ({
    title,
    pages: pages.map(pageOf),
  }));
  const pages = [...menu.flatMap((chapter) => chapter.pages), ...reference.pages()];
  return {
    pages: new Map(
      pages.flatMap((page) => {
        const file = new SiteFile(HTML, () => pageHtml(urls, menu, page));
        return [page.path, ...(ALIASES[page.path] ?? [])].map((path) => [path, file] as const);
      }),
    ),
    assets: new Map([
      part('site.css', 'text/css; charset=utf-8'),
      part('site.js', JS),
      part('colours.js', JS),
      part('postman.json', JSON_TEXT, 'docs/postman.json'),
      part('money-movement-client.tgz', 'application/gzip'),
      part('icon.svg', 'image/svg+xml'),
      part('minisearch.js', JS, import.meta.resolve('minisearch')),
      ['search.json', new SiteFile(JSON_TEXT, () => searchIndex(urls, pages))],
    ]),
    missing: new SiteFile(HTML, () => pageHtml(urls, menu, missingPage(urls))),
  };
}

function missingPage(urls: SiteUrls): SitePage {
  const content = (): Html =>
    html`<p>
      The address may be mistyped, or its page renamed. The menu and the search lead to all pages,
      as does
      <a href="${urls.page('')}">the first one</a>.
    </p>`;
  return {
    path: '/404',
    title: 'There is no such page',
    description: 'No page has this address.',
    content,
    sections: [],
  };
}

function searchIndex(urls: SiteUrls, pages: readonly SitePage[]): string {
  const entries = pages.flatMap(({ path, title, description, sections }) => {
    const beginning = sections.find(({ anchor }) => anchor === '');
    const wholePage = {
      page: title,
      title: '',
      href: urls.page(path),
      text: `${description} ${beginning?.text ?? ''}`.trim(),
      also: `${title} ${KEYWORDS[path] ?? ''}`,
    };
    const parts = sections
      .filter((section) => section !== beginning)
      .map(({ anchor, title: heading, text }) => ({
        page: title,
        title: heading,
        href: `${urls.page(path)}#${anchor}`,
        text: text.trim(),
        also: KEYWORDS[`${path}#${anchor}`] ?? '',
      }));
    return [wholePage, ...parts];
  });
  return JSON.stringify(entries.map((entry, id) => ({ id, ...entry })));
}

const OPENAPI = '/openapi.json';
const RENDER_AFTER_MS = 60_000;

interface DocsDeps {
  readonly routes: readonly Route[];
  readonly openApi: () => ApiDocument;
  readonly baseUrl: string;
  readonly docsUrl: string;
}

type Served = Readonly<{ files: ReadonlyMap<string, SiteFile>; missing: SiteFile }>;

/** Serves the docs pages, their assets and /openapi.json, kept in memory. */
export class DocsSite {
  private served: Served | null = null;
  /** The prefix of each page's path; empty at the root, where the API answers for missing pages. */
  private readonly base: string;
  private readonly secure = securityHeaders();

  constructor(private readonly deps: DocsDeps) {
    this.base = new URL(deps.docsUrl).pathname.replace(/\/+$/, '');
    // Not at once, because requests are waiting when a process starts.
    setTimeout(() => void this.render(), RENDER_AFTER_MS).unref();
  }

  /** Renders every file, one in each turn of the event loop, so that requests are not delayed. */
  private async render(): Promise<void> {
    const { files, missing } = this.assemble();
    for (const file of [...files.values(), missing]) {
      void file.etag;
      await nextTurn();
    }
  }

  /** Each file is rendered when it is first read. */
  private assemble(): Served {
    if (this.served !== null) return this.served;
    const { base, deps } = this;
    const urls: SiteUrls = {
      page: (path) => base + path || '/',
      asset: (name) => `${base}/assets/${name}`,
      openApi: OPENAPI,
    };
    const openApi = deps.openApi();
    const { pages, assets, missing } = assembleSite({ ...deps, openApi, urls });
    const document = new SiteFile('application/json; charset=utf-8', () => JSON.stringify(openApi));
    const files = [
      ...Array.from(pages, ([path, file]) => [urls.page(path), file] as const),
      ...Array.from(assets, ([name, file]) => [urls.asset(name), file] as const),
      [urls.openApi, document] as const,
    ];
    this.served = { files: new Map(files), missing };
    return this.served;
  }

  async serve(context: Koa.ParameterizedContext<RequestState>, next: Koa.Next): Promise<void> {
    const { exchange } = context.state;
    const { path } = exchange;
    const file = this.isInSite(path) ? this.assemble().files.get(path) : undefined;
    if (file !== undefined) this.send(context, path, file);
    else if (path === '/' && isRead(exchange.method) && context.accepts('json', 'html') === 'html')
      // Programs get the API's 404.
      this.redirect(context, this.base);
    else if (this.base === '' || !path.startsWith(`${this.base}/`)) await next();
    else if (path.endsWith('/') && this.assemble().files.has(path.slice(0, -1)))
      this.redirect(context, path.slice(0, -1));
    else this.send(context, this.base, this.assemble().missing);
  }

  /** A request for any other path does not cause the site to be built. */
  private isInSite(path: string): boolean {
    return path === OPENAPI || path === this.base || path.startsWith(`${this.base}/`);
  }

  private send(
    context: Koa.ParameterizedContext<RequestState>,
    routeName: string,
    file: SiteFile,
  ): void {
    this.begin(context, routeName);
    context.status = file === this.assemble().missing ? 404 : 200;
    context.set('Cache-Control', 'public, max-age=60');
    context.set('ETag', `"${file.etag}"`);
    if (context.status === 200 && context.fresh) {
      context.status = 304;
      return;
    }
    context.set('Content-Type', file.type);
    context.body = file.content;
  }

  private redirect(context: Koa.ParameterizedContext<RequestState>, path: string): void {
    this.begin(context, this.base);
    context.redirect(path);
  }

  /** Sets what all responses of the site share. Throws method_not_allowed. */
  private begin(context: Koa.ParameterizedContext<RequestState>, routeName: string): void {
    const { exchange } = context.state;
    exchange.routeName = routeName;
    if (!isRead(exchange.method)) throw methodNotAllowed('GET, HEAD');
    context.respond = true;
    context.set('Svc-Request-Id', exchange.requestId);
    this.secure(context.req, context.res, () => {});
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function securityHeaders(): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        'img-src': ["'self'"],
        'connect-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    // The proxy that ends TLS decides this.
    strictTransportSecurity: false,
    // Over http, browsers ignore it with a warning.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
  });
}
