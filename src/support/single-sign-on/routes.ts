import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { networkOf } from '../../core/address-ranges.js';
import { isCanonicalUuid, type Uuid } from '../../core/ids.js';
import { seal, unseal } from '../../core/secret-box.js';
import { STAFF_RIGHTS } from '../../db/entities/staff.js';
import { describeFault } from '../../http/logging.js';
import { TokenBuckets } from '../../http/rate-limit.js';
import type { StaffIdentity } from '../../staff/rules.js';
import { openSession } from '../../staff/sessions.js';
import { bindSubject, findBySubject, type ProvenSubject } from '../../staff/subjects.js';
import { assertAllowed, DeskError } from '../failures.js';
import { codeOf } from '../forms.js';
import { bindPage, signedInPage } from '../pages/sign-in.js';
import { nextOf } from '../routes.js';
import { type DeskContext, type DeskRouter, ownForm, sendPage, type Site } from '../site.js';
import { IdentityProvider, NotProven, ProviderUnavailable } from './provider.js';

export const CALLBACK_PATH = '/sign-in/provider/callback';
/** Rate limit per client network, because each attempt may call the provider. */
const ATTEMPTS = { perSecond: 1 / 3, burst: 20 };

const id = z.custom<Uuid>((given) => typeof given === 'string' && isCanonicalUuid(given));
const flowSchema = z.object({
  ...{ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() },
  /** Session before signing in, whose strict cookie browsers do not send on a redirect. */
  before: id.nullable(),
});
const bindSchema = z.object({
  secret: z.string(),
  next: z.string(),
  person: z.object({ id, name: z.string() }),
  proven: z.object({
    issuer: z.string(),
    subject: z.string(),
    name: z.string().nullable(),
    rights: z.array(z.enum(STAFF_RIGHTS)).readonly().nullable(),
  }),
});

const FLOW_S = 600;
type FlowCookie = 'desk-flow' | 'desk-bind';

export function singleSignOnRoutes(router: DeskRouter, site: Site): void {
  const { provider: settings, url } = site.settings;
  if (settings === null) return;
  const provider = new IdentityProvider(settings, new URL(CALLBACK_PATH, url).href);
  const desk = new SingleSignOn(site, provider);
  router.get('/sign-in/provider', (context) => desk.begin(context));
  router.get(CALLBACK_PATH, (context) => desk.finish(context));
  router.post('/sign-in/provider/bind', (context) => desk.bind(context));
}

class SingleSignOn {
  private readonly attempts = new TokenBuckets(ATTEMPTS, 1);

  constructor(
    private readonly site: Site,
    private readonly provider: IdentityProvider,
  ) {}

  async begin(context: DeskContext): Promise<void> {
    this.limit(context);
    const { url, flow } = await this.callProvider(() => this.provider.begin());
    const next = nextOf(context.query.next);
    this.setSealedCookie(context, 'desk-flow', { ...flow, next, before: sessionOf(context) });
    context.redirect(url.href);
    context.body = '';
  }

  async finish(context: DeskContext): Promise<void> {
    this.limit(context);
    context.append('Set-Cookie', this.site.cookies.clear('desk-flow'));
    const flow = this.readSealedCookie(context, 'desk-flow', flowSchema);
    const query = new URLSearchParams(context.querystring);
    const proven = await this.callProvider(() => this.provider.finish(query, flow));
    const found = await findBySubject(this.site, proven);
    if (found.found === 'nobody') throw notSignedIn(NO_ACCESS);
    if (found.found === 'person') return this.signIn(context, found.identity, proven, flow);
    const { id, name } = found.person;
    const secret = randomBytes(32).toString('base64url');
    this.setSealedCookie(context, 'desk-bind', {
      secret,
      next: flow.next,
      person: { id, name },
      proven,
    });
    sendPage(context, bindPage(secret, name, false));
  }

  async bind(context: DeskContext): Promise<void> {
    this.limit(context);
    const { secret, person, proven, next } = this.readSealedCookie(
      context,
      'desk-bind',
      bindSchema,
    );
    const form = await ownForm(context, this.site, secret);
    const identity = await bindSubject(this.site, person, proven, codeOf(form));
    if ('refusal' in identity) return sendPage(context, bindPage(secret, person.name, true));
    context.append('Set-Cookie', this.site.cookies.clear('desk-bind'));
    await this.signIn(context, identity, proven, { next, before: sessionOf(context) });
  }

  private async signIn(
    context: DeskContext,
    identity: StaffIdentity,
    { rights }: ProvenSubject,
    { next, before }: Pick<z.infer<typeof flowSchema>, 'next' | 'before'>,
  ): Promise<void> {
    const address = this.site.addresses.of(context.req);
    const opened = await openSession(this.site, identity, 'support', address, rights);
    for (const cookie of await this.site.sessions.keep(opened, before))
      context.append('Set-Cookie', cookie);
    context.set('Refresh', `0; url=${next}`);
    sendPage(context, signedInPage(next));
  }

  /** Sets a cookie with a sealed value, for use within ten minutes. */
  private setSealedCookie(context: DeskContext, cookie: FlowCookie, value: object): void {
    const { encryptionKeys, clock, cookies } = this.site;
    const text = JSON.stringify({ until: clock() + FLOW_S * 1_000, value });
    const { keyId, bytes } = seal(encryptionKeys, text, `support/${cookie}`);
    const sealed = `${keyId}.${bytes.toString('base64url')}`;
    context.append('Set-Cookie', cookies.set(cookie, sealed, FLOW_S));
  }

  /** Returns the value of a cookie. Throws `DeskError` if it is absent, invalid or too old. */
  private readSealedCookie<T>(context: DeskContext, cookie: FlowCookie, schema: z.ZodType<T>): T {
    const { encryptionKeys, clock, cookies } = this.site;
    const [keyId = '', text = ''] = cookies.read(context.req, cookie)?.split('.') ?? [];
    try {
      const sealed = { keyId, bytes: Buffer.from(text, 'base64url') };
      const opened: unknown = JSON.parse(unseal(encryptionKeys, sealed, `support/${cookie}`));
      const { until, value } = z.object({ until: z.number(), value: schema }).parse(opened);
      if (clock() < until) return value;
    } catch {
      // The cookie is from another browser, or forged.
    }
    throw notSignedIn(NO_SUCH_SIGN_IN);
  }

  private limit(context: DeskContext): void {
    assertAllowed(this.attempts.take(networkOf(this.site.addresses.of(context.req))));
  }

  /** Logs the provider's failures and throws `DeskError` without their messages. */
  private async callProvider<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (failure) {
      if (!(failure instanceof ProviderUnavailable || failure instanceof NotProven)) throw failure;
      const { logger, settings } = this.site;
      logger.warn(
        { fault: describeFault(failure.cause ?? failure) },
        'the identity provider has not identified a person',
      );
      if (failure instanceof NotProven) throw notSignedIn(NOT_PROVEN);
      throw new DeskError(
        503,
        'No answer',
        settings.withCode ? `${PROVIDER_UNAVAILABLE} ${WITH_CODE}` : PROVIDER_UNAVAILABLE,
      );
    }
  }
}

const PROVIDER_UNAVAILABLE = "Your company's sign-in does not answer now. Try again in a moment.";
const WITH_CODE = 'Until then sign in with your name and a code.';
const NOT_PROVEN =
  "Your company's sign-in did not say who you are. Begin again at the desk's own page.";
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
