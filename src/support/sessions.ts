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
import type { Cookies } from './cookies.js';
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
