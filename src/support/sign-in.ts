import { type DeskSettings, noSuchPage } from './desk.js';
import { codeOf } from './forms.js';
import { type Content, html, type Html } from './html.js';
import { codeField, field, hiddenField, notice, type Page, tokenField } from './pages/layout.js';
import {
  type DeskContext,
  type DeskRouter,
  draftFor,
  ownForm,
  seeOther,
  sendPage,
  signedIn,
  type Site,
} from './site.js';

const CODE_RULES =
  'Each code works once: wait until your authenticator shows the next one. After several wrong codes, no code works for a while.';

export function sessionRoutes(router: DeskRouter, site: Site): void {
  const { sessions, addresses } = site;
  router.get('/sign-in', (context) => {
    const next = nextOf(context.query.next);
    if (context.state.person !== null) return seeOther(context, next);
    const { secret, cookie } = sessions.formSecret(context.req);
    if (cookie !== null) context.append('Set-Cookie', cookie);
    const page = { secret, next, why: whyOf(context, site, next) };
    sendPage(context, signInPage(site.settings, page));
  });
  router.post('/sign-in', async (context) => {
    if (!site.settings.withCode) throw noSuchPage();
    const { secret } = sessions.formSecret(context.req);
    const form = await ownForm(context, site, secret);
    const next = nextOf(form.get('next'));
    const cookies = await sessions.open(
      form.get('name') ?? '',
      codeOf(form),
      addresses.of(context.req),
      context.state.person,
    );
    if (cookies === null) {
      const page = { secret, next, why: whyOf(context, site, next), name: form.get('name') };
      return sendPage(context, signInPage(site.settings, { ...page, refused: NOT_SIGNED_IN }));
    }
    for (const cookie of cookies) context.append('Set-Cookie', cookie);
    seeOther(context, next);
  });
  router.post(
    '/sign-out',
    signedIn(site, async (context, person) => {
      await ownForm(context, site, person.secret);
      context.append('Set-Cookie', await sessions.close(person));
      seeOther(context, '/sign-in');
    }),
  );
}

/** Returns the path to redirect to. Accepts only paths of the desk, with all selected items of a page. */
export function nextOf(given: unknown): string {
  return typeof given === 'string' &&
    /^\/[a-z_]*(\/[0-9a-z-]{1,40}){0,3}(\?[\w.~%&=+$@:,*()!-]{0,2000})?$/.test(given) &&
    !given.startsWith('/sign-')
    ? given
    : '/';
}

/** Returns why the person who asked for a page must sign in. */
function whyOf(context: DeskContext, site: Site, next: string): Content {
  const path = next.replace(/\?.*/, '');
  if (draftFor({ state: context.state, path }) !== null) return FORM_KEPT;
  if (site.cookies.read(context.req, 'desk') !== null) return SESSION_ENDED;
  if (next === '/') return null;
  const isOwn = ['none', 'same-origin'].includes(context.get('sec-fetch-site'));
  // Browsers withhold the session from a page that another site links to.
  const ofLink = html` If you followed a link from another site and are already signed in,
    <a href="${next}">continue</a>.`;
  return html`Sign in to open this page.${!isOwn && ofLink}`;
}

const SESSION_ENDED = 'Your session has ended. Sign in to continue where you were.';
const FORM_KEPT =
  'Your session has ended, and nothing was changed. The form with what you wrote is there again after you sign in. Nobody else is shown it.';

interface SignInForm {
  readonly secret: string;
  /** Path to redirect to after sign-in. */
  readonly next: string;
  readonly why: Content;
  readonly refused?: string;
  readonly name?: string | null;
}

function signInPage({ withCode, provider }: DeskSettings, form: SignInForm): Page {
  const { next, why, refused } = form;
  const content = html`${refused !== undefined && notice('bad', refused)}
  ${why && html`<p>${why}</p>`}
  ${provider !== null && html`<p class="card"><a href="/sign-in/provider?next=${encodeURIComponent(next)}">Sign in with your company's account</a></p>`}
  ${withCode && codeForm(form)}`;
  return { title: 'Sign in', content, status: refused === undefined ? 200 : 401 };
}

function codeForm({ secret, next, name }: SignInForm): Html {
  const known = { name: 'name', required: true, autocomplete: 'username', maxlength: 80 };
  return html`<form class="stacked card" method="post" action="/sign-in">
    ${tokenField(secret)}${hiddenField('next', next)}
    ${field('Name', { ...known, value: name, autocapitalize: 'none', spellcheck: 'false' })}
    ${codeField('The six digits from your authenticator')}
    <button>Sign in</button>
  </form>`;
}

/** Reveals neither which of the two was wrong nor whether the name exists. */
const NOT_SIGNED_IN = `The name or the code is wrong. ${CODE_RULES}`;

/** Shown after the provider has proven an account that is not linked to a person yet. */
export function bindPage(state: string, secret: string, name: string, status: 200 | 401): Page {
  const content = html`${status === 401 && notice('bad', CODE_REFUSED)}
    <p>
      Your company's sign-in says that you are ${name}, and the desk does not know that account yet.
      Confirm it once with your authenticator: from then on the account alone signs you in.
    </p>
    <form class="stacked card" method="post" action="/sign-in/provider/bind?state=${state}">
      ${tokenField(secret)}
      ${codeField(`The six digits that your authenticator shows now for ${name}`)}
      <button>This is me</button>
    </form>
    <p><a href="/sign-in">Sign in as another person</a></p>`;
  return { title: 'Is this you?', content, status };
}

const CODE_REFUSED = `The code is wrong or was used before. ${CODE_RULES}`;

/** Browsers send the session only if the desk's own page redirects. */
export function signedInPage(next: string): Page {
  return { title: 'Signed in', content: html`<p><a href="${next}">Continue</a></p>` };
}
