import { setImmediate as nextTurn } from 'node:timers/promises';
import helmet from 'helmet';
import type Koa from 'koa';
import type { RequestState } from '../dispatch.js';
import { methodNotAllowed } from '../errors.js';
import type { Route } from '../route.js';
import { assembleSite, SiteFile } from './assembly.js';
import type { Places } from './layout.js';

const OPENAPI = '/openapi.json';

interface DocsDeps {
  readonly routes: readonly Route[];
  readonly openApi: () => object;
  readonly baseUrl: string;
  /** The address of the docs; its path is the path of the pages. */
  readonly docsUrl: string;
}

interface Served {
  readonly files: ReadonlyMap<string, SiteFile>;
  readonly missing: SiteFile;
}

/**
 * Everything served without a token: the docs pages, their assets and /openapi.json, built once and
 * kept in memory.
 */
export class DocsSite {
  private served: Served | null = null;
  /**
   * The prefix of each page's path; empty if the pages are at the root, where the API answers for
   * missing pages.
   */
  private readonly base: string;
  private readonly secure = securityHeaders();

  constructor(private readonly deps: DocsDeps) {
    this.base = new URL(deps.docsUrl).pathname.replace(/\/+$/, '');
  }

  /** Lists the files, in about a tenth of a second. Each is rendered when it is first read. */
  private assemble(): Served {
    return (this.served ??= this.make());
  }

  /**
   * Renders every file, one in each turn of the event loop, so that neither the start nor a reader
   * delays other requests for long.
   */
  async render(): Promise<void> {
    const { files, missing } = this.assemble();
    for (const file of [...files.values(), missing]) {
      void file.etag;
      await nextTurn();
    }
  }

  private make(): Served {
    const { base, deps } = this;
    const places: Places = {
      page: (path) => base + path || '/',
      asset: (name) => `${base}/assets/${name}`,
      openApi: OPENAPI,
    };
    const openApi = deps.openApi();
    const { pages, assets, missing } = assembleSite({ ...deps, openApi, places });
    const document = new SiteFile('application/json; charset=utf-8', () => JSON.stringify(openApi));
    const files = [
      ...Array.from(pages, ([path, file]) => [places.page(path), file] as const),
      ...Array.from(assets, ([name, file]) => [places.asset(name), file] as const),
      [places.openApi, document] as const,
    ];
    return { files: new Map(files), missing };
  }

  /** Serves the pages, and passes on all other requests. */
  async serve(context: Koa.ParameterizedContext<RequestState>, next: Koa.Next): Promise<void> {
    const { exchange } = context.state;
    const { path } = exchange;
    const file = this.mayHave(path) ? this.assemble().files.get(path) : undefined;
    if (file !== undefined) this.send(context, path, file);
    else if (path === '/' && isRead(exchange.method) && context.accepts('json', 'html') === 'html')
      // A browser at the service's address is redirected to the docs. Programs get the API's 404.
      this.lead(context, this.base);
    else if (this.base === '' || !path.startsWith(`${this.base}/`)) await next();
    else if (path.endsWith('/') && this.assemble().files.has(path.slice(0, -1)))
      this.lead(context, path.slice(0, -1));
    else this.send(context, this.base, this.assemble().missing);
  }

  /** Other paths are not looked up, so requests of programs never cause the pages to be built. */
  private mayHave(path: string): boolean {
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

function securityHeaders(): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        'img-src': ["'self'"],
        // The search index.
        'connect-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      },
    },
    // The proxy in front of the service, which ends TLS, decides this.
    strictTransportSecurity: false,
    // Over http, browsers ignore it with a warning.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
  });
}
