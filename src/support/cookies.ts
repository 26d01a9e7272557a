import type { IncomingMessage } from 'node:http';
import { headerText } from '../http/headers.js';

/**
 * The desk's cookies: whose session it is; the secret of the sign-in form of who has none yet; what is on its way to the identity
 * provider and back, and who came back from there and has to give a code. No script reads them, and no other site's page has them
 * sent, but for the way back itself.
 */

export type CookieName = 'desk' | 'desk-form' | 'desk-flow' | 'desk-bind';

export class Cookies {
  /** `isSecure`: the desk is reached by TLS, and no host beside or below may set its cookies. */
  constructor(private readonly isSecure: boolean) {}

  read(request: IncomingMessage, name: CookieName): string | null {
    const wanted = this.nameOf(name);
    const pairs = (headerText(request, 'cookie') ?? '').split(';').map((pair) => pair.trim().split(/=(.*)/s));
    const own = pairs.filter(([given]) => given === wanted).map(([, value]) => value ?? '');
    // Of two, one was put there by somebody else.
    return own.length === 1 && own[0] !== '' ? (own[0] ?? null) : null;
  }

  /** `value` has letters, digits, dashes and underscores. */
  set(name: CookieName, value: string, maxAgeS: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    // From the provider a browser comes back with no cookie that is strict.
    const site = name === 'desk-flow' ? 'Lax' : 'Strict';
    return `${this.nameOf(name)}=${value}; Path=/; HttpOnly; SameSite=${site}; Max-Age=${maxAgeS}${secure}`;
  }

  clear(name: CookieName): string {
    return this.set(name, '', 0);
  }

  private nameOf(name: CookieName): string {
    return this.isSecure ? `__Host-${name}` : name;
  }
}
