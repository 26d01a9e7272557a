import type { IncomingMessage } from 'node:http';

/** The cookies of the support desk. */

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
