import { AddressGuard, type CheckedUrl, type ParsedUrl } from './address-guard/guard.js';
import type { AllowedHost } from './address-guard/allowed-hosts.js';
import { Sender } from './sender.js';
import { newSecret, signatureHeaders } from './signing.js';

/** What endpoints and drains need of those who sign, guard addresses and speak HTTP. */
export interface Sending {
  readonly sender: Pick<Sender, 'send'>;
  readonly signing: { readonly newSecret: typeof newSecret; readonly signatureHeaders: typeof signatureHeaders };
  /** All that can be said of an address without asking the DNS. */
  readonly parseUrl: (text: string) => ParsedUrl;
  /** The address as it is stored and asked, or why it may not be asked, in a stable word. Asks the DNS. */
  readonly checkUrl: (text: string) => Promise<CheckedUrl>;
}

export interface SendingOptions {
  /** Beyond https to public addresses: what an operator allows for development. */
  readonly allowedHosts: readonly AllowedHost[];
  /** Null: directly. */
  readonly proxyUrl: URL | null;
  readonly timeoutMs: number;
}

/** The real ones. `close` ends what is on its way. */
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
