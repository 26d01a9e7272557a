import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import helmet from 'helmet';
import type Koa from 'koa';
import type { RequestState } from './router.js';
import { methodNotAllowed } from './errors.js';

/** The folder in which the build writes the site. */
export const BUILT_SITE = fileURLToPath(new URL('../../site', import.meta.url));

/** Placeholders in the built files for an installation's addresses, which only its processes know. */
export const PLACEHOLDERS = {
  baseUrl: 'http://base-url-of-the-installation',
  docsUrl: 'http://docs-url-of-the-installation',
  /** The path of `docsUrl`, with which links between pages begin. */
  docsPath: '/docs-path-of-the-installation',
};
const PLACEHOLDER =
  /http:\/\/(?:base|docs)-url-of-the-installation|\/docs-path-of-the-installation\/?/g;

/** Content types by the ending of a file's name. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.tgz': 'application/gzip',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Files at the root of the service rather than below the docs. */
const ROOT_FILES: readonly string[] = ['/openapi.json', '/llms.txt', '/llms-full.txt'];
const MISSING = '/404';

export interface DocsOptions {
  readonly baseUrl: string;
  readonly docsUrl: string;
  /** The folder of the built docs pages, if not the build's own. */
  readonly siteFolder?: string;
}

interface SiteFile {
  readonly type: string;
  readonly content: Buffer;
  readonly etag: string;
}

interface Site {
  /** The files by the paths of their URLs. */
  readonly files: ReadonlyMap<string, SiteFile>;
  readonly missing: SiteFile;
}

const NOT_BUILT = siteFile(
  '.txt',
  Buffer.from('The documentation is not built. "npm run build" writes it to dist/site.\n'),
);

/** The response to a program that asks for a page in Markdown. */
const MISSING_TEXT = siteFile(
  '.txt',
  Buffer.from('There is no such page. /llms.txt lists all pages.\n'),
);

/** Serves the built docs pages and their assets below the path of `docsUrl`, and the files at the root. */
export class DocsSite {
  private site: Site | null = null;
  /** The prefix of each page's path; empty at the root, where the API answers for missing pages. */
  private readonly base: string;
  private readonly secure = securityHeaders();

  constructor(private readonly options: DocsOptions) {
    this.base = new URL(options.docsUrl).pathname.replace(/\/+$/, '');
  }

  async serve(context: Koa.ParameterizedContext<RequestState>, next: Koa.Next): Promise<void> {
    const { path, method } = context.state.exchange;
    const { base } = this;
    const isBelow = path.startsWith(`${base}/`);
    if (!isBelow && path !== base && !ROOT_FILES.includes(path)) {
      // Programs get the API's 404.
      const isBrowser =
        path === '/' && isRead(method) && context.accepts('json', 'html') === 'html';
      return isBrowser ? this.redirect(context, base) : next();
    }
    this.site ??= await readSite(this.options, base);
    const file = this.site?.files.get(path);
    if (file !== undefined) this.send(context, path, 200, file);
    else if (this.site === null && (base !== '' || ROOT_FILES.includes(path)))
      this.send(context, base, 503, NOT_BUILT);
    else if (this.site === null || base === '') await next();
    else if (path.endsWith('/') && this.site.files.has(path.slice(0, -1)))
      this.redirect(context, path.slice(0, -1));
    else this.send(context, base, 404, path.endsWith('.md') ? MISSING_TEXT : this.site.missing);
  }

  private send(
    context: Koa.ParameterizedContext<RequestState>,
    routeName: string,
    status: number,
    { type, content, etag }: SiteFile,
  ): void {
    this.begin(context, routeName);
    context.status = status;
    context.set('Cache-Control', status === 503 ? 'no-store' : 'public, max-age=60');
    context.set('ETag', `"${etag}"`);
    if (status === 200 && context.fresh) {
      context.status = 304;
      return;
    }
    context.set('Content-Type', type);
    context.body = content;
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

/** Reads the built files, and fills in the addresses. Returns null if the site is not built. */
async function readSite(options: DocsOptions, base: string): Promise<Site | null> {
  const { siteFolder = BUILT_SITE } = options;
  if (!existsSync(siteFolder)) return null;
  const [baseUrl, docsUrl] = [options.baseUrl, options.docsUrl].map((url) =>
    // Quotes and angle brackets are encoded.
    new URL(url).href.replace(/\/+$/, ''),
  );
  const fill = (placeholder: string): string => {
    if (placeholder === PLACEHOLDERS.baseUrl) return baseUrl ?? '';
    if (placeholder === PLACEHOLDERS.docsUrl) return docsUrl ?? '';
    return base + (placeholder.endsWith('/') ? '/' : '') || '/';
  };
  const files = new Map<string, SiteFile>();
  for (const name of await readdir(siteFolder, { recursive: true })) {
    const ending = extname(name);
    if (ending === '') continue;
    const read = await readFile(join(siteFolder, name));
    const content =
      ending === '.tgz' ? read : Buffer.from(read.toString().replace(PLACEHOLDER, fill));
    const place = `/${name}`.replace(/(^\/index)?\.html$/, '');
    files.set(ROOT_FILES.includes(place) ? place : base + place || '/', siteFile(ending, content));
  }
  const missing = files.get(base + MISSING) ?? NOT_BUILT;
  files.delete(base + MISSING);
  return { files, missing };
}

function siteFile(ending: string, content: Buffer): SiteFile {
  const etag = createHash('sha256').update(content).digest('base64url').slice(0, 22);
  return { type: TYPES[ending] ?? 'application/octet-stream', content, etag };
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
