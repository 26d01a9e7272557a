/** A browser as far as sign-in needs one: cookies by their rules of sites, redirects, and no script. */

interface Cookie {
  readonly value: string;
  readonly isStrict: boolean;
}

export interface Seen {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
}

const MAX_REDIRECTS = 10;

export class DeskBrowser {
  /** By host and name: ports share them, as in browsers. */
  readonly cookies = new Map<string, Cookie>();

  constructor(readonly home: string) {}

  /** Typed into the address bar, or followed from a page of the same site. */
  get(path: string): Promise<Seen> {
    return this.follow(new URL(path, this.home), true);
  }

  /** One request, and no redirect followed. */
  async once(path: string, isSameSite = true): Promise<Seen> {
    return this.ask(new URL(path, this.home), isSameSite);
  }

  /** A form of the page, filled in and sent by it. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    origin = this.home,
    isSameSite = origin === this.home,
  ): Promise<Seen> {
    const isSame = origin === this.home;
    const headers = {
      Origin: origin,
      'Sec-Fetch-Site': isSame ? 'same-origin' : isSameSite ? 'same-site' : 'cross-site',
      'Content-Type': 'application/x-www-form-urlencoded',
    };
    const body = new URLSearchParams(fields).toString();
    return this.ask(new URL(path, this.home), isSameSite, { method: 'POST', headers, body });
  }

  cookie(name: string): string | undefined {
    return this.cookies.get(`${new URL(this.home).hostname} ${name}`)?.value;
  }

  /** Through every redirect; once another site was met the chain is its own, and no strict cookie goes along. */
  private async follow(to: URL, isSameSite: boolean): Promise<Seen> {
    let [url, isOwn] = [to, isSameSite];
    for (let count = 0; count < MAX_REDIRECTS; count += 1) {
      const seen = await this.ask(url, isOwn);
      const location = seen.headers.get('location');
      if (seen.status < 300 || seen.status > 399 || location === null) return seen;
      const next = new URL(location, url);
      isOwn &&= next.hostname === url.hostname;
      url = next;
    }
    throw new Error('redirected without end');
  }

  private async ask(
    url: URL,
    isSameSite: boolean,
    init: RequestInit & { headers?: object } = {},
  ): Promise<Seen> {
    const own = [...this.cookies].filter(
      ([key, { isStrict }]) => key.startsWith(`${url.hostname} `) && (isSameSite || !isStrict),
    );
    const cookie = own
      .map(([key, { value }]) => `${key.slice(url.hostname.length + 1)}=${value}`)
      .join('; ');
    const headers = { ...init.headers, ...(cookie === '' ? {} : { Cookie: cookie }) };
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) this.keep(url.hostname, line);
    return { status: answer.status, url, headers: answer.headers, text: await answer.text() };
  }

  private keep(host: string, line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const at = pair.indexOf('=');
    const [key, value] = [`${host} ${pair.slice(0, at)}`, pair.slice(at + 1)];
    if (value === '' || attributes.includes('Max-Age=0')) this.cookies.delete(key);
    else this.cookies.set(key, { value, isStrict: attributes.includes('SameSite=Strict') });
  }
}

/** The value of a hidden field of a page. */
export function fieldOf({ text }: Seen, name: string): string {
  const [, value] = new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(text) ?? [];
  if (value === undefined) throw new Error(`the page has no field ${name}`);
  return value;
}
