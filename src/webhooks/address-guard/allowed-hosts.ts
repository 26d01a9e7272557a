/** The operator's list of receivers that may be anywhere and need no TLS: `http://127.0.0.1:*`, for development. */

export interface AllowedHost {
  /** `http:` or `https:`. */
  readonly protocol: string;
  /** As the URL parser writes it. */
  readonly hostname: string;
  /** null: any. Empty: the scheme's own. */
  readonly port: string | null;
}

const ENTRY = /^(https?:\/\/(?:\[[0-9a-f:.]+\]|[^/?#@\\\s:*[\]]+))(?::(\*|\d{1,5}))?$/i;

/** An entry of the list, or null when the text is none: scheme, host and, where it is not the scheme's own, a port or `*`. */
export function parseAllowedHost(text: string): AllowedHost | null {
  const [, origin = '', port] = ENTRY.exec(text) ?? [];
  const anyPort = port === '*';
  const address = port === undefined || anyPort ? origin : `${origin}:${port}`;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port: parsedPort } = new URL(address);
  return { protocol, hostname, port: anyPort ? null : parsedPort };
}

/** Compares what was parsed, never the text. */
export function isAllowedHost(allowed: readonly AllowedHost[], { protocol, hostname, port }: URL): boolean {
  return allowed.some(
    (one) => one.protocol === protocol && one.hostname === hostname && (one.port === null || one.port === port),
  );
}
