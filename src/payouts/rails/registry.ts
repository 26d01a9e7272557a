import type { Keyring } from '../../core/fingerprint.js';
import type { Clock } from '../../core/instant.js';
import { HttpRail } from './http.js';
import { httpRail, type OwnRail } from './rules.js';
import type { Rail, Rails } from './types.js';

/** Where the operator's gateways are, and the keys shared with each. */
export interface Gateways {
  readonly urls: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, Keyring>;
}

/** The way to every rail that a payout may have, whatever new ones take. */
export function openRails(own: Readonly<Record<OwnRail, Rail>>, { urls, keys }: Gateways, clock: Clock): Rails {
  const rails = new Map<string, Rail>(Object.entries(own));
  for (const [name, url] of urls) {
    const shared = keys.get(name);
    if (shared !== undefined) rails.set(httpRail(name), new HttpRail(name, url, shared, clock));
  }
  return rails;
}
