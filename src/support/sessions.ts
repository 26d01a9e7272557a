import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { clientNetworkOf } from '../core/address-ranges.js';
import type { Uuid } from '../core/ids.js';
import { TokenBuckets } from '../http/rate-limit.js';
import {
  findSession,
  revokeSessions,
  SESSION_MS,
  type SignedIn,
  signIn,
} from '../staff/sessions.js';
import type { StaffDeps } from '../staff/verification.js';
import { assertAllowed, type SignedInPerson } from './desk.js';

const IDLE_MS = 30 * 60_000;
const SESSION_S = SESSION_MS / 1_000;
const FORM_S = 60 * 60;
/** Rate limit per client network, enough for people who mistype and far too little for guessing. */
const SIGN_INS = { perSecond: 1 / 10, burst: 10 };

export class DeskSessions {
  private readonly attempts = new TokenBuckets(SIGN_INS, 1);

  constructor(
    private readonly staff: StaffDeps,
    private readonly cookies: Cookies,
  ) {}

  /** Returns the signed-in person, or null without a session that is valid and in use. */
  async find(request: IncomingMessage): Promise<SignedInPerson | null> {
    const secret = this.cookies.read(request, 'desk');
    if (secret === null) return null;
    // A list that refreshes by itself does not keep a session in use.
    const isUse = request.headers['svc-refresh'] === undefined;
    const found = await findSession(this.staff, secret, 'support', IDLE_MS, { isUse });
    return found && { identity: found.identity, sessionId: found.session.id, secret };
  }

  /** Returns the secret of the sign-in form, with a cookie if the browser has none yet. */
  formSecret(request: IncomingMessage): {
    readonly secret: string;
    readonly cookie: string | null;
  } {
    const known = this.cookies.read(request, 'desk-form');
    if (known !== null && /^[A-Za-z0-9_-]{43}$/.test(known)) return { secret: known, cookie: null };
    const secret = randomBytes(32).toString('base64url');
    return { secret, cookie: this.cookies.set('desk-form', secret, FORM_S) };
  }

  /** Returns the session's cookies, or null for a wrong code. Throws `DeskError`. */
  async open(
    name: string,
    code: string,
    address: string,
    before: SignedInPerson | null,
  ): Promise<readonly string[] | null> {
    assertAllowed(this.attempts.take(clientNetworkOf(address)));
    const opened = await signIn(this.staff, { name, code, channel: 'support', place: address });
    return 'refusal' in opened ? null : this.start(opened, before?.sessionId ?? null);
  }

  /** Returns the cookies of a session just opened. Ends the browser's previous one (`before`). */
  async start({ token, identity }: SignedIn, before: Uuid | null): Promise<readonly string[]> {
    if (before !== null) await revokeSessions(this.staff, { id: before }, identity);
    return [this.cookies.set('desk', token, SESSION_S), this.cookies.clear('desk-form')];
  }

  /** Ends the session and returns the cookie that removes the old one. */
  async close({ identity, sessionId }: SignedInPerson): Promise<string> {
    await revokeSessions(this.staff, { id: sessionId }, identity);
    return this.cookies.clear('desk');
  }
}

/**
 * `desk-flow-STATE`: a sign-in at the identity provider. `desk-bind-STATE`: linking its account to a
 * person. Each tab has its own.
 */
type FlowCookieName = `desk-${'flow' | 'bind'}-${string}`;
type CookieName = 'desk' | 'desk-form' | 'desk-draft' | FlowCookieName;

export class Cookies {
  /** `isSecure`: the desk's address begins with https, so no sibling domain may set its cookies. */
  constructor(private readonly isSecure: boolean) {}

  read(request: IncomingMessage, name: CookieName): string | null {
    const cookieName = this.nameOf(name);
    const own = cookiePairs(request).filter(([given]) => given === cookieName);
    // If there are two, another domain set one of them.
    const value = own.length === 1 ? own[0]?.[1] : undefined;
    return value === undefined || value === '' ? null : value;
  }

  /** Returns the names of flows' cookies in the order of the browser: the oldest first. */
  flowNames(request: IncomingMessage): readonly FlowCookieName[] {
    const prefix = this.nameOf('desk-');
    return cookiePairs(request)
      .flatMap(([name = '']) =>
        name.startsWith(prefix) ? [`desk-${name.slice(prefix.length)}`] : [],
      )
      .filter(isFlowName);
  }

  /** `value` has only letters, digits, points, dashes and underscores. */
  set(name: CookieName, value: string, maxAgeS: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    // Browsers do not send strict cookies when the provider redirects back.
    const site = name.startsWith('desk-flow-') ? 'Lax' : 'Strict';
    return `${this.nameOf(name)}=${value}; Path=/; HttpOnly; SameSite=${site}; Max-Age=${maxAgeS}${secure}`;
  }

  clear(name: CookieName): string {
    return this.set(name, '', 0);
  }

  private nameOf(name: string): string {
    return this.isSecure ? `__Host-${name}` : name;
  }
}

function cookiePairs(request: IncomingMessage): readonly string[][] {
  return (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split(/=(.*)/s));
}

function isFlowName(name: string): name is FlowCookieName {
  return /^desk-(flow|bind)-[\w-]+$/.test(name);
}
