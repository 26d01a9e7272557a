import Router from '@koa/router';
import Koa from 'koa';
import type { Registry } from 'prom-client';
import { ERRORS } from '../core/error-table.js';
import { ApiError } from '../core/errors.js';
import { newId, parseUuid, type Uuid } from '../core/ids.js';
import { isUnavailable } from '../db/failures.js';
import { ClientAddresses } from '../http/client-addresses.js';
import { describeFault, type Logger } from '../http/logging.js';
import { type HttpMetrics, httpMetrics } from '../http/metrics.js';
import { RequestAborted } from '../http/request-body.js';
import { ASSETS } from './assets.js';
import { keepDraft, keepSentForm, readDraft } from './drafts.js';
import { hasToken, isFromOurPage, readForm } from './forms.js';
import { documentOf, notice, type Page } from './pages/layout.js';
import {
  type DeskDeps,
  DeskError,
  type DeskSettings,
  noSuchPage,
  type SignedInPerson,
} from './desk.js';
import { Cookies } from './cookies.js';
import { DeskSessions } from './sessions.js';
import { html } from './html.js';

export interface Site extends DeskDeps {
  readonly settings: DeskSettings;
  readonly sessions: DeskSessions;
  readonly cookies: Cookies;
  readonly addresses: ClientAddresses;
  readonly logger: Logger;
}

interface DeskState {
  requestId: Uuid;
  route: string;
  person: SignedInPerson | null;
  /** The form that was kept when the session ended. */
  draft: URLSearchParams | null;
}
export type DeskContext = Koa.ParameterizedContext<DeskState> & {
  readonly params?: Readonly<Record<string, string>>;
};
export type DeskRouter = Router<DeskState>;

/** Browsers load and send only to the desk, and no other page frames it. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
  'Cache-Control': 'no-store',
};

const CLIENT_GONE = 499;

interface SiteOptions {
  readonly deps: DeskDeps;
  readonly settings: DeskSettings;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly routes: readonly ((router: DeskRouter, site: Site) => void)[];
}

export function createSite({ deps, settings, logger, registry, routes }: SiteOptions): Koa {
  const cookies = new Cookies(settings.url.startsWith('https:'));
  const sessions = new DeskSessions(deps, cookies);
  const addresses = new ClientAddresses(settings.trustedProxies);
  const site: Site = { ...deps, settings, sessions, cookies, addresses, logger };
  const metrics = httpMetrics(registry);
  const router: DeskRouter = new Router<DeskState>({ sensitive: true, strict: true });
  // While a layer runs, the matched route is its own. Afterwards, it is the page's.
  router.use((context, next) =>
    next().finally(() => {
      context.state.route = String(context._matchedRoute).replaceAll(/:(\w+)/g, '{$1}');
    }),
  );
  for (const add of routes) add(router, site);
  const app = new Koa<DeskState>();
  app.on('error', (fault: unknown) =>
    logger.debug({ fault: describeFault(fault) }, 'connection failed'),
  );
  app.use(async (context, next) => {
    const began = performance.now();
    context.state = { requestId: newId(), route: 'unknown', person: null, draft: null };
    context.set({ ...HEADERS, 'Svc-Request-Id': context.state.requestId });
    await next().catch((thrown: unknown) => answerError(context, thrown, logger, metrics));
    const ms = performance.now() - began;
    const { requestId, route, person } = context.state;
    const { method, status } = context;
    metrics.durations.labels(method, route, String(status)).observe(ms / 1_000);
    const line = { requestId, method, route, status, ms: Math.round(ms * 100) / 100 };
    logger.info({ ...line, staffId: person?.identity.id ?? null }, 'answered');
  });
  app.use(serveAssets);
  app.use(async (context, next) => {
    context.state.person = await sessions.find(context.req);
    context.state.draft = readDraft(context, cookies);
    await next();
  });
  app.use(router.routes());
  app.use(() => {
    throw noSuchPage();
  });
  return app;
}

async function serveAssets(context: DeskContext, next: Koa.Next): Promise<void> {
  const asset = ASSETS.find(({ path }) => path === context.path);
  if (asset === undefined || (context.method !== 'GET' && context.method !== 'HEAD')) return next();
  context.state.route = '/assets';
  context.set('Cache-Control', asset.cache);
  context.type = asset.type;
  context.body = asset.text;
}

function answerError(
  context: DeskContext,
  thrown: unknown,
  logger: Logger,
  metrics: HttpMetrics,
): void {
  if (thrown instanceof RequestAborted) {
    context.status = CLIENT_GONE;
    context.respond = false;
    context.res.destroy();
    return;
  }
  const { status, title, message, headers, form } = deskErrorOf(thrown, context.state.requestId);
  if (status === 500) {
    metrics.faults.inc();
    logger.error(
      { requestId: context.state.requestId, fault: describeFault(thrown) },
      'a request failed because of an internal error',
    );
  }
  context.set(headers);
  const content = html`${notice('bad', message)}
    ${form !== null && html`<p><a href="${form}">Open the form again</a></p>`}
    <p><a href="/">Needs attention</a></p>`;
  sendPage(context, { title, content, status });
}

function deskErrorOf(failure: unknown, requestId: string): DeskError {
  if (failure instanceof DeskError) return failure;
  if (failure instanceof ApiError) {
    const { code, message } = failure.refusal;
    if (code === 'not_found') return noSuchPage();
    return new DeskError(ERRORS[code].status, 'Not accepted', `${message}.`, failure.headers);
  }
  if (isUnavailable(failure))
    return new DeskError(503, 'No answer', 'The database does not respond. Try again in a moment.');
  const text = `An internal error occurred. If it happens again, give the operator this id: ${requestId}`;
  return new DeskError(500, 'Internal error', text);
}

export function sendPage(context: DeskContext, page: Page): void {
  context.status = page.status ?? 200;
  context.type = 'text/html; charset=utf-8';
  context.body = documentOf(page, context.state.person, context.path);
}

/** Redirects to a page. After a form, reloading that page does not send the form again. */
export function seeOther(context: DeskContext, path: string): void {
  context.redirect(path);
  context.status = 303;
  context.body = '';
}

