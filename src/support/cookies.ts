import type { IncomingMessage } from 'node:http';
import { headerText } from '../http/headers.js';

type CookieName = 'desk' | 'desk-form' | 'desk-flow' | 'desk-bind';

export class Cookies {
  /** `isSecure`: the desk's address begins with https, so no sibling domain may set its cookies. */
  constructor(private readonly isSecure: boolean) {}

  read(request: IncomingMessage, name: CookieName): string | null {
    const wanted = this.nameOf(name);
    const pairs = (headerText(request, 'cookie') ?? '')
      .split(';')
      .map((pair) => pair.trim().split(/=(.*)/s));
    const own = pairs.filter(([given]) => given === wanted).map(([, value]) => value ?? '');
    // If there are two, another domain set one of them.
    return own.length === 1 && own[0] !== '' ? (own[0] ?? null) : null;
  }

  /** `value` has only letters, digits, points, dashes and underscores. */
  set(name: CookieName, value: string, maxAgeS: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    // Browsers do not send strict cookies when the provider redirects back.
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
