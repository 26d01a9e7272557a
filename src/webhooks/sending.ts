import { AddressGuard, type CheckedUrl, type ParsedUrl } from './address-guard/guard.js';
import type { AllowedHost } from './address-guard/allowed-hosts.js';
import { Sender } from './sender.js';
import { newSecret, signatureHeaders } from './signing.js';

/** What endpoints and drains need: address checks, signing and HTTP. */
export interface Sending {
  readonly sender: Pick<Sender, 'send'>;
  readonly signing: {
    readonly newSecret: typeof newSecret;
    readonly signatureHeaders: typeof signatureHeaders;
  };
  /** Everything that can be checked about an address without DNS. */
  readonly parseUrl: (text: string) => ParsedUrl;
  /** The address in stored form, or in a stable word why it is refused. Queries DNS. */
  readonly checkUrl: (text: string) => Promise<CheckedUrl>;
}

/** How long one delivery attempt may take in all. */
export const ATTEMPT_TIMEOUT_MS = 10_000;

interface SendingOptions {
  /** Besides https to public addresses: what operators allow for development. */
  readonly allowedHosts: readonly AllowedHost[];
  /** Null: directly. */
  readonly proxyUrl: URL | null;
  readonly timeoutMs: number;
}

/** The real implementations. `close` ends what is in flight. */
export function buildSending({ allowedHosts, proxyUrl, timeoutMs }: SendingOptions): Sending & {
  readonly close: () => Promise<void>;
} {
  const guard = new AddressGuard({ allowedHosts, namesAreLeftToProxy: proxyUrl !== null });
  const sender = new Sender({ guard, timeoutMs, proxyUrl });
  return {
    sender,
    signing: { newSecret, signatureHeaders },
    parseUrl: (text) => guard.parseUrl(text),
    checkUrl: (text) => guard.checkUrl(text),
    close: () => sender.close(),
  };
}