/**
 * Returns a handler that redirects to the sign-in page if the browser has no session, and keeps the
 * form that was sent.
 */
export function signedIn(
  site: Site,
  handle: (context: DeskContext, person: SignedInPerson) => Promise<void>,
): (context: DeskContext) => Promise<void> {
  return async (context) => {
    const { person } = context.state;
    if (person !== null) return handle(context, person);
    if (context.method === 'POST') await keepSentForm(context, site);
    seeOther(context, `/sign-in?next=${encodeURIComponent(context.url)}`);
  };
}

const FORGED =
  'This form did not come from a page of the desk. Open the page and fill it in again.';
const OUTDATED =
  'You have signed in again since this form was shown. Nothing was changed. Open it again, check what you wrote, and send it.';

/** Returns a form of one of the desk's pages of the secret's owner. Throws `DeskError`. */
export async function ownForm(
  context: DeskContext,
  site: Site,
  secret: string,
): Promise<URLSearchParams> {
  const { settings, sessions } = site;
  if (!isFromOurPage(context.req, new URL(settings.url).origin))
    throw new DeskError(403, 'Not accepted', FORGED);
  const form = await readForm(context.req, context.res);
  // While the form arrived, the session may have been revoked.
  const isStillIn = context.state.person === null || (await sessions.find(context.req)) !== null;
  if (isStillIn && hasToken(form, secret)) {
    if (draftFor(context) !== null) context.append('Set-Cookie', site.cookies.clear('desk-draft'));
    return form;
  }
  if (context.path.startsWith('/sign-')) throw new DeskError(403, 'Not accepted', FORGED);
  keepDraft(context, site.cookies, form);
  throw new DeskError(403, 'Not accepted', OUTDATED, {}, context.url);
}

/** Returns the kept form if it was sent to this path. */
export function draftFor({ state, path }: Pick<DeskContext, 'state' | 'path'>) {
  return state.draft?.get('') === path ? state.draft : null;
}

/** Returns the id in the path. Throws `DeskError`. */
export function idOf(context: DeskContext): Uuid {
  const id = parseUuid(context.params?.id ?? '');
  if (id === null) throw noSuchPage();
  return id;
}

/** Returns trimmed query parameters; '' for a parameter that is absent or repeated. */
export function textsOf<Name extends string>(
  { query }: DeskContext,
  ...names: readonly Name[]
): Record<Name, string> {
  const entries = names.map((name) => {
    const value = query[name];
    return [name, typeof value === 'string' ? value.trim() : ''];
  });
  return Object.fromEntries(entries) as Record<Name, string>;
}
