import { noSuchPage } from './failures.js';
import { NOT_SIGNED_IN, signInPage, type SignInWays } from './pages/sign-in.js';
import { MAX_PAGES, startPage, waitingPage } from './pages/waiting.js';
import { WAITING_KINDS } from './reading/waiting.js';
import {
  type DeskContext,
  type DeskRouter,
  ownForm,
  personOf,
  seeOther,
  sendPage,
  type Site,
} from './site.js';

export function sessionRoutes(router: DeskRouter, site: Site): void {
  const { sessions, addresses } = site;
  router.get('/sign-in', (context) => {
    const next = nextOf(context.query.next);
    if (context.state.person !== null) return seeOther(context, next);
    const { secret, cookie } = sessions.formSecret(context.req);
    if (cookie !== null) context.append('Set-Cookie', cookie);
    sendPage(context, signInPage(waysOf(site), secret, next, null));
  });
  router.post('/sign-in', async (context) => {
    if (!site.settings.withCode) throw noSuchPage();
    const { secret } = sessions.formSecret(context.req);
    const form = await ownForm(context, site, secret);
    const next = nextOf(form.get('next'));
    const [name, code] = [form.get('name') ?? '', (form.get('code') ?? '').replaceAll(/\s/g, '')];
    const cookies = await sessions.open(
      name,
      code,
      addresses.of(context.req),
      context.state.person,
    );
    if (cookies === null)
      return sendPage(context, signInPage(waysOf(site), secret, next, NOT_SIGNED_IN, 401));
    for (const cookie of cookies) context.append('Set-Cookie', cookie);
    seeOther(context, next);
  });
  router.post('/sign-out', async (context) => {
    const person = personOf(context);
    if (person === null) return;
    await ownForm(context, site, person.secret);
    context.append('Set-Cookie', await sessions.close(person));
    seeOther(context, '/sign-in');
  });
}

function waysOf({ settings }: Site): SignInWays {
  return { withCode: settings.withCode, withProvider: settings.provider !== null };
}

/** Returns the path to redirect to. Accepts only paths of the desk. */
export function nextOf(given: unknown): string {
  return typeof given === 'string' &&
    /^\/[a-z]+(\/[0-9a-z-]{1,40})?$/.test(given) &&
    given !== '/sign-in'
    ? given
    : '/';
}

export function waitingRoutes(router: DeskRouter, { database: { reader }, clock }: Site): void {
  router.get('/', async (context) => {
    if (personOf(context) === null) return;
    sendPage(context, await startPage(reader, clock()));
  });
  router.get('/waiting/:kind', async (context) => {
    if (personOf(context) === null) return;
    const kind = WAITING_KINDS.find((one) => one === context.params.kind);
    if (kind === undefined) throw noSuchPage();
    const { tenant, least, asset } = context.query;
    const query = { tenant: textOf(tenant), least: textOf(least), asset: textOf(asset) };
    sendPage(
      context,
      await waitingPage(reader, clock(), kind, { page: pageOf(context), ...query }),
    );
  });
}

/** Returns the value of a parameter that is given once, without spaces around it. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function pageOf({ query: { page = '1' } }: DeskContext): number {
  const number =
    typeof page === 'string' && /^[1-9]\d?$/.test(page) ? Number.parseInt(page, 10) : 0;
  if (number < 1 || number > MAX_PAGES) throw noSuchPage();
  return number;
}
