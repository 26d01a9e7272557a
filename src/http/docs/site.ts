import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import helmet from 'helmet';
import type Koa from 'koa';
import type { RequestState } from '../dispatch.js';
import type { Route } from '../route.js';
import { readGuides } from './guides.js';
import { page, STYLE } from './layout.js';
import { errorsPage, homePage, permissionsPage, REFERENCE_SCRIPT, REFERENCE_STYLE, referencePage } from './pages.js';
import { ERRORS_PAGE, methodNotAllowed } from '../errors.js';

interface Page {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
}

export interface SiteParts {
  readonly routes: readonly Route[];
  readonly openApi: object;
  readonly baseUrl: string;
  /** Its path is where the pages are served. */
  readonly docsUrl: string;
}

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const JS = 'text/javascript; charset=utf-8';

/** What is served without a token: the docs pages, their assets and /openapi.json, all made once and kept in memory. */
export class DocsSite {
  private readonly pages: ReadonlyMap<string, Page>;
  private readonly secure: ReturnType<typeof helmet>;

  constructor({ routes, openApi, baseUrl, docsUrl }: SiteParts) {
    const base = new URL(docsUrl).pathname.replace(/\/+$/, '');
    const guides = readGuides(baseUrl);
    const site = { base, guides };
    this.pages = new Map([
      [base || '/', pageOf(HTML, homePage(site, baseUrl))],
      [`${base}${ERRORS_PAGE}`, pageOf(HTML, errorsPage(site))],
      [`${base}/permissions`, pageOf(HTML, permissionsPage(site, routes))],
      ...guides.map(
        ({ path, title, content }) => [`${base}${path}`, pageOf(HTML, page(site, title, content))] as const,
      ),
      [`${base}/reference`, pageOf(HTML, referencePage(site))],
      [`${base}/assets/style.css`, pageOf(CSS, STYLE)],
      [`${base}/assets/reference.css`, pageOf(CSS, REFERENCE_STYLE)],
      [`${base}/assets/reference.js`, pageOf(JS, REFERENCE_SCRIPT)],
      [`${base}/assets/swagger-ui.css`, pageOf(CSS, packaged('swagger-ui.css'))],
      [`${base}/assets/swagger-ui-bundle.js`, pageOf(JS, packaged('swagger-ui-bundle.js'))],
      ['/openapi.json', pageOf('application/json; charset=utf-8', JSON.stringify(openApi))],
    ]);
    this.secure = securityHeaders(new URL(baseUrl).origin);
  }

  /** Serves the pages. What has another path is somebody else's. */
  async serve(context: Koa.ParameterizedContext<RequestState>, next: Koa.Next): Promise<void> {
    const { exchange } = context.state;
    const page = this.pages.get(exchange.path);
    if (page === undefined) {
      await next();
      return;
    }
    exchange.routeName = exchange.path;
    if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed('GET, HEAD');
    context.respond = true;
    context.set('Svc-Request-Id', exchange.requestId);
    this.secure(context.req, context.res, () => {});
    context.status = 200;
    context.set('Cache-Control', 'public, max-age=60');
    context.set('ETag', page.etag);
    if (context.fresh) {
      context.status = 304;
      return;
    }
    context.set('Content-Type', page.type);
    context.body = page.content;
  }
}

function pageOf(type: string, content: string | Buffer): Page {
  const bytes = Buffer.from(content);
  return { type, content: bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

/** A file of Swagger UI, so that the reference needs nothing from the internet. */
function packaged(name: string): Buffer {
  return readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)));
}

function securityHeaders(apiOrigin: string): ReturnType<typeof helmet> {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'style-src': ["'self'"],
        // Swagger UI's style sheet has its icons in data: addresses.
        'img-src': ["'self'", 'data:'],
        // What is tried out in the reference goes to the API.
        'connect-src': ["'self'", apiOrigin],
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
