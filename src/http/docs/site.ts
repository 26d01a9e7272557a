import { createHash } from 'node:crypto';
import helmet from 'helmet';
import type Koa from 'koa';
import type { RequestState } from '../dispatch.js';
import { methodNotAllowed } from '../errors.js';
import type { Route } from '../route.js';
import { assembleSite, fileOf, type SiteFile } from './assembly.js';
import type { Places } from './layout.js';

interface ServedFile extends SiteFile {
  readonly etag: string;
}

export interface DocsParts {
  readonly routes: readonly Route[];
  readonly openApi: object;
  readonly baseUrl: string;
  /** Its path is where the pages are served. */
  readonly docsUrl: string;
}

/** What is served without a token: the docs pages, their assets and /openapi.json, all made once and kept in memory. */
export class DocsSite {
  private readonly files: ReadonlyMap<string, ServedFile>;
  private readonly missing: ServedFile;
  /** Before the path of each page; empty where they are at the root, where what has no page is the API's to answer. */
  private readonly base: string;
  private readonly secure = securityHeaders();

  constructor({ docsUrl, ...parts }: DocsParts) {
    const base = new URL(docsUrl).pathname.replace(/\/+$/, '');
    const places: Places = {
      page: (path) => base + path || '/',
      asset: (name) => `${base}/assets/${name}`,
      openApi: '/openapi.json',
    };
    this.base = base;
    const { pages, assets, missing } = assembleSite({ ...parts, places });
    this.missing = withEtag(missing);
    const openApi = fileOf('application/json; charset=utf-8', JSON.stringify(parts.openApi));
    const files = [
      ...Array.from(pages, ([path, file]) => [places.page(path), file] as const),
      ...Array.from(assets, ([name, file]) => [places.asset(name), file] as const),
      [places.openApi, openApi] as const,
    ];
    this.files = new Map(files.map(([path, file]) => [path, withEtag(file)]));
  }

  /** Serves the pages. What lies elsewhere is somebody else's. */
  async serve(context: Koa.ParameterizedContext<RequestState>, next: Koa.Next): Promise<void> {
    const { exchange } = context.state;
    const { path } = exchange;
    const file = this.files.get(path);
    if (file !== undefined) this.send(context, path, file);
    else if (path === '/' && isRead(exchange.method) && context.accepts('json', 'html') === 'html')
      // Whoever opens the service's address in a browser looks for something to read. Programs get the API's 404.
      this.lead(context, this.base);
    else if (this.base === '' || !path.startsWith(`${this.base}/`)) await next();
    else if (this.files.has(path.slice(0, -1)) && path.endsWith('/')) this.lead(context, path.slice(0, -1));
    else this.send(context, this.base, this.missing);
  }

  private send(context: Koa.ParameterizedContext<RequestState>, routeName: string, file: ServedFile): void {
    this.begin(context, routeName);
    context.status = file === this.missing ? 404 : 200;
    context.set('Cache-Control', 'public, max-age=60');
    context.set('ETag', file.etag);
    if (context.status === 200 && context.fresh) {
      context.status = 304;
      return;
    }
    context.set('Content-Type', file.type);
    context.body = file.content;
  }

  private lead(context: Koa.ParameterizedContext<RequestState>, path: string): void {
    this.begin(context, this.base);
    context.redirect(path);
  }

  /** Throws method_not_allowed. */
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

function withEtag(file: SiteFile): ServedFile {
  return { ...file, etag: `"${createHash('sha256').update(file.content).digest('base64url').slice(0, 22)}"` };
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
        // The index of the search.
        'connect-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    // Whether the service is reached by https alone is decided before it, where TLS ends.
    strictTransportSecurity: false,
    // Kept away from http addresses, where browsers ignore it with a warning.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
  });
}
