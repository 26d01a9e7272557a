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
/** Cookies of flows that a browser may have at a time, because a request's headers are limited. */
const MAX_FLOWS = 6;

/** Values that the desk keeps between two requests of a flow, sealed in cookies. */
interface Sealed {
  /** `before`: the session before, whose strict cookie browsers do not send on a redirect. */
  flow: Flow & { readonly next: string; readonly before: Uuid | null };
  bind: {
    readonly state: string;
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
      for (const name of site.cookies.flowNames(context.req).slice(0, 1 - MAX_FLOWS))
        context.append('Set-Cookie', site.cookies.clear(name));
      setSealed(site, context, 'flow', { ...flow, next, before: sessionOf(context) });
      context.redirect(url.href);
      context.body = '';
    }),
  );
  router.get(
    CALLBACK_PATH,
    limited(async (context) => {
      const flow = readSealed(site, context, 'flow');
      context.append('Set-Cookie', site.cookies.clear(`desk-flow-${flow.state}`));
      const query = new URLSearchParams(context.querystring);
      const proven = await callProvider(site, () => provider.finish(query, flow));
      const found = await findBySubject(site, proven);
      if (found.found === 'refused') throw notSignedIn(NO_ACCESS);
      if (found.found === 'person') return signIn(site, context, found.identity, proven, flow);
      const { id, name } = found.person;
      const secret = randomBytes(32).toString('base64url');
      const { state, next } = flow;
      setSealed(site, context, 'bind', {
        state,
        secret,
        next,
        person: { id, name },
        proven,
      });
      sendPage(context, bindPage(state, secret, name, 200));
    }),
  );
  router.post(
    '/sign-in/provider/bind',
    limited(async (context) => {
      const { state, secret, person, proven, next } = readSealed(site, context, 'bind');
      const form = await ownForm(context, site, secret);
      const identity = await linkSubject(site, person, proven, codeOf(form));
      if ('refusal' in identity)
        return sendPage(context, bindPage(state, secret, person.name, 401));
      context.append('Set-Cookie', site.cookies.clear(`desk-bind-${state}`));
      await signIn(site, context, identity, proven, { next, before: sessionOf(context) });
    }),
  );
}

async function signIn(
  site: Site,
  context: DeskContext,
  identity: StaffIdentity,
  { rights }: ProvenSubject,
  { next, before }: Pick<Sealed['flow'], 'next' | 'before'>,
): Promise<void> {
  const address = site.addresses.of(context.req);
  const opened = await openSession(site, identity, 'support', address, rights);
  for (const cookie of await site.sessions.start(opened, before))
    context.append('Set-Cookie', cookie);
  context.set('Refresh', `0; url=${next}`);
  sendPage(context, signedInPage(next));
}

/** Sets the flow's cookie with a sealed value, for use within ten minutes. */
function setSealed<Kind extends keyof Sealed>(
  { encryptionKeys, clock, cookies }: Site,
  context: DeskContext,
  kind: Kind,
  value: Sealed[Kind],
): void {
  const name = `desk-${kind}-${value.state}` as const;
  const text = JSON.stringify({ until: clock() + FLOW_S * 1_000, value });
  const { keyId, bytes } = seal(encryptionKeys, text, `support/${name}`);
  const sealed = `${keyId}.${bytes.toString('base64url')}`;
  context.append('Set-Cookie', cookies.set(name, sealed, FLOW_S));
}

/**
 * Returns the sealed value of the flow with the `state` of the query. Throws `DeskError` if its
 * cookie is absent, forged or too old.
 */
function readSealed<Kind extends keyof Sealed>(
  { encryptionKeys, clock, cookies }: Site,
  context: DeskContext,
  kind: Kind,
): Sealed[Kind] {
  const state = new URLSearchParams(context.querystring).get('state') ?? '';
  const name = `desk-${kind}-${state}` as const;
  const [keyId = '', text = ''] = cookies.read(context.req, name)?.split('.') ?? [];
  try {
    const sealed = { keyId, bytes: Buffer.from(text, 'base64url') };
    const opened = JSON.parse(unseal(encryptionKeys, sealed, `support/${name}`)) as {
      readonly until: number;
      readonly value: Sealed[Kind];
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
