import { randomBytes } from 'node:crypto';
import { clientNetworkOf } from '../../core/address-ranges.js';
import type { Uuid } from '../../core/ids.js';
import { seal, unseal } from '../../core/secret-box.js';
import { describeFault } from '../../http/logging.js';
import { TokenBuckets } from '../../http/rate-limit.js';
import type { StaffIdentity } from '../../staff/rules.js';
import { openSession } from '../../staff/sessions.js';
import { linkSubject, findBySubject, type ProvenSubject } from '../../staff/subjects.js';
import { assertAllowed, DeskError } from '../desk.js';
import { codeOf } from '../forms.js';
import { bindPage, nextOf, signedInPage } from '../sign-in.js';
import { type DeskContext, type DeskRouter, ownForm, sendPage, type Site } from '../site.js';
import { type Flow, IdentityProvider, NotProven, ProviderUnavailable } from './provider.js';

export const CALLBACK_PATH = '/sign-in/provider/callback';
/** Rate limit per client network, because each attempt may call the provider. */
const ATTEMPTS = { perSecond: 1 / 3, burst: 20 };
const FLOW_S = 600;

/** Values that the desk keeps between two requests, sealed in cookies of these names. */
interface Sealed {
  /** `before`: the session before, whose strict cookie browsers do not send on a redirect. */
  'desk-flow': Flow & { readonly next: string; readonly before: Uuid | null };
  'desk-bind': {
    readonly secret: string;
    readonly next: string;
    readonly person: { readonly id: Uuid; readonly name: string };
    readonly proven: ProvenSubject;
  };
}

export function singleSignOnRoutes(router: DeskRouter, site: Site): void {
  const { settings } = site;
  if (settings.provider === null) return;
  const callbackUrl = new URL(CALLBACK_PATH, settings.url).href;
  const provider = new IdentityProvider(settings.provider, callbackUrl);
  const attempts = new TokenBuckets(ATTEMPTS, 1);
  const limited = (handle: (context: DeskContext) => Promise<void>) => (context: DeskContext) => {
    assertAllowed(attempts.take(clientNetworkOf(site.addresses.of(context.req))));
    return handle(context);
  };
  router.get(
    '/sign-in/provider',
    limited(async (context) => {
      const { url, flow } = await callProvider(site, () => provider.begin());
      const next = nextOf(context.query.next);
      setSealed(site, context, 'desk-flow', { ...flow, next, before: sessionOf(context) });
      context.redirect(url.href);
      context.body = '';
    }),
  );
  router.get(
    CALLBACK_PATH,
    limited(async (context) => {
      context.append('Set-Cookie', site.cookies.clear('desk-flow'));
      const flow = readSealed(site, context, 'desk-flow');
      const query = new URLSearchParams(context.querystring);
      const proven = await callProvider(site, () => provider.finish(query, flow));
      const found = await findBySubject(site, proven);
      if (found.found === 'refused') throw notSignedIn(NO_ACCESS);
      if (found.found === 'person') return signIn(site, context, found.identity, proven, flow);
      const { id, name } = found.person;
      const secret = randomBytes(32).toString('base64url');
      setSealed(site, context, 'desk-bind', {
        secret,
        next: flow.next,
        person: { id, name },
        proven,
      });
      sendPage(context, bindPage(secret, name, 200));
    }),
  );
  router.post(
    '/sign-in/provider/bind',
    limited(async (context) => {
      const { secret, person, proven, next } = readSealed(site, context, 'desk-bind');
      const form = await ownForm(context, site, secret);
      const identity = await linkSubject(site, person, proven, codeOf(form));
      if ('refusal' in identity) return sendPage(context, bindPage(secret, person.name, 401));
      context.append('Set-Cookie', site.cookies.clear('desk-bind'));
      await signIn(site, context, identity, proven, { next, before: sessionOf(context) });
    }),
  );
}

async function signIn(
  site: Site,
  context: DeskContext,
  identity: StaffIdentity,
  { rights }: ProvenSubject,
  { next, before }: Pick<Sealed['desk-flow'], 'next' | 'before'>,
): Promise<void> {
  const address = site.addresses.of(context.req);
  const opened = await openSession(site, identity, 'support', address, rights);
  for (const cookie of await site.sessions.start(opened, before))
    context.append('Set-Cookie', cookie);
  context.set('Refresh', `0; url=${next}`);
  sendPage(context, signedInPage(next));
}

/** Sets a cookie with a sealed value, for use within ten minutes. */
function setSealed<Name extends keyof Sealed>(
  { encryptionKeys, clock, cookies }: Site,
  context: DeskContext,
  name: Name,
  value: Sealed[Name],
): void {
  const text = JSON.stringify({ until: clock() + FLOW_S * 1_000, value });
  const { keyId, bytes } = seal(encryptionKeys, text, `support/${name}`);
  const sealed = `${keyId}.${bytes.toString('base64url')}`;
  context.append('Set-Cookie', cookies.set(name, sealed, FLOW_S));
}

/** Returns the value of a cookie. Throws `DeskError` if it is absent, forged or too old. */
function readSealed<Name extends keyof Sealed>(
  { encryptionKeys, clock, cookies }: Site,
  context: DeskContext,
  name: Name,
): Sealed[Name] {
  const [keyId = '', text = ''] = cookies.read(context.req, name)?.split('.') ?? [];
  try {
    const sealed = { keyId, bytes: Buffer.from(text, 'base64url') };
    const opened = JSON.parse(unseal(encryptionKeys, sealed, `support/${name}`)) as {
      readonly until: number;
      readonly value: Sealed[Name];
    };
    if (clock() < opened.until) return opened.value;
  } catch {
    // The cookie is from another browser, or forged.
  }
  throw notSignedIn(NO_SUCH_SIGN_IN);
}

/** Logs the provider's failures and throws `DeskError` without their messages. */
async function callProvider<T>({ logger, settings }: Site, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (failure) {
    if (!(failure instanceof ProviderUnavailable || failure instanceof NotProven)) throw failure;
    logger.warn(
      { fault: describeFault(failure.cause ?? failure) },
      'the identity provider has not identified a person',
    );
    if (failure instanceof NotProven) throw notSignedIn(NOT_PROVEN);
    const other = settings.withCode ? ` ${WITH_CODE}` : '';
    throw new DeskError(503, 'No answer', PROVIDER_UNAVAILABLE + other);
  }
}

const PROVIDER_UNAVAILABLE = "Your company's sign-in does not answer now. Try again in a moment.";
const WITH_CODE = 'Until then sign in with your name and a code.';
const NOT_PROVEN =
  "Your company's sign-in did not identify you. Start again on the desk's sign-in page.";
const NO_SUCH_SIGN_IN =
  'This sign-in began in another browser, or more than ten minutes ago. Begin again.';
const NO_ACCESS =
  "Your company's sign-in succeeded, but no active member of staff has this account, or none of its groups gives a right, or the name is linked to another account. Ask the people who manage the staff.";

function sessionOf({ state }: DeskContext): Uuid | null {
  return state.person?.sessionId ?? null;
}

function notSignedIn(text: string): DeskError {
  return new DeskError(403, 'Not signed in', text);
}
