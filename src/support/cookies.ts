import type { IncomingMessage } from 'node:http';
import { headerText } from '../http/headers.js';

/** Scripts cannot read them, and no other site's page can have them sent, but for the way back from a provider. */

type CookieName = 'desk' | 'desk-form' | 'desk-flow' | 'desk-bind';

export class Cookies {
  /** `isSecure`: the desk is reached by TLS, and no sibling or subdomain may set its cookies. */
  constructor(private readonly isSecure: boolean) {}

  read(request: IncomingMessage, name: CookieName): string | null {
    const wanted = this.nameOf(name);
    const pairs = (headerText(request, 'cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim().split(/=(.*)/s));
    const own = pairs.filter(([given]) => given === wanted).map(([, value]) => value ?? '');
    // If there are two, somebody else set one of them.
    return own.length === 1 && own[0] !== '' ? (own[0] ?? null) : null;
  }

  /** `value` consists of letters, digits, dashes and underscores. */
  set(name: CookieName, value: string, maxAgeS: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    // A browser that comes back from the provider sends no strict cookie.
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
