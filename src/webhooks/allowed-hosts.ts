/** Receivers without address checks and TLS, for example `http://127.0.0.1:*`. */

export interface AllowedHost {
  /** `http:` or `https:`. */
  readonly protocol: string;
  readonly hostname: string;
  /** Null: any. Empty: the scheme's default. */
  readonly port: string | null;
}

const ENTRY = /^(https?:\/\/(?:\[[0-9a-f:.]+\]|[^/?#@\\\s:*[\]]+))(?::(\*|\d{1,5}))?$/i;

/** Parses a scheme, a host and an optional port or `*`. Returns null for any other text. */
export function parseAllowedHost(text: string): AllowedHost | null {
  const [, origin = '', port] = ENTRY.exec(text) ?? [];
  const anyPort = port === '*';
  const address = port === undefined || anyPort ? origin : `${origin}:${port}`;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port: parsedPort } = new URL(address);
  return { protocol, hostname, port: anyPort ? null : parsedPort };
}

/** Compares parsed parts, never the text. */
export function isAllowedHost(
  allowed: readonly AllowedHost[],
  { protocol, hostname, port }: URL,
): boolean {
  return allowed.some(
    (one) =>
      one.protocol === protocol &&
      one.hostname === hostname &&
      (one.port === null || one.port === port),
  );
}
